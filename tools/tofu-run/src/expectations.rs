//! Programs that say themselves what they expect, by the ops of `check` or by calls of functions of the same names, as the
//! tests of the StableHLO project do.
//!
//! Each function that takes no arguments and expects something is run. What it compares becomes its results; these are
//! compared here.

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_dialect_stablehlo::{
    EXPECT_ALMOST_EQ, EXPECT_ALMOST_EQ_CONST, EXPECT_CLOSE, EXPECT_EQ, EXPECT_EQ_CONST,
};
use tofu_dialect_tensor::{CONSTANT, CUSTOM_CALL};
use tofu_equivalence::{Tolerance, difference};
use tofu_interpreter::{Interpreter, signature};
use tofu_ir::{AttrData, ElementType, Module, OpId, OpState, VALUE, ValueId};
use tofu_tdl::{OpaqueRegistry, Tensor};

/// How far values may be apart that are to be almost equal, unless the op says it.
const ALMOST: f64 = 1e-4;
/// The function by which the project's tests of earlier versions compared: whether two values are equal, or for floats
/// nearly so.
const EARLIER: &str = "check.eq";
/// How many units in the last place values may be apart that are to be close, unless the op says it.
const CLOSE: i128 = 3;

/// What a program expects of two of its values.
struct Expectation {
    place: Span,
    rule: Rule,
}

#[derive(Clone, Copy)]
enum Rule {
    Equal,
    Almost(f64),
    /// Nearly the same, for what they are.
    Near,
    /// So many units in the last place at least and at most.
    Close(i128, i128),
}

/// How many expectations held, and what is wrong with the others.
#[derive(Default)]
pub(crate) struct Held {
    pub(crate) functions: usize,
    pub(crate) count: usize,
    pub(crate) wrong: Vec<Diagnostic>,
}

/// Whether a text may be of a program that expects something.
pub(crate) fn may_expect(text: &str) -> bool {
    text.contains("check.expect_") || text.contains(EARLIER)
}

/// Runs the functions that expect something.
pub(crate) fn check(module: &mut Module) -> Held {
    let mut held = Held::default();
    let functions: Vec<OpId> = module.ops(module.body()).collect();
    for function in functions {
        let takes_nothing = signature(module, function).is_some_and(|ty| ty.inputs.is_empty());
        let expectations = if takes_nothing { expose(module, function) } else { Vec::new() };
        if expectations.is_empty() {
            continue;
        }
        held.functions += 1;
        match Interpreter::new(module, &OpaqueRegistry::builtin()).run(function, &[]) {
            Ok(values) => {
                for (expectation, pair) in expectations.iter().zip(values.as_chunks::<2>().0) {
                    match expectation.difference(&pair[0], &pair[1]) {
                        None => held.count += 1,
                        Some(message) => {
                            held.wrong.push(Diagnostic::error(
                                &codes::RESULTS_DIFFER,
                                expectation.place,
                                message,
                            ));
                        }
                    }
                }
            }
            Err(error) => held.wrong.push(error),
        }
    }
    held
}

/// Makes the values that a function compares its results; what it expects of each pair.
fn expose(module: &mut Module, function: OpId) -> Vec<Expectation> {
    let block = module.regions(function).next().and_then(|region| module.entry(region));
    let Some(block) = block else { return Vec::new() };
    let ops: Vec<OpId> = module.ops(block).collect();
    let Some((&end, ops)) = ops.split_last() else { return Vec::new() };
    let (mut expectations, mut values, mut done) = (Vec::new(), Vec::new(), Vec::new());
    for &op in ops {
        let Some(rule) = rule(module, op) else { continue };
        expectations.push(Expectation { place: module.span(op), rule });
        let operands: Vec<ValueId> = module.operands(op).collect();
        values.extend(operands);
        if let Some(AttrData::Dense(dense)) = module.attr_value(op, VALUE) {
            let ty = dense.ty;
            let (name, value) = (module.interner.name(VALUE), module.attr(op, VALUE));
            let attrs =
                module.interner.dict(&[(name, value.unwrap_or_else(|| module.interner.empty_dict()))]);
            let constant = module.create(OpState::new(&CONSTANT).results([ty]).attrs(attrs));
            module.insert_before(op, constant);
            values.push(module.result(constant, 0));
        }
        done.push(op);
    }
    if !expectations.is_empty() {
        module.set_operands(end, &values);
    }
    for op in done {
        if !module.results(op).any(|result| module.has_uses(result)) {
            module.erase(op);
        }
    }
    expectations
}

