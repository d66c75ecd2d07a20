//! How dialects hand descriptions over, and how consumers keep what follows from them.

use std::sync::{Arc, Mutex, PoisonError};

use rustc_hash::FxHashMap;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{Interface, Module, OpId};

use crate::access::{Accesses, accesses};
use crate::description::Description;
use crate::strategy::{Strategy, strategies};

/// The interface of ops that have a description.
///
/// The function gives the description of one op, which may depend on what its [`Profile`](tofu_ir::Profile) holds and on
/// symbols that it refers to; its operands are the op's operands and its results the op's results, in their order.
#[derive(Debug)]
pub struct Describe(pub fn(&Module, OpId) -> Result<Description, Diagnostic>);

impl Interface for Describe {}

/// The interface of ops that have no description: why.
#[derive(Debug)]
pub struct Undescribed(pub &'static str);

impl Interface for Undescribed {}

/// What follows from a description whatever the extents.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Analysis {
    /// The ways of splitting it.
    pub strategies: Vec<Strategy>,
    /// How it reads its operands.
    pub accesses: Accesses,
}

/// Analyses by description: ops that are described alike are analysed once.
#[derive(Debug, Default)]
pub struct Analyses {
    known: Mutex<FxHashMap<Description, Arc<Analysis>>>,
}

impl Analyses {
    /// None yet.
    pub fn new() -> Analyses {
        Analyses::default()
    }

    /// The analysis of a description.
    pub fn get(&self, description: &Description) -> Arc<Analysis> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = lock().get(description) {
            return Arc::clone(known);
        }
        // Made without the lock: another thread may do the same work, with the same result.
        let analysis =
            Arc::new(Analysis { strategies: strategies(description), accesses: accesses(description) });
        Arc::clone(lock().entry(description.clone()).or_insert(analysis))
    }
}
