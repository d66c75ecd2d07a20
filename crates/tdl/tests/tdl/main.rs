//! Tests of the description language from outside.

mod evaluation;
mod support;
mod text;
