//! Whether one op fits its definition: operands, attributes, regions, successors and results. Builders ask this before
//! they let result types follow.

use rustc_hash::FxHashSet;
use tofu_diagnostics::{Diagnostic, codes, plural, suggest::did_you_mean};

use crate::{Arity, BlockCount, Module, OpId, OperandSpec, SuccessorCount, TypeData, ValueId};

/// Whether a written type may stand where another follows: equal, or equal where both extents are known.
pub(super) fn agree(written: &TypeData, inferred: &TypeData) -> bool {
    match (written, inferred) {
        (TypeData::Tensor(a), TypeData::Tensor(b)) => {
            a.element == b.element
                && a.rank() == b.rank()
                && a.dims.iter().zip(&b.dims).all(|(a, &b)| a.may_equal(b))
        }
        (TypeData::Error, _) | (_, TypeData::Error) => true,
        (a, b) => a == b,
    }
}

/// Whether an op's operands, attributes, regions and successors fit its definition. Results are not looked at: they may
/// be missing while their types are inferred.
pub(crate) fn check_shape_of_op(module: &Module, op: OpId) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    check_operands(module, op, &mut found);
    check_attributes(module, op, &mut found);
    check_regions(module, op, &mut found);
    check_successors(module, op, &mut found);
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn check_operands(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let def = module.def(op);
    let given = module.own_operands(op).len();
    let Some(group) = group_size(def.operands, given) else {
        let message =
            format!("`{}` takes {}, but is given {given}", def.written_name(), expected(def.operands));
        found.push(module.error(op, &codes::WRONG_OPERAND_COUNT, message));
        return;
    };
    let mut wrong: FxHashSet<ValueId> = FxHashSet::default();
    for (index, (value, spec)) in module.own_operands(op).zip(expand(def.operands, group)).enumerate() {
        let ty = module.value_type(value);
        // A value that is used twice is wrong once.
        if !(spec.class.contains)(ty) && wrong.insert(value) {
            let message = format!(
                "operand `{}` of `{}` must be {}, but is a `{}`",
                spec.name,
                def.written_name(),
                spec.class.name,
                module.type_data_text(ty)
            );
            found.push(
                Diagnostic::error(&codes::WRONG_OPERAND_TYPE, module.operand_span(op, index), message)
                    .secondary(module.value_span(value), "it is defined here"),
            );
        }
    }
}

/// Whether an op's results fit its definition. Where they follow from the rest, they are checked against that instead.
pub(super) fn check_results(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let def = module.def(op);
    let results = module.result_count(op);
    let Some(group) = group_size(def.results, results) else {
        let message = format!("`{}` gives {}, not {results}", def.written_name(), expected(def.results));
        found.push(module.error(op, &codes::WRONG_RESULT_COUNT, message));
        return;
    };
    for (result, spec) in module.results(op).zip(expand(def.results, group)) {
        if !(spec.class.contains)(module.value_type(result)) {
            let message = format!(
                "result `{}` of `{}` must be {}, but is written as `{}`",
                spec.name,
                def.written_name(),
                spec.class.name,
                module.type_text(module.ty(result))
            );
            found.push(Diagnostic::error(&codes::WRONG_RESULT_TYPE, module.value_span(result), message));
        }
    }
}

/// How many values each variadic specification stands for when there are `given` in all.
fn group_size(specs: &[OperandSpec], given: usize) -> Option<usize> {
    let variadic = specs.iter().filter(|spec| spec.arity == Arity::Variadic).count();
    let rest = given.checked_sub(specs.len() - variadic)?;
    match variadic {
        0 => (rest == 0).then_some(0),
        _ => (rest % variadic == 0).then_some(rest / variadic),
    }
}

fn expand(specs: &'static [OperandSpec], group: usize) -> impl Iterator<Item = &'static OperandSpec> {
    specs.iter().flat_map(move |spec| {
        std::iter::repeat_n(spec, if spec.arity == Arity::Variadic { group } else { 1 })
    })
}

fn expected(specs: &[OperandSpec]) -> String {
    let fixed = specs.iter().filter(|spec| spec.arity == Arity::One).count();
    match specs.len() - fixed {
        0 => plural(fixed, "value"),
        1 if fixed == 0 => "any number of values".to_owned(),
        1 => format!("at least {}", plural(fixed, "value")),
        lists if fixed == 0 => format!("{lists} lists of values of one length"),
        lists => format!("{} and {lists} lists of values of one length", plural(fixed, "value")),
    }
}

fn check_attributes(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let def = module.def(op);
    for spec in def.attributes.iter().filter(|spec| spec.required && module.attr(op, spec.name).is_none()) {
        let message = format!("`{}` needs the attribute `{}`", def.written_name(), spec.name);
        let help = format!("add `{{{} = …}}`: {}", spec.name, spec.class.name);
        found.push(module.error(op, &codes::MISSING_ATTRIBUTE, message).help(help));
    }
    for &(key, attr) in module.attrs(op) {
        let name = module.text(key);
        match def.attribute(name) {
            Some(spec) if (spec.class.contains)(module, attr) => {}
            Some(spec) => {
                let message = format!(
                    "attribute `{name}` of `{}` must be {}, but is {}",
                    def.written_name(),
                    spec.class.name,
                    module.attr_data(attr).kind_name()
                );
                found.push(Diagnostic::error(&codes::WRONG_ATTRIBUTE, module.attr_span(op, name), message));
            }
            // What one dialect says about another's ops carries the dialect's name.
            None if name
                .split_once('.')
                .is_some_and(|(prefix, _)| module.registry().dialect(prefix).is_some()) => {}
            None => {
                let message = format!("`{}` has no attribute `{name}`", def.written_name());
                let help = did_you_mean(name, def.attributes.iter().map(|spec| spec.name));
                found.push(
                    Diagnostic::error(&codes::UNKNOWN_ATTRIBUTE, module.attr_span(op, name), message)
                        .maybe_help(help),
                );
            }
        }
    }
}

fn check_regions(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let def = module.def(op);
    let (given, last) = (module.region_count(op), def.regions.last());
    let variadic = last.filter(|spec| spec.arity == Arity::Variadic);
    let fixed = def.regions.len() - variadic.iter().len();
    if given < fixed || given > fixed && variadic.is_none() {
        let at_least = if variadic.is_some() { "at least " } else { "" };
        let message = format!(
            "`{}` has {at_least}{}, but is given {given}",
            def.written_name(),
            plural(fixed, "region")
        );
        found.push(module.error(op, &codes::WRONG_REGIONS, message));
        return;
    }
    let specs = def.regions[..fixed].iter().chain(variadic.into_iter().cycle());
    for (region, spec) in module.regions(op).zip(specs) {
        let blocks = module.blocks(region).len();
        let wanted = match spec.blocks {
            BlockCount::One if blocks != 1 => "exactly one block",
            BlockCount::AtMostOne if blocks > 1 => "at most one block",
            _ => continue,
        };
        let message = format!(
            "region `{}` of `{}` must have {wanted}, but has {blocks}",
            spec.name,
            def.written_name()
        );
        found.push(module.error(op, &codes::WRONG_REGIONS, message));
    }
}

fn check_successors(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let def = module.def(op);
    let given = module.successors(op).len();
    match def.successors {
        SuccessorCount::Exactly(wanted) if wanted != given => {
            let message = format!(
                "`{}` continues at {}, but is given {given}",
                def.written_name(),
                plural(wanted, "block")
            );
            found.push(module.error(op, &codes::WRONG_SUCCESSORS, message));
        }
        _ => {}
    }
}
