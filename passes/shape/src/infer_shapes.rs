//! The pass: what is found out about each function is written into the types of its values, into its signature where
//! that may change, and from there into the functions that call it or that it calls, until nothing changes any more.
//!
//! A function that is declared public keeps its signature, since others rely on it; what it says of the extents of its
//! arguments still holds inside. Of another function all calls are known:
//!
//! - If there are calls, an argument's extent becomes a number where all of them give this number. What the body needs is
//!   required of the calls instead, in their functions.
//! - If there are none, the function is an entry of the program, and its arguments become what its body needs: with other
//!   extents it could not be executed to its end.
//! - Its results become what it returns.
//!
//! Each round but the last knows more of some extent, so there is an end.

#[cfg(test)]
mod tests;

use rustc_hash::{FxHashMap, FxHashSet};
use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_func as func;
use tofu_ir::{AttrData, Control, Dim, FUNCTION_TYPE, Module, OpId, Profile, TensorType, Type, ValueId};
use tofu_pass::{Changed, Example, ModuleAnchor, Pass, PassContext, PassResult, pass_options};
use tofu_tdl::Description;

use crate::fixed::{Fixed, yielded};
use crate::function::{Context, Dims, Found, Given, Summary, analyse};

pass_options! {
    /// Finds out extents that are not written: forward from operands and backward from results, by the equations of the
    /// ops' descriptions.
    ///
    /// `?` becomes a number or a name; names of equal extents become one name, the first; names of known extents become
    /// numbers. It goes through calls, branches and loops: what an op in a branch or a loop needs is not required of
    /// values from outside, since the op may never run. An extent of a loop's operand is kept if no round changes it.
    ///
    /// A function's signature changes too, unless its `visibility` is `"public"`: arguments of a function that is called
    /// become what all calls give, those of one that nobody calls what its body needs.
    pub struct InferShapes {
        /// After how many rounds, at least one, to give up with a warning.
        pub max_iterations: u32 = 10,
    }
}

impl Pass for InferShapes {
    const NAME: &'static str = "infer-shapes";
    type Anchor = ModuleAnchor;

    const EXAMPLE: Example = Example {
        program: "func @f(%x: tensor<?x8xf32>, %w: tensor<{n}x2xf32>, %y: tensor<4x2xf32>) -> tensor<?xf32> {
  %h = tensor.dot_general %x, %w {contracting = [1] x [0]}
  %s = tensor.add %h, %y
  %r = tensor.reshape %s : tensor<?xf32>
  return %r
}",
        effect: "`{n}` is 8, since it is summed over together with the second dimension of `%x`; `%h` has the shape of `%y`, and so \
                 `%x` has 4 rows; the result has 8 elements.",
    };

    const STATISTICS: &'static [(&'static str, &'static str)] = &[
        ("refined extents", "Extents of values that became a number, or a name where there was none."),
        ("renamed extents", "Extents of values that got the name of one that is equal."),
    ];

    fn run(&self, cx: &mut PassContext<'_>) -> PassResult {
        let mut program = Program::of(cx.module, cx.op());
        let mut counts = Counts::default();
        let mut is_stable = false;
        for _ in 0..self.max_iterations.max(1) {
            cx.cancellation().check()?;
            let round = program.round(cx.module, self.max_iterations.max(1));
            cx.report_all(round.conflicts)?;
            counts.refined += round.counts.refined;
            counts.renamed += round.counts.renamed;
            if !round.has_changed {
                is_stable = true;
                break;
            }
        }
        if !is_stable || !program.incomplete.is_empty() {
            let message = "there may be more to know about extents than was found";
            let help = format!(
                "raise the limit: `--infer-shapes=max-iterations={}`",
                self.max_iterations.saturating_mul(10)
            );
            let span = cx.module.span(cx.op());
            cx.report(Diagnostic::warning(&codes::NOT_CONVERGED, span, message).help(help));
        }
        cx.count("refined extents", counts.refined);
        cx.count("renamed extents", counts.renamed);
        Ok(Changed::from(counts.refined + counts.renamed > 0))
    }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    refined: u64,
    renamed: u64,
}

