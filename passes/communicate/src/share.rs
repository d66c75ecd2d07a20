//! The op that all devices run in place of one.
//!
//! Mostly it is the same op, on shares: where what it says of itself there is what its description says of a share. Nothing needs to know
//! which ops that holds of, since it is looked at. For everything else there mostly are ordinary ops that compute what its description says; what
//! has none becomes an operator of the program.

use std::rc::Rc;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_tdl::{build_call, build_operator};
use tofu_dialect_tensor::express;
use tofu_ir::{Builder, ElementType, Module, OpId, Type, ValueId, copy_op};
use tofu_partition::{Choice, Choices, OpInfo, Way};
use tofu_sharding::{Axes, Layout, Layouts, Mesh};
use tofu_tdl::{Among, Description, Descriptions, Division, Uniform, solve_op, uniform};

/// What ops become, by what they are and how they are done.
#[derive(Default)]
pub(crate) struct Shares {
    known: FxHashMap<Key, Rc<Share>>,
    /// The operators of the program, by their descriptions.
    operators: FxHashMap<Description, Rc<str>>,
}

/// The number of an op's description, how it is done, and how its operands lie.
type Key = (u32, Choices, SmallVec<[Layouts; 4]>);

/// What all devices run in place of an op.
pub(crate) struct Share {
    pub(crate) uniform: Uniform,
    /// The axes of each division.
    pub(crate) axes: Vec<Axes>,
}

impl Shares {
    /// What becomes of an op that is done like that, with its operands in these layouts.
    ///
    /// # Errors
    /// The description of a share is too large.
    pub(crate) fn of(
        &mut self,
        mesh: &Mesh,
        (number, info): (u32, &OpInfo),
        way: &Way,
        operands: SmallVec<[Layouts; 4]>,
    ) -> Result<Rc<Share>, Vec<Diagnostic>> {
        let key = (number, way.choices, operands);
        if let Some(known) = self.known.get(&key) {
            return Ok(Rc::clone(known));
        }
        let share = Rc::new(Share::of(mesh, info, way.choices, &key.2)?);
        self.known.insert(key, Rc::clone(&share));
        Ok(share)
    }

    /// Adds ops for this description before another one, ordinary ones if there are; the results.
    ///
    /// # Errors
    /// The operator cannot be said as text, or does not take these operands.
    pub(crate) fn made(
        &mut self,
        module: &mut Module,
        description: &Description,
        operands: &[ValueId],
        (before, origin): (OpId, OpId),
    ) -> Result<SmallVec<[ValueId; 2]>, Diagnostic> {
        if let Some(results) = express(module, (before, origin), description, operands) {
            return Ok(results.into());
        }
        let call = self.call(module, description, operands, (before, origin))?;
        Ok(module.results(call).collect())
    }

    fn call(
        &mut self,
        module: &mut Module,
        description: &Description,
        operands: &[ValueId],
        (before, origin): (OpId, OpId),
    ) -> Result<OpId, Diagnostic> {
        let name = match self.operators.get(description) {
            Some(name) => Rc::clone(name),
            None => {
                let name = free_name(module, description.name(), self.operators.len());
                let text = description.to_string();
                let head = format!("tdl @{}", description.name());
                let text = text.strip_prefix(&head).unwrap_or(&text).trim_end();
                build_operator(module, &name, text).map_err(|found| {
                    let error =
                        module.error(origin, &codes::CANNOT_COMMUNICATE, "a share of this op cannot be said");
                    let reasons = found.into_iter().map(|found| found.message);
                    reasons.chain([text.to_owned()]).fold(error, Diagnostic::note)
                })?;
                let name: Rc<str> = name.into();
                self.operators.insert(description.clone(), Rc::clone(&name));
                name
            }
        };
        let mut builder = Builder::before(module, before).origin(origin);
        build_call(&mut builder, &name, operands.iter().copied())
    }

    /// The op itself on shares, before it, if it says there what its share does.
    pub(crate) fn same(
        &self,
        module: &mut Module,
        descriptions: &Descriptions,
        op: OpId,
        share: &Share,
        operands: &[ValueId],
    ) -> Option<OpId> {
        if !share.uniform.workers.is_empty() {
            return None;
        }
        let mut values: FxHashMap<ValueId, ValueId> = FxHashMap::default();
        let copy = copy_op(module, op, &mut values);
        module.set_operands(copy, operands);
        let types = result_types(module, op, &share.uniform.description);
        for (result, ty) in module.results(copy).zip(&types) {
            module.set_type(result, *ty);
        }
        module.insert_before(op, copy);
        if says(module, descriptions, copy, &share.uniform.description, &types) {
            return Some(copy);
        }
        module.erase(copy);
        None
    }
}

