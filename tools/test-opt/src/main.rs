//! `tofu-opt` with passes for its own tests: most misbehave, to see what happens then.

mod passes;

use tofu_pass::Entry;

fn main() -> std::process::ExitCode {
    tofu_opt::Tool::standard("test-opt", env!("CARGO_PKG_VERSION"))
        .pass(Entry::pass::<passes::TestBreak>())
        .pass(Entry::pass::<passes::TestFail>())
        .pass(Entry::pass::<passes::TestLie>())
        .pass(Entry::pass::<passes::TestMachine>())
        .pass(Entry::pass::<passes::TestPanic>())
        .pass(Entry::pass::<passes::TestRemark>())
        .main()
}
