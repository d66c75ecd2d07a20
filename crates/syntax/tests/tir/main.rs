//! Tests of the text: what it means, that it round-trips, and that nothing breaks its parser.

mod dialect;
mod generate;
mod properties;
mod text;
