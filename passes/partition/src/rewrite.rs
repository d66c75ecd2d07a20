//! The rewrite: what a plan says, written into the program.
//!
//! It adds nothing but the mesh and the shardings. Copies that a plan keeps beside a tensor, and all communication, follow
//! from these and from how ops are done; other passes write them.

use tofu_dialect_dist::{self as dist, build_mesh, set_result_shardings, set_shardings, sharding_attr};
use tofu_dialect_stablehlo::SDY_SHARDING;
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, Attr, AttrData, ElementType, Module, OpId, RESULT_ATTRIBUTES, SYMBOL_NAME, ValueId,
};
use tofu_partition::{Graph, Plan};
use tofu_sharding::{Layouts, Mesh, Sharding};

use crate::incoming::is_mesh;

/// The attribute in which JAX says over how many devices XLA splits a program.
const PARTITIONS: &str = "mhlo.num_partitions";

/// How the values of a function lie.
#[derive(Debug)]
pub(crate) struct Assignment {
    function: OpId,
    values: Vec<(ValueId, Sharding)>,
    results: Vec<Option<Sharding>>,
}

impl Assignment {
    /// What a plan says of the values of its function. A result that takes the place of an argument lies as that does, unless
    /// the program says how it lies.
    pub(crate) fn of(graph: &Graph<'_>, plan: &Plan, ties: &[(usize, usize)]) -> Assignment {
        let shown =
            |tensor: usize, layouts: Layouts| layouts.sharding(&plan.mesh, &graph.tensors[tensor].shape);
        let mut values = Vec::new();
        for (number, tensor) in graph.tensors.iter().enumerate() {
            let sharding = shown(number, plan.stored[number].first);
            values.extend(tensor.values.iter().map(|&value| (value, sharding.clone())));
        }
        let result = |(number, tensor): (usize, &Option<u32>)| {
            let tensor = (*tensor)?;
            let tie = ties.iter().find(|&&(_, result)| result == number);
            let argument = tie.and_then(|&(argument, _)| graph.arguments.get(argument).copied().flatten());
            let argument = argument.filter(|_| !graph.tensors[tensor as usize].is_own_result());
            let layouts = match argument {
                Some(argument) => plan.stored[argument as usize].first,
                None => plan.stored[tensor as usize].first,
            };
            Some(shown(tensor as usize, layouts))
        };
        let results = graph.results.iter().enumerate().map(result).collect();
        Assignment { function: graph.function, values, results }
    }

    /// How many values are split or partial, and how many every device holds whole.
    pub(crate) fn counts(&self) -> (u64, u64) {
        let whole = self.values.iter().filter(|(_, sharding)| sharding.is_replicated()).count();
        ((self.values.len() - whole) as u64, whole as u64)
    }

    /// Writes it down.
    pub(crate) fn write(&self, module: &mut Module, mesh_name: &str, mesh: &Mesh) {
        forget_shardy(module, self.function);
        // Values of a sharding are many, shardings few.
        let mut known: Vec<(&Sharding, Attr)> = Vec::new();
        let mut attr_of =
            |module: &mut Module, sharding| match known.iter().find(|(other, _)| *other == sharding) {
                Some(&(_, attr)) => attr,
                None => {
                    let attr = sharding_attr(module, mesh_name, mesh, sharding);
                    known.push((sharding, attr));
                    attr
                }
            };
        let mut of_values = Vec::new();
        for (value, sharding) in &self.values {
            of_values.push((*value, Some(attr_of(module, sharding))));
        }
        let mut of_results = Vec::new();
        for (index, sharding) in self.results.iter().enumerate() {
            if let Some(sharding) = sharding {
                of_results.push((index, Some(attr_of(module, sharding))));
            }
        }
        set_shardings(module, of_values);
        set_result_shardings(module, self.function, &of_results);
    }
}

/// Names the mesh in the program: in place of the one that it had, or as a new one. Its name.
pub(crate) fn write_mesh(module: &mut Module, named: Option<OpId>, mesh: &Mesh) -> String {
    let before = named.filter(|&op| is_mesh(module, op));
    let name = before.and_then(|op| module.symbol_name(op)).map(|name| module.text(name).to_owned());
    let name = name.unwrap_or_else(|| free_name(module));
    if before.is_none_or(|op| dist::mesh(module, op).as_ref() != Some(mesh)) {
        if let Some(op) = before {
            module.erase(op);
        }
        build_mesh(module, &name, mesh);
    }
    let root = module.root();
    if module.attr(root, PARTITIONS).is_some() {
        let devices = module.interner.attr(AttrData::Int(mesh.devices().into(), ElementType::I32));
        module.set_attr(root, PARTITIONS, devices);
    }
    name
}

/// A name for the mesh that nothing else has.
fn free_name(module: &Module) -> String {
    let taken: Vec<&str> = module
        .ops(module.body())
        .filter(|&op| module.attr(op, SYMBOL_NAME).is_some())
        .filter_map(|op| module.symbol_name(op))
        .map(|name| module.text(name))
        .collect();
    let names = std::iter::once("mesh".to_owned()).chain((0..).map(|number| format!("mesh_{number}")));
    let mut names = names.filter(|name| !taken.contains(&name.as_str()));
    names.next().unwrap_or_default()
}

/// Takes away what Shardy's attributes said: it is said in `dist` from now on.
fn forget_shardy(module: &mut Module, function: OpId) {
    for list in [ARGUMENT_ATTRIBUTES, RESULT_ATTRIBUTES] {
        let Some(AttrData::Array(items)) = module.attr_value(function, list) else { continue };
        let items = items.to_vec();
        if !items.iter().any(|&dict| module.dict_entry(dict, SDY_SHARDING).is_some()) {
            continue;
        }
        let without = items.into_iter().map(|dict| {
            let kept: Vec<_> = module
                .dict(dict)
                .iter()
                .copied()
                .filter(|&(name, _)| module.text(name) != SDY_SHARDING)
                .collect();
            module.interner.dict(&kept)
        });
        let without: Vec<Attr> = without.collect();
        let without = module.interner.attr(AttrData::Array(without.into()));
        module.set_attr(function, list, without);
    }
    let ops: Vec<OpId> =
        module.walk(function).filter(|&op| module.attr(op, SDY_SHARDING).is_some()).collect();
    for op in ops {
        module.remove_attr(op, SDY_SHARDING);
    }
}