/// The types of the results of a share.
fn result_types(module: &mut Module, op: OpId, description: &Description) -> Vec<Type> {
    let elements: Vec<ElementType> = module
        .results(op)
        .map(|result| module.tensor_type(result).map_or(ElementType::F32, |ty| ty.element))
        .collect();
    let dims = result_dims(description);
    dims.iter().zip(elements).map(|(dims, element)| module.interner.tensor(dims, element)).collect()
}

/// The extents of the results of a share.
pub(crate) fn result_dims(description: &Description) -> Vec<SmallVec<[u64; 4]>> {
    let data = description.data();
    let extent = |&id: &tofu_tdl::IndexId| match data.index(id) {
        tofu_tdl::Index::Const(value) => value.max(0) as u64,
        _ => 0,
    };
    data.results.iter().map(|result| result.dims.iter().map(extent).collect()).collect()
}

/// Whether an op says of itself what a description does.
fn says(
    module: &mut Module,
    descriptions: &Descriptions,
    op: OpId,
    wanted: &Description,
    types: &[Type],
) -> bool {
    let inferred = match module.def(op).type_inference() {
        Some(_) => match module.infer_types(op) {
            Ok(inferred) => inferred == types,
            Err(_) => false,
        },
        None => true,
    };
    if !inferred {
        return false;
    }
    let Ok((description, _)) = descriptions.of(module, op) else { return false };
    let Ok(solution) = solve_op(module, op, &description) else { return false };
    let given: Vec<Type> = solution.results.iter().map(|ty| module.interner.ty(ty.clone())).collect();
    let Some(extents) = solution.static_extents() else { return false };
    let whole = uniform(&description, &extents, &[], &|_, _| None);
    given == types && whole.is_ok_and(|whole| whole.description == *wanted)
}

fn free_name(module: &Module, base: &str, number: usize) -> String {
    let taken = |name: &str| {
        module
            .ops(module.body())
            .filter_map(|op| module.symbol_name(op))
            .any(|other| module.text(other) == name)
    };
    let names = (number..).map(|number| format!("{base}_share_{number}"));
    names.into_iter().find(|name| !taken(name)).unwrap_or_default()
}

impl Share {
    fn of(
        mesh: &Mesh,
        info: &OpInfo,
        choices: Choices,
        operands: &[Layouts],
    ) -> Result<Share, Vec<Diagnostic>> {
        let mut divisions: Vec<(Choice, Axes)> = Vec::new();
        for axis in 0..mesh.axes().len().min(Layouts::MAX_AXES) {
            let choice = choices.on(axis);
            if choice == Choice::Whole {
                continue;
            }
            match divisions.iter_mut().find(|(other, _)| *other == choice) {
                Some((_, axes)) => axes.push(axis as u8),
                None => divisions.push((choice, Axes::from_slice(&[axis as u8]))),
            }
        }
        divisions.sort_unstable_by_key(|(choice, _)| *choice);
        let size = |axes: &Axes| mesh.devices_along(axes);
        let among: Vec<Among<'_>> = divisions
            .iter()
            .filter_map(|(choice, axes)| {
                let division = match *choice {
                    Choice::Split(strategy) => Division::Split(&info.analysis.strategies[strategy]),
                    Choice::Linear(set) => Division::Terms(&info.analysis.linear[set]),
                    Choice::Whole => return None,
                };
                Some(Among { division, workers: size(axes) })
            })
            .collect();
        // A dimension moves with the division that has its axes.
        let moves = |operand: usize, dim: usize| {
            let layouts = *operands.get(operand)?;
            let axes: Axes = (0..mesh.axes().len().min(Layouts::MAX_AXES))
                .filter(|&axis| layouts.on(axis) == Layout::Split(dim))
                .map(|axis| axis as u8)
                .collect();
            divisions.iter().position(|(_, other)| !axes.is_empty() && *other == axes)
        };
        let uniform = uniform(&info.description, &info.extents, &among, &moves)?;
        Ok(Share { uniform, axes: divisions.into_iter().map(|(_, axes)| axes).collect() })
    }
}
