//! How dialects hand descriptions over, and how consumers keep what follows from them.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustc_hash::FxHashMap;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{Interface, Module, OpId, Profile};

use crate::access::{Accesses, accesses};
use crate::description::Description;
use crate::fusion::{Fusion, fusion};
use crate::infer::describe;
use crate::linear::{Linear, linear};
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
    /// The ways in which partial sums pass through it.
    pub linear: Vec<Linear>,
    /// How it lends itself to loops over several ops.
    pub fusion: Fusion,
}

/// The descriptions of the ops of one module, and what follows from them: ops of one profile are described once, ops
/// that are described alike are analysed once. Threads may share it.
#[derive(Debug, Default)]
pub struct Descriptions {
    known: Mutex<Known>,
}

#[derive(Debug, Default)]
struct Known {
    profiles: FxHashMap<Profile, (Description, Arc<Analysis>)>,
    analyses: FxHashMap<Description, Arc<Analysis>>,
}

impl Descriptions {
    /// None yet.
    pub fn new() -> Descriptions {
        Descriptions::default()
    }

    /// The description of an op, and its analysis. All ops must be of one module, which may change meanwhile.
    ///
    /// # Errors
    ///
    /// As [`describe`].
    pub fn of(&self, module: &Module, op: OpId) -> Result<(Description, Arc<Analysis>), Diagnostic> {
        let profile = Profile::of(module, op);
        if let Some(known) = profile.as_ref().and_then(|profile| self.lock().profiles.get(profile).cloned()) {
            return Ok(known);
        }
        let description = describe(module, op)?;
        let known = (description.clone(), self.analysis(&description));
        if let Some(profile) = profile {
            self.lock().profiles.insert(profile, known.clone());
        }
        Ok(known)
    }

    /// The analysis of a description.
    pub fn analysis(&self, description: &Description) -> Arc<Analysis> {
        if let Some(known) = self.lock().analyses.get(description) {
            return Arc::clone(known);
        }
        // Made without the lock: another thread may do the same work, with the same result.
        let analysis = Arc::new(Analysis {
            strategies: strategies(description),
            accesses: accesses(description),
            linear: linear(description),
            fusion: fusion(description),
        });
        Arc::clone(self.lock().analyses.entry(description.clone()).or_insert(analysis))
    }

    fn lock(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
