//! Tests of the description language from outside.

mod built;
mod catalog;
mod evaluation;
mod mistakes;
mod property;
mod shapes;
mod soundness;
mod split;
mod strategies;
mod support;
mod text;
mod tightness;