/// What an op expects, if it does.
fn rule(module: &Module, op: OpId) -> Option<Rule> {
    let def = module.def(op);
    let name = if std::ptr::eq(def, &CUSTOM_CALL) {
        match module.attr_value(op, "call_target_name")? {
            AttrData::String(target) => target,
            _ => return None,
        }
    } else {
        def.name
    };
    let compared = module.operand_count(op) + usize::from(module.attr(op, VALUE).is_some());
    let integer = |name: &str, default: i128| match module.attr_value(op, name) {
        Some(AttrData::Int(value, _)) => *value,
        _ => default,
    };
    match name {
        _ if compared != 2 => None,
        EARLIER if module.result_count(op) == 1 => {
            let element = module.tensor_type(module.operand(op, 0))?.element;
            Some(if element.is_integer() { Rule::Equal } else { Rule::Near })
        }
        _ if module.result_count(op) > 0 => None,
        _ if name == EXPECT_EQ.name || name == EXPECT_EQ_CONST.name => Some(Rule::Equal),
        _ if name == EXPECT_ALMOST_EQ.name || name == EXPECT_ALMOST_EQ_CONST.name => {
            Some(Rule::Almost(match module.attr_value(op, "tolerance") {
                Some(&AttrData::Float(bits, element)) => tofu_ir::decode_float(element, bits),
                _ => ALMOST,
            }))
        }
        _ if name == EXPECT_CLOSE.name => {
            Some(Rule::Close(integer("min_ulp_difference", 0), integer("max_ulp_difference", CLOSE)))
        }
        _ => None,
    }
}

impl Expectation {
    /// How two values are not as expected.
    fn difference(&self, found: &Tensor, expected: &Tensor) -> Option<String> {
        if found.ty() != expected.ty() {
            return Some("the values have different types".to_owned());
        }
        let within = |tolerance| difference("value", found, expected, tolerance);
        match self.rule {
            Rule::Equal => within(Tolerance { relative: 0.0, absolute: 0.0 }),
            Rule::Near => within(Tolerance { relative: ALMOST, absolute: ALMOST }),
            Rule::Almost(absolute) => within(Tolerance { relative: 0.0, absolute }),
            Rule::Close(least, most) => {
                let apart = (0..found.len()).map(|index| units_apart(found, expected, index));
                let apart = apart.max().unwrap_or(0);
                let is_within = least <= apart && apart <= most;
                (!is_within).then(|| {
                    let exact = within(Tolerance { relative: 0.0, absolute: 0.0 });
                    let said = exact.unwrap_or_else(|| "the values are equal".to_owned());
                    format!("{said}: {apart} units in the last place apart, not {least} to {most}")
                })
            }
        }
    }
}

/// How many numbers of their type two elements are apart; a part of a complex number counts as a number.
fn units_apart(a: &Tensor, b: &Tensor, index: usize) -> i128 {
    let element = a.element();
    if element.is_integer() {
        return (a.integer(index) - b.integer(index)).abs();
    }
    let part = element.part();
    let ((a_re, a_im), (b_re, b_im)) = (a.complex_at(index), b.complex_at(index));
    let apart = |x: f64, y: f64| match (x.is_nan(), y.is_nan()) {
        (true, true) => 0,
        (false, false) => (position(part, x) - position(part, y)).abs(),
        _ => i128::MAX,
    };
    apart(a_re, b_re).max(apart(a_im, b_im))
}

/// The place of a number among all of its type; both zeros have one.
fn position(element: ElementType, value: f64) -> i128 {
    let magnitude = i128::from(tofu_ir::encode_float(element, value.abs()));
    if value < 0.0 { -magnitude } else { magnitude }
}
