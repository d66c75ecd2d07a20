//! Runs a program on its storages, with a hash for each value: whatever is read must still be there.

use std::collections::{BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash, Hasher};

use tofu_ir::{Control, Module, OpId, RegionId, ValueId};
use tofu_memory::{Held, Liveness, StorageId};
use tofu_tdl::Descriptions;

use crate::support::function;

/// What came of a run.
pub(crate) struct Run<'m> {
    module: &'m Module,
    liveness: &'m Liveness,
    descriptions: &'m Descriptions,
    rounds: u32,
    /// What each value is.
    values: HashMap<ValueId, u64>,
    /// What each storage holds.
    memory: HashMap<StorageId, u64>,
    /// The last position at which each storage was read.
    pub(crate) read: HashMap<StorageId, u32>,
    /// How many results were written over an operand.
    pub(crate) in_place: usize,
}

/// Runs the function of a program; loops go round so often.
pub(crate) fn simulate<'m>(
    module: &'m Module,
    liveness: &'m Liveness,
    descriptions: &'m Descriptions,
    rounds: u32,
) -> Run<'m> {
    let mut run = Run {
        module,
        liveness,
        descriptions,
        rounds,
        values: HashMap::new(),
        memory: HashMap::new(),
        read: HashMap::new(),
        in_place: 0,
    };
    let region = module.only_region(function(module)).unwrap();
    let arguments = module.arguments(module.entry(region).unwrap());
    for &argument in arguments {
        run.values.insert(argument, hash(&argument));
        run.write(argument, 0);
    }
    run.region(region);
    run
}

fn hash(what: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    what.hash(&mut hasher);
    hasher.finish()
}

impl<'m> Run<'m> {
    /// Runs the ops of a region; what its last op is given.
    fn region(&mut self, region: RegionId) -> Vec<u64> {
        let module = self.module;
        let block = module.entry(region).unwrap();
        let mut given = Vec::new();
        for op in module.ops(block) {
            given = module.operands(op).map(|operand| self.values[&operand]).collect();
            self.op(op, &given);
        }
        given
    }

    fn op(&mut self, op: OpId, given: &[u64]) {
        let module = self.module;
        let begin = self.liveness.schedule().begin(op).unwrap();
        let end = self.liveness.schedule().end(op).unwrap();
        match module.def(op).interface() {
            Some(Control::Yield) => module.operands(op).for_each(|operand| self.check(operand, begin)),
            Some(Control::Forward) => {
                for (result, operand) in module.results(op).zip(module.operands(op)) {
                    self.check(operand, begin);
                    self.values.insert(result, self.values[&operand]);
                    assert_eq!(self.liveness.storages_of(result), self.liveness.storages_of(operand));
                }
            }
            Some(Control::While) => {
                module.operands(op).for_each(|operand| self.check(operand, begin));
                let mut carried = given.to_vec();
                self.carry(op, &carried, begin);
                for round in 0..=self.rounds {
                    self.region(module.region(op, 0));
                    if round == self.rounds {
                        break;
                    }
                    carried = self.region(module.region(op, 1));
                    self.carry(op, &carried, end - 1);
                }
                for (result, value) in module.results(op).zip(carried) {
                    self.values.insert(result, value);
                    // It is there already.
                    if module.has_uses(result) {
                        self.check(result, end);
                    }
                }
            }
            Some(Control::If) => {
                self.check(module.operand(op, 0), begin);
                // The branch of the number of rounds.
                let given = self.region(module.region(op, self.rounds as usize % 2));
                for (result, value) in module.results(op).zip(given) {
                    self.values.insert(result, value);
                    self.write(result, end);
                }
            }
            _ => self.kernel(op, given, begin),
        }
    }

    /// The values of the next round, all at once.
    fn carry(&mut self, op: OpId, carried: &[u64], position: u32) {
        for region in self.module.regions(op) {
            let arguments = self.module.arguments(self.module.entry(region).unwrap());
            for (&argument, &value) in arguments.iter().zip(carried) {
                self.values.insert(argument, value);
                self.write(argument, position);
            }
        }
    }

    fn kernel(&mut self, op: OpId, given: &[u64], position: u32) {
        let (module, liveness) = (self.module, self.liveness);
        for (number, result) in module.results(op).enumerate() {
            match liveness.held(result) {
                Held::Alias(seen) => {
                    self.values.insert(result, self.values[&seen]);
                    assert_eq!(liveness.storages_of(result), liveness.storages_of(seen));
                }
                _ => {
                    self.values.insert(result, hash(&(op, number, given)));
                }
            }
        }
        let stored: Vec<ValueId> =
            module.results(op).filter(|&result| liveness.held(result) == Held::Stored).collect();
        if stored.is_empty() {
            return;
        }
        let read = liveness.reads(module, op);
        read.iter().for_each(|&value| self.check(value, position));
        for result in stored {
            let storage = liveness.storages_of(result)[0];
            let over: Vec<ValueId> =
                read.iter().copied().filter(|&value| liveness.storages_of(value)[0] == storage).collect();
            for value in over {
                assert!(self.is_same_element(op, value), "{op:?} writes {result:?} over {value:?}");
                self.in_place += 1;
            }
            self.write(result, position);
        }
    }

    /// Whether an element of what the kernel of an op writes needs at most the element of `value` at its own indices.
    fn is_same_element(&self, op: OpId, value: ValueId) -> bool {
        let module = self.module;
        let (description, analysis) = self.descriptions.of(module, op).unwrap();
        let rank = description.results()[0].vars.len();
        module.operands(op).zip(&analysis.accesses.operands).all(|(operand, access)| {
            let is_same = access.map.is_identity(rank) || module.def(op).name == "tensor.reshape";
            if self.liveness.is_materialized(operand) {
                return is_same || self.liveness.storages_of(operand) != self.liveness.storages_of(value);
            }
            let inner = module.defining_op(operand).unwrap();
            let reads = self.liveness.reads(module, inner);
            let needs =
                reads.iter().any(|&read| self.liveness.storages_of(read) == self.liveness.storages_of(value));
            !needs || (is_same && self.is_same_element(inner, value))
        })
    }

    fn check(&mut self, value: ValueId, position: u32) {
        let storage = self.liveness.storages_of(value)[0];
        let live = &self.liveness.storage(storage).live;
        assert!(live.contains(&position), "{value:?} is read at {position}, but alive in {live:?}");
        assert_eq!(self.memory.get(&storage), Some(&self.values[&value]), "{value:?} at {position}");
        let last = self.read.entry(storage).or_default();
        *last = (*last).max(position);
    }

    fn write(&mut self, value: ValueId, position: u32) {
        let storage = self.liveness.storages_of(value)[0];
        let live = &self.liveness.storage(storage).live;
        assert!(live.contains(&position), "{value:?} is written at {position}, but alive in {live:?}");
        self.memory.insert(storage, self.values[&value]);
    }

    /// The storages in which there was something that nobody read.
    pub(crate) fn unread(&self) -> BTreeSet<StorageId> {
        self.memory.keys().copied().filter(|storage| !self.read.contains_key(storage)).collect()
    }
}
