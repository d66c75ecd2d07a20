//! What planning a program has found, under a schema that others read.
//!
//! A [`Report`] is put together from [`Section`]s, which passes hand out as they go; [`Report::to_json`] writes it. The schema,
//! in words, is in `docs/report.md`.

mod report;

pub use report::{
    Algorithm, Collective, FunctionReport, Memory, Partition, PlannedValue, REPORT_VERSION, Refused, Report,
    Section, Simulation, Timing,
};
