//! Tests of placement.

mod check;
mod csv;
mod exact;
mod instances;
mod properties;
mod support;
