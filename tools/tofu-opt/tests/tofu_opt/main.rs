//! Tests of the driver as a whole.

mod command_line;
mod corpus;
mod documents;
mod readme;
mod support;
