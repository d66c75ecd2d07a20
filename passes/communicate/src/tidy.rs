//! What is done with inserted ops before they are bundled: those that do the same are done once, and what devices send does not wait.
//!
//! An op whose result is no larger than its operand goes up to where its operand is made: the buffer takes the place of the other one, and what is
//! computed until somebody reads the result hides the time that it takes. What makes buffers larger stays where it is read first, so that
//! they are in memory no longer than they must.

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_ir::{Attr, BlockId, Definition, Module, OpDef, OpId, Type, ValueId};
use tofu_machine::Collective;
use tofu_memory::trip_count;
use tofu_sharding::{Communicate, Communication, Step};
use tofu_tdl::Descriptions;

use crate::planned::Exchanges;

/// How often the body of each loop is run.
pub(crate) type Trips = FxHashMap<OpId, u64>;

/// How often an op is done in a step of the program.
pub(crate) fn times(module: &Module, op: OpId, trips: &Trips) -> u64 {
    module
        .ancestors(op)
        .filter_map(|around| trips.get(&around))
        .fold(1, |times, &own| times.saturating_mul(own))
}

/// What the text of a function says that devices send in a step of the program.
pub(crate) fn sent_in_text(module: &Module, function: OpId, trips: &Trips) -> u64 {
    let of = |op: OpId| {
        let communication = Communication::of(module, op)?;
        Some(Step::of(module, op)?.sent_bytes(&communication.mesh).saturating_mul(times(module, op, trips)))
    };
    module.walk(function).filter_map(of).fold(0, u64::saturating_add)
}

/// How often the loops of a function are run, of which that is known.
pub(crate) fn trips(module: &Module, function: OpId, descriptions: &Descriptions) -> Trips {
    module.walk(function).filter_map(|op| Some((op, trip_count(module, op, descriptions)?))).collect()
}

/// The blocks in a function, in its order.
pub(crate) fn blocks(module: &Module, function: OpId) -> Vec<BlockId> {
    let regions = module.walk(function).flat_map(|op| module.regions(op).collect::<Vec<_>>());
    regions.flat_map(|region| module.blocks(region).to_vec()).collect()
}

/// Does once what is done several times in a block.
///
/// # Errors
/// What the plan does not know.
pub(crate) fn share(
    module: &mut Module,
    function: OpId,
    trips: &Trips,
    exchanges: &mut Exchanges,
) -> Result<(), Diagnostic> {
    type Key = (&'static str, Vec<ValueId>, Attr, Vec<Type>);
    for block in blocks(module, function) {
        let mut known: FxHashMap<Key, OpId> = FxHashMap::default();
        for op in module.ops(block).collect::<Vec<_>>() {
            if module.def(op).interface::<Communicate>().is_none() {
                continue;
            }
            let def: &'static OpDef = module.def(op);
            let types = module.results(op).map(|result| module.ty(result)).collect();
            let key = (def.name, module.operands(op).collect(), module.attr_dict(op), types);
            let Some(&first) = known.get(&key) else {
                known.insert(key, op);
                continue;
            };
            if let Some(step) = Step::of(module, op) {
                forget(module, op, step, trips, exchanges)?;
            }
            let given: Vec<ValueId> = module.results(first).collect();
            module.replace(op, &given);
        }
    }
    Ok(())
}

/// A collective of the program is no longer done, or as a part of another one.
///
/// # Errors
/// The plan does not know it: what is in the program has come apart from what was planned.
pub(crate) fn forget(
    module: &Module,
    op: OpId,
    step: Step,
    trips: &Trips,
    exchanges: &mut Exchanges,
) -> Result<(), Diagnostic> {
    exchanges.forget(step, times(module, op, trips)).map_err(|reason| {
        let message = "devices would do together what is not planned";
        let error = module.error(op, &codes::TRAFFIC_DIFFERS, message).note(reason);
        error.help("this is a fault of the pass, not of the program")
    })
}

/// Brings what does not make buffers larger up to where its operands are made.
pub(crate) fn hoist(module: &mut Module, function: OpId) {
    for block in blocks(module, function) {
        // The last op that went up behind each value.
        let mut behind: FxHashMap<ValueId, OpId> = FxHashMap::default();
        for op in module.ops(block).collect::<Vec<_>>() {
            let shrinks = Communication::of(module, op).and_then(|communication| communication.collective());
            let shrinks = shrinks.is_some_and(|(collective, _)| {
                !matches!(collective, Collective::AllGather | Collective::HaloExchange)
            });
            if !shrinks {
                continue;
            }
            let operand = module.operand(op, 0);
            let maker = match module.definition(operand) {
                Definition::Result { op, .. } if module.block_of(op) == Some(block) => Some(op),
                _ => None,
            };
            match behind.get(&operand).copied().or(maker) {
                Some(anchor) if module.next_op(anchor) != Some(op) => module.move_after(anchor, op),
                // What comes from outside could be done at the beginning, long before anybody reads it.
                _ => {}
            }
            if maker.is_some() {
                behind.insert(operand, op);
            }
        }
    }
}
