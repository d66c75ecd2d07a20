//! What a test file says about itself, and running it.

mod builtin;
mod exact;
mod exec;
mod parse;

pub(crate) use exec::run_file;
pub(crate) use parse::TestFile;
