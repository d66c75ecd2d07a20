//! What passes have counted.

use std::collections::BTreeMap;
use std::fmt::Write;

use tofu_diagnostics::Diagnostic;

use super::{Instrument, Step, recorded};
use crate::Changed;

/// Adds up the numbers that passes [count](crate::PassContext::count).
#[derive(Debug, Default)]
pub struct Statistics {
    /// By place in the pipeline.
    passes: BTreeMap<Vec<usize>, (&'static str, BTreeMap<&'static str, u64>)>,
}

impl Statistics {
    /// Nothing counted yet.
    pub fn new() -> Statistics {
        Statistics::default()
    }

    /// The numbers, pass by pass in the order of the pipeline and by name. Passes that have counted nothing are left
    /// out.
    pub fn table(&self) -> String {
        let mut table = String::new();
        for (pass, counts) in self.passes.values() {
            // Writing to a string cannot fail.
            let _ = writeln!(table, "{pass}");
            for (name, number) in counts {
                let _ = writeln!(table, "{number:>12}  {name}");
            }
        }
        table
    }

    fn add(&mut self, indices: &[usize], pass: &'static str, name: &'static str, number: u64) {
        let (_, counts) = self.passes.entry(indices.to_vec()).or_insert((pass, BTreeMap::new()));
        *counts.entry(name).or_default() += number;
    }
}

impl Instrument for Statistics {
    fn after_pass(&mut self, step: &Step<'_>, _: Changed, counts: &[(&'static str, u64)]) -> Vec<Diagnostic> {
        for &(name, number) in counts {
            self.add(step.indices, step.name(), name, number);
        }
        Vec::new()
    }

    fn fork(&self) -> Box<dyn Instrument> {
        Box::new(Statistics::new())
    }

    fn join(&mut self, fork: Box<dyn Instrument>) {
        for (indices, (pass, counts)) in
            recorded::<Statistics>(fork).map(|fork| fork.passes).unwrap_or_default()
        {
            for (name, number) in counts {
                self.add(&indices, pass, name, number);
            }
        }
    }
}
