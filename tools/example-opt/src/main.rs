//! A tool of one's own: everything that `tofu-opt` does, and an op, a pass and a pipeline besides.
//!
//! It is written as a crate outside of Tofu would be, and is the subject of `docs/tutorial.md`.

mod dialect;
mod lower_scale;
mod pipeline;

use tofu_pass::Entry;

fn main() -> std::process::ExitCode {
    tofu_opt::Tool::standard("example-opt", env!("CARGO_PKG_VERSION"))
        .dialect(&dialect::DIALECT)
        .pass(Entry::pass::<lower_scale::LowerScale>())
        .pass(Entry::pipeline("example-pipeline", pipeline::build))
        .main()
}