/// What is known of a program besides its text.
struct Program {
    /// The functions, declarations included.
    functions: Vec<OpId>,
    /// The calls of each.
    calls: FxHashMap<OpId, Vec<OpId>>,
    /// Functions that others may call.
    public: FxHashSet<OpId>,
    summaries: FxHashMap<OpId, Summary>,
    descriptions: FxHashMap<Profile, Description>,
    /// Functions of which there may be more to know.
    open: FxHashSet<OpId>,
    /// Functions that were walked through as often as is allowed, and still there was more.
    incomplete: FxHashSet<OpId>,
}

/// What came of a round.
#[derive(Default)]
struct Round {
    conflicts: Vec<Diagnostic>,
    counts: Counts,
    has_changed: bool,
}

impl Program {
    fn of(module: &Module, root: OpId) -> Program {
        let functions: Vec<OpId> = module.walk(root).filter(|&op| module.is(op, &func::FUNC)).collect();
        let is_public = |&&function: &&OpId| matches!(module.attr_value(function, func::VISIBILITY), Some(AttrData::String(text)) if &**text == "public");
        let mut public: FxHashSet<OpId> = functions.iter().filter(is_public).copied().collect();
        let mut calls: FxHashMap<OpId, Vec<OpId>> = FxHashMap::default();
        for op in module.walk(root) {
            let callee = match module.def(op).interface::<Control>() {
                Some(Control::Call(attribute)) => module.symbol_target(op, attribute),
                _ => None,
            };
            match callee {
                Some(callee) => calls.entry(callee).or_default().push(op),
                // Whoever is mentioned elsewhere may be called in ways that are not known.
                None => module.visit_symbols_of_op(op, &mut |path| {
                    public.extend(module.resolve_symbol(op, path).filter(|&mentioned| mentioned != op));
                }),
            }
        }
        let summaries = functions
            .iter()
            .filter_map(|&function| {
                Some((function, Summary::of_signature(module, func::signature(module, function)?)))
            })
            .collect();
        let open = functions.iter().copied().collect();
        let (descriptions, incomplete) = (FxHashMap::default(), FxHashSet::default());
        Program { functions, calls, public, summaries, descriptions, open, incomplete }
    }

    /// Looks at each function of which there may be more to know.
    fn round(&mut self, module: &mut Module, max_walks: u32) -> Round {
        let mut round = Round::default();
        // What is known goes from callers to callees and back: in the order of the program one way, and then the other.
        self.functions.reverse();
        for function in self.functions.clone() {
            if !self.open.remove(&function) || func::body(module, function).is_none() {
                continue;
            }
            let given = self.given(module, function);
            let mut context = Context {
                summaries: &self.summaries,
                given: &given,
                descriptions: &mut self.descriptions,
                max_walks,
            };
            let found = analyse(module, function, &mut context);
            if found.is_complete {
                self.incomplete.remove(&function);
            } else {
                self.incomplete.insert(function);
            }
            if !found.conflicts.is_empty() {
                round.conflicts.extend(found.conflicts.into_iter().map(|(_, diagnostic)| diagnostic));
                continue;
            }
            if self.summaries.get(&function) != Some(&found.summary) {
                self.summaries.insert(function, found.summary.clone());
                round.has_changed = true;
                self.open_callers(module, function);
            }
            let counts = self.write(module, function, &found, &given);
            if counts.refined + counts.renamed > 0 {
                round.counts.refined += counts.refined;
                round.counts.renamed += counts.renamed;
                round.has_changed = true;
                // Descriptions may say more of extents that are known.
                self.open.insert(function);
                self.open_callees(module, function);
            }
        }
        round.conflicts.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        round
    }

    fn open_callers(&mut self, module: &Module, function: OpId) {
        let calls = self.calls.get(&function).into_iter().flatten();
        let callers = calls.filter_map(|&call| module.ancestors(call).find(|&op| module.is(op, &func::FUNC)));
        self.open.extend(callers);
    }

    fn open_callees(&mut self, module: &Module, function: OpId) {
        for op in module.walk(function) {
            if let Some(Control::Call(attribute)) = module.def(op).interface() {
                self.open.extend(module.symbol_target(op, attribute));
            }
        }
    }

