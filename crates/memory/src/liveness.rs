//! Which memory a function needs, and when.
//!
//! A *storage* is a piece of memory with the values that it holds one after the other; it is alive from the definition of
//! the first to the last use of any. The schedule is program order. Values are given storages in four steps:
//!
//! 1. Values that kernels compute on their way have none ([`kernels`](crate::kernels)); views, and what ops only hand
//!    on, share that of what they show.
//! 2. Every other value gets a cell, occupied from its definition to its last use: `start..end`, where an op that
//!    reads a value for the last time at position `p` makes `end` equal to `p + 1`. What is used inside of a loop but
//!    defined outside of it is alive until the loop ends.
//! 3. Cells are joined where two values are one in memory: the arguments, what is yielded and the results of a loop; what
//!    branches yield and the results of the choice; an argument that the caller has given away and the result that takes
//!    its place.
//! 4. A result is written over an operand that dies there, where each of its elements needs at most that very element
//!    of the operand: element-wise ops, and updates of a slice.
//!
//! Cells that would be occupied at once are never joined; there, something is copied.

use std::ops::Range;

use smallvec::SmallVec;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{EntityId, Module, OpId, SecondaryMap, TypeData, ValueId};
use tofu_tdl::Descriptions;

use crate::assign::Assignment;
use crate::donation::Ties;
use crate::join::join;
use crate::kernels::{Held, Kernels};
use crate::schedule::Schedule;

tofu_ir::entity_ids! {
    /// A piece of memory.
    StorageId = "storage";
}

/// A piece of memory.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Storage {
    /// Where it comes from.
    pub kind: StorageKind,
    /// Whether a result of the function is in it at the end.
    pub is_result: bool,
    /// The positions from which and to which it is needed.
    pub live: Range<u32>,
    /// The values that it holds, by number; it is as large as the largest of them.
    pub values: Vec<ValueId>,
}

/// Where a storage comes from.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum StorageKind {
    /// The caller hands it over.
    Parameter,
    /// It comes with the program.
    Constant,
    /// The step makes it.
    Intermediate,
}

/// What may be taken for granted about a function.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Assumptions {
    /// The caller gives away every argument that a result takes the place of ([`Ties`]), whether the program says so or
    /// not.
    pub ties_are_donated: bool,
}

/// The storages of a function.
#[derive(Clone, Debug)]
pub struct Liveness {
    schedule: Schedule,
    kernels: Kernels,
    ties: Ties,
    storages: Vec<Storage>,
    of: SecondaryMap<ValueId, SmallVec<[StorageId; 1]>>,
}

impl Liveness {
    /// The storages of a function, of which nothing is assumed that it does not say.
    ///
    /// # Errors
    ///
    /// As [`Schedule::of`].
    pub fn of(module: &Module, function: OpId, descriptions: &Descriptions) -> Result<Liveness, Diagnostic> {
        Liveness::assuming(module, function, descriptions, &Assumptions::default())
    }

    /// The storages of a function. Calls are taken as single ops that need no memory of their own: inline them first.
    ///
    /// # Errors
    ///
    /// As [`Schedule::of`].
    pub fn assuming(
        module: &Module,
        function: OpId,
        descriptions: &Descriptions,
        assumptions: &Assumptions,
    ) -> Result<Liveness, Diagnostic> {
        let schedule = Schedule::of(module, function)?;
        let kernels = Kernels::new(module, &schedule, descriptions);
        let ties = Ties::of(module, function, descriptions);
        let assignment = Assignment::new(module, function, &schedule, &kernels, &ties, assumptions);
        let (storages, of) = join(assignment, &ties);
        Ok(Liveness { schedule, kernels, ties, storages, of })
    }

    /// The order in which ops run.
    pub fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    /// Which result takes the place of which argument.
    pub fn ties(&self) -> &Ties {
        &self.ties
    }

    /// All storages.
    pub fn storages(&self) -> impl ExactSizeIterator<Item = (StorageId, &Storage)> {
        self.storages.iter().enumerate().map(|(number, storage)| (StorageId::from_index(number), storage))
    }

    /// A storage.
    pub fn storage(&self, id: StorageId) -> &Storage {
        &self.storages[id.index()]
    }

    /// Where a value is kept: in one storage; a tuple in those of its elements, what never reaches memory and tokens in
    /// none. Only values of the schedule are kept anywhere.
    pub fn storages_of(&self, value: ValueId) -> &[StorageId] {
        &self.of[value]
    }

    /// Whether a value is ever in memory: whether it has bytes, and reading it is traffic.
    pub fn is_materialized(&self, value: ValueId) -> bool {
        self.kernels.is_stored(value)
    }

    /// Where the elements of a value are.
    pub fn held(&self, value: ValueId) -> Held {
        self.kernels.held(value)
    }

    /// The last position at which an op reads its operands: its own, or if its result is never stored that of the last
    /// kernel that computes it. None for ops that are not scheduled.
    pub fn reads_until(&self, module: &Module, op: OpId) -> Option<u32> {
        self.schedule.begin(op)?;
        self.kernels.reads_until(module, &self.schedule, op)
    }

    /// What the kernel of an op reads from memory: its operands, and in place of those that it computes on its way, what
    /// they are computed from. Each value once, in the order in which it is met.
    pub fn reads(&self, module: &Module, op: OpId) -> Vec<ValueId> {
        let mut seen = rustc_hash::FxHashSet::default();
        let mut found = Vec::new();
        let mut pending: Vec<ValueId> = module.operands(op).rev().collect();
        while let Some(value) = pending.pop() {
            if !seen.insert(value) {
                continue;
            }
            match self.held(value) {
                Held::Stored | Held::Alias(_) => found.push(value),
                Held::Fused(_) | Held::Copied => {
                    pending.extend(
                        module.defining_op(value).into_iter().flat_map(|op| module.operands(op).rev()),
                    );
                }
            }
        }
        found
    }
}

/// The bytes of a whole value: those of a tensor of known extents, of a number, or of a tuple of such; none for tokens,
/// and for what has no known size.
pub fn bytes_of(module: &Module, value: ValueId) -> u64 {
    let mut pending = vec![module.ty(value)];
    let mut bytes = 0u64;
    while let Some(ty) = pending.pop() {
        match module.type_data(ty) {
            TypeData::Tensor(tensor) => bytes = bytes.saturating_add(tensor.bytes().unwrap_or(0)),
            TypeData::Element(element) => bytes = bytes.saturating_add(u64::from(element.bits()).div_ceil(8)),
            TypeData::Tuple(parts) => pending.extend(parts),
            _ => {}
        }
    }
    bytes
}