    /// The extents of a function's arguments that are the same number in all calls, all of which are known.
    fn given(&self, module: &Module, function: OpId) -> Vec<Given> {
        let mut given = Vec::new();
        let (Some(calls), false) = (self.calls.get(&function), self.public.contains(&function)) else {
            return given;
        };
        let Some(entry) = func::body(module, function) else { return given };
        for (index, &argument) in module.arguments(entry).iter().enumerate() {
            let Some(written) = module.tensor_type(argument) else { continue };
            for dim in 0..written.rank() {
                let mut sizes = calls.iter().map(|&call| {
                    let operand = module.operands(call).nth(index)?;
                    module.tensor_type(operand)?.dims.get(dim)?.size()
                });
                let first = sizes.next().flatten();
                if let Some(size) = first.filter(|_| sizes.all(|size| size == first)) {
                    given.push(Given { argument, dim, size, call: calls[0] });
                }
            }
        }
        given
    }

    /// Gives the values of a function the extents that were found, and the function the signature that follows.
    fn write(&self, module: &mut Module, function: OpId, found: &Found, given: &[Given]) -> Counts {
        let signature_may_change = !self.public.contains(&function);
        let is_called = self.calls.contains_key(&function);
        let arguments: FxHashSet<ValueId> = if is_called {
            func::body(module, function)
                .map(|entry| module.arguments(entry))
                .into_iter()
                .flatten()
                .copied()
                .collect()
        } else {
            FxHashSet::default()
        };
        // A number that not all calls give could not be given by those that say nothing.
        let is_given = |value: ValueId, dim: usize, size: u64| {
            given.iter().any(|given| given.argument == value && given.dim == dim && given.size == size)
        };
        let extent = |value: ValueId, dim: usize, written: Dim, found: Dim| match found {
            Dim::Static(size) if arguments.contains(&value) && !is_given(value, dim, size) => written,
            _ => found,
        };
        let mut fixed = Fixed::of(module, function, signature_may_change);
        let values: Vec<ValueId> =
            values(module, function).filter(|&value| found.dims[value].is_some()).collect();
        let mut counts = Counts::default();
        for group in fixed.groups(values) {
            let Some(written) = module.tensor_type(group[0]).cloned() else { continue };
            let dims: Dims = (written.dims.iter().enumerate())
                .map(|(dim, &own)| {
                    let mut known = group.iter().map(|&value| {
                        let found = found.dims[value].as_ref().map_or(own, |dims| dims[dim]);
                        extent(value, dim, own, found)
                    });
                    let first = known.next().unwrap_or(own);
                    if known.all(|other| other == first) { first } else { own }
                })
                .collect();
            for (&own, &new) in written.dims.iter().zip(&dims).filter(|(own, new)| own != new) {
                let renamed = matches!((own, new), (Dim::Symbol(_), Dim::Symbol(_)));
                *(if renamed { &mut counts.renamed } else { &mut counts.refined }) += group.len() as u64;
            }
            if dims != written.dims {
                let ty = module.interner.ty(TensorType { dims, element: written.element });
                group.iter().for_each(|&value| module.set_type(value, ty));
            }
        }
        if signature_may_change {
            write_signature(module, function);
        }
        counts
    }
}

/// All values that are defined in a function.
fn values(module: &Module, function: OpId) -> impl Iterator<Item = ValueId> + '_ {
    module.walk(function).flat_map(move |op| {
        let blocks = module.regions(op).flat_map(|region| module.blocks(region));
        module.results(op).chain(blocks.flat_map(|&block| module.arguments(block).iter().copied()))
    })
}

/// Makes a function's type what its body takes and returns.
fn write_signature(module: &mut Module, function: OpId) {
    let Some(entry) = func::body(module, function) else { return };
    let types = |values: &mut dyn Iterator<Item = ValueId>| -> Vec<Type> {
        values.map(|value| module.ty(value)).collect()
    };
    let inputs = types(&mut module.arguments(entry).iter().copied());
    let blocks = module.regions(function).flat_map(|region| module.blocks(region));
    let returned = blocks.map(|&block| yielded(module, block)).find(|values| !values.is_empty());
    let results = types(&mut returned.unwrap_or_default().into_iter());
    let ty = module.interner.function(&inputs, &results);
    let attr = module.interner.attr(AttrData::Type(ty));
    if module.attr(function, FUNCTION_TYPE) != Some(attr) {
        module.set_attr(function, FUNCTION_TYPE, attr);
    }
}
