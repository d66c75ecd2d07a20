//! The rules that every program keeps, and the search for whatever breaks them.
//!
//! 1. Links agree: an op, its block, its region and its parent know of one another; nothing uses an erased value.
//! 2. Regions nest at most [`MAX_REGION_DEPTH`] deep; a region has as many blocks as its op allows.
//! 3. A block ends in its only terminator, unless the op around it says that none is needed. Only terminators have
//!    successors; these are blocks of the same region and are given what they take.
//! 4. A value is used only where its definition is on every way that leads there, and never across the border of an
//!    isolated op.
//! 5. Names in a symbol table are unique, and every symbol that an attribute or a type mentions exists.
//! 6. Operands, results, attributes, regions and successors fit the op's definition; written result types agree with those that
//!    follow from the rest; a function's body agrees with its type; the definition's own check passes.
//! 7. Tensors are smaller than [`MAX_TENSOR_BYTES`](crate::MAX_TENSOR_BYTES); numbers and constants fit their types;
//!    dictionaries have each key once; the parameters of dialect types and attributes are valid, and the attributes are
//!    used where they may be. No value has the error
//!    type, unless damage is known.
//!
//! All violations are reported, up to a thousand. An op that uses a value of the error type, or that lies in doubt for
//! another reason already reported, is passed over, so that no report is the consequence of another.

mod content;
mod spec;
#[cfg(test)]
mod tests;

pub(crate) use spec::check_shape_of_op;

use std::sync::Arc;

use rustc_hash::FxHashSet;
use tofu_diagnostics::{Diagnostic, Span, codes, plural, suggest::did_you_mean};

use crate::{
    ARGUMENT_ATTRIBUTES, Attr, AttrData, AttrTarget, AttrUse, BlockId, Definition, DialectAttr, Dominance,
    FUNCTION_TYPE, Instances, Module, Name, OpId, Profile, RESULT_ATTRIBUTES, SYMBOL_NAME, SecondaryMap,
    SymbolRef, Syntax, Trait, Type, TypeData, TypeInference, ValueId,
};
use content::{Contents, Problem};
use spec::{agree, check_results};

/// How deep regions may nest.
pub const MAX_REGION_DEPTH: usize = 256;

/// After so many violations the rest of the program is not looked at.
const MAX_VIOLATIONS: usize = 1000;

/// After so many violations no name is suggested for a misspelled one.
const MAX_SUGGESTIONS: usize = 100;

/// What is known to be wrong before the verifier runs, so that it does not report the consequences.
#[derive(Clone, Debug, Default)]
pub struct Damage {
    /// Blocks that lack an op that could not be read.
    pub blocks: FxHashSet<BlockId>,
    /// Names of ops that could not be read.
    pub symbols: FxHashSet<Name>,
    /// Ops that were read only in part, or were found wrong already.
    pub ops: FxHashSet<OpId>,
}

/// Everything that is wrong with a program, in the order of its ops.
pub fn verify(module: &Module) -> Vec<Diagnostic> {
    run(module, None)
}

/// Everything that is wrong with a program and does not follow from known damage, in the order of its ops. Values may
/// have the error type.
pub fn verify_damaged(module: &Module, damage: &Damage) -> Vec<Diagnostic> {
    run(module, Some(damage))
}

fn run(module: &Module, damage: Option<&Damage>) -> Vec<Diagnostic> {
    let none = Damage::default();
    let mut verifier = Verifier {
        module,
        is_damaged: damage.is_some(),
        damage: damage.unwrap_or(&none),
        found: Vec::new(),
        dominance: Dominance::new(),
        contents: Contents::new(damage.is_some()),
        attrs_without_symbols: SecondaryMap::new(),
        types_without_symbols: SecondaryMap::new(),
        attrs_without_uses: SecondaryMap::new(),
        instances: None,
        correct: FxHashSet::default(),
    };
    let mut pending = vec![(module.root(), 0)];
    while let Some((op, depth)) = pending.pop() {
        if verifier.found.len() >= MAX_VIOLATIONS {
            break;
        }
        verifier.op(op);
        if depth == MAX_REGION_DEPTH {
            if module.region_count(op) > 0 {
                let message = format!("regions nest more than {MAX_REGION_DEPTH} deep");
                verifier.found.push(module.error(op, &codes::NESTING_TOO_DEEP, message));
            }
            continue;
        }
        let inner = pending.len();
        for region in module.regions(op) {
            for &block in module.blocks(region) {
                pending.extend(module.ops(block).map(|op| (op, depth + 1)));
            }
        }
        pending[inner..].reverse();
    }
    verifier.found.truncate(MAX_VIOLATIONS);
    verifier.found
}

struct Verifier<'m> {
    module: &'m Module,
    /// Whether anything may be wrong before.
    is_damaged: bool,
    damage: &'m Damage,
    found: Vec<Diagnostic>,
    dominance: Dominance,
    contents: Contents,
    attrs_without_symbols: SecondaryMap<Attr, bool>,
    types_without_symbols: SecondaryMap<Type, bool>,
    /// Attributes of which no use needs to be checked.
    attrs_without_uses: SecondaryMap<Attr, bool>,
    /// Where instances of types are made that the program need not have.
    instances: Option<Module>,
    /// Profiles of ops that were found to be right.
    correct: FxHashSet<Profile>,
}

impl Verifier<'_> {
    fn op(&mut self, op: OpId) {
        let before = self.found.len();
        self.rules(op);
        for diagnostic in &mut self.found[before..] {
            self.module.note_location(op, diagnostic);
        }
    }

    fn rules(&mut self, op: OpId) {
        let before = self.found.len();
        self.links(op);
        if self.found.len() > before {
            return;
        }
        self.blocks(op);
        self.operands(op);
        let is_valid = self.types_of(op) && self.attributes_of(op);
        self.symbols(op);
        if self.in_doubt(op) || !is_valid || self.found.len() > before {
            return;
        }
        match check_shape_of_op(self.module, op) {
            Err(found) => self.found.extend(found),
            Ok(()) => {
                self.uses_of_attributes(op);
                self.meaning(op);
            }
        }
    }

    fn in_doubt(&self, op: OpId) -> bool {
        if self.damage.ops.contains(&op) {
            return true;
        }
        if !self.damage.symbols.is_empty() && self.mentions_damage(op) {
            return true;
        }
        let mut values = self.module.operands(op).chain(self.module.results(op));
        values.any(|value| matches!(self.module.value_type(value), TypeData::Error))
    }

    /// Whether an op mentions a symbol of which nothing is known but that it may exist.
    fn mentions_damage(&self, op: OpId) -> bool {
        let mut mentions_any = false;
        for &(_, attr) in self.module.attrs(op) {
            self.module.visit_symbols(attr, &mut |path| {
                mentions_any |= path.iter().any(|name| self.damage.symbols.contains(name));
            });
        }
        mentions_any
    }

    // 1.
    fn links(&mut self, op: OpId) {
        let (module, is_damaged) = (self.module, self.is_damaged);
        let mut malformed = |message: String| {
            let note = "this is a fault of the pass that ran last, not of the program";
            self.found.push(module.error(op, &codes::MALFORMED_IR, message).note(note));
        };
        let name = module.def(op).name;
        for (index, operand) in module.operands(op).enumerate() {
            match module.definition(operand) {
                // What stands in for a value that could not be read.
                Definition::None if is_damaged && matches!(module.value_type(operand), TypeData::Error) => {}
                Definition::None => malformed(format!("operand {index} of `{name}` is defined by nothing")),
                Definition::Result { op: definer, .. } if module.block_of(definer).is_none() => {
                    malformed(format!(
                        "operand {index} of `{name}` is defined by an op that stands in no block"
                    ));
                }
                _ => {}
            }
        }
        let (handed_on, operands) = (module.successor_argument_count(op), module.operand_count(op));
        if handed_on > operands {
            malformed(format!("`{name}` hands {handed_on} operands to its successors, but has {operands}"));
        }
        if !matches!(module.attr_data(module.attr_dict(op)), AttrData::Dict(_)) {
            malformed(format!("the attributes of `{name}` are no dictionary"));
        }
        for region in module.regions(op) {
            for &block in module.blocks(region) {
                if module.region_of(block) != Some(region) || module.op_of(region) != op {
                    malformed(format!("a block of `{name}` does not know its region"));
                }
                let is_foreign = |op| module.is_erased(op) || module.block_of(op) != Some(block);
                if module.ops(block).any(is_foreign) {
                    malformed(format!("an op in `{name}` does not know its block"));
                }
            }
        }
    }

    // 2 and 3.
    fn blocks(&mut self, op: OpId) {
        let module = self.module;
        let def = module.def(op);
        if def.has(Trait::TopLevel) && op != module.root() {
            let parent = module.parent(op);
            if parent.is_none_or(|parent| !module.has(parent, Trait::SymbolTable)) {
                let message = format!("`{}` may stand only directly in a module", def.written_name());
                self.found.push(module.error(op, &codes::WRONG_PARENT, message));
            }
        }
        if !module.successors(op).is_empty() && !def.has(Trait::Terminator) && !self.damage.ops.contains(&op)
        {
            let message = format!("`{}` is no terminator and cannot have successors", def.written_name());
            self.found.push(module.error(op, &codes::MISPLACED_TERMINATOR, message));
        }
        for (index, successor) in module.successors(op).iter().enumerate() {
            self.successor(op, index, successor.block);
        }
        if def.has(Trait::NoTerminator) {
            return;
        }
        for region in module.regions(op) {
            for &block in module.blocks(region) {
                self.terminator(op, block);
            }
        }
    }

    fn terminator(&mut self, parent: OpId, block: BlockId) {
        let module = self.module;
        let last = module.last_op(block);
        let before = self.found.len();
        for op in module.ops(block) {
            if Some(op) != last && module.has(op, Trait::Terminator) {
                let name = module.def(op).written_name();
                let message = format!("`{name}` must be the last op of its block");
                let next = module.next_op(op).map_or(module.span(op), |next| module.span(next));
                let diagnostic = module.error(op, &codes::MISPLACED_TERMINATOR, message);
                self.found.push(diagnostic.secondary(next, "this op comes after it"));
            }
        }
        // A terminator too early explains why there is none at the end.
        if self.damage.blocks.contains(&block) || self.found.len() > before {
            return;
        }
        if last.is_none_or(|last| !module.has(last, Trait::Terminator)) {
            let name = module.def(parent).written_name();
            let message = format!("a block of `{name}` does not end in a terminator");
            let place = last.unwrap_or(parent);
            let label = if last.is_some() { "this is the block's last op" } else { "the block is empty" };
            self.found.push(module.error(place, &codes::MISSING_TERMINATOR, message).label(label));
        }
    }

    fn successor(&mut self, op: OpId, index: usize, block: BlockId) {
        if self.damage.blocks.contains(&block) {
            return;
        }
        let module = self.module;
        let own = module.block_of(op).and_then(|block| module.region_of(block));
        let problem = match own {
            Some(own) if module.entry(own) == Some(block) => {
                Some("the entry of a region cannot be a successor")
            }
            Some(own) if module.region_of(block) == Some(own) => None,
            _ => Some("a successor must be a block of the same region"),
        };
        if let Some(message) = problem {
            self.found.push(module.error(op, &codes::UNDEFINED_BLOCK, message));
            return;
        }
        let given: Vec<ValueId> = module.successor_arguments(op, index).collect();
        let taken = module.arguments(block);
        if given.len() != taken.len() {
            let message =
                format!("the block takes {}, but is given {}", plural(taken.len(), "argument"), given.len());
            self.found.push(module.error(op, &codes::WRONG_BLOCK_ARGUMENTS, message));
            return;
        }
        for (&given, &taken) in given.iter().zip(taken) {
            let (given_type, taken_type) = (module.ty(given), module.ty(taken));
            let doubtful = |ty| matches!(module.type_data(ty), TypeData::Error);
            if given_type != taken_type && !doubtful(given_type) && !doubtful(taken_type) {
                let message = format!(
                    "the block takes a `{}`, but is given a `{}`",
                    module.type_text(taken_type),
                    module.type_text(given_type)
                );
                let diagnostic = module.error(op, &codes::WRONG_BLOCK_ARGUMENTS, message);
                self.found
                    .push(diagnostic.secondary(module.value_span(taken), "the argument is defined here"));
            }
        }
    }

    // 4.
    fn operands(&mut self, op: OpId) {
        let mut wrong = FxHashSet::default();
        for (index, value) in self.module.operands(op).enumerate() {
            // A value that is used twice is wrong once.
            if !wrong.contains(&value) {
                let before = self.found.len();
                self.operand(op, index, value);
                if self.found.len() > before {
                    wrong.insert(value);
                }
            }
        }
    }

    fn operand(&mut self, op: OpId, index: usize, value: ValueId) {
        let module = self.module;
        let Some(home) = module.defining_block(value) else { return };
        let mut isolated = None;
        let region = module.region_of(home);
        let mut user = Some(op);
        // The op at the level of the definition that holds the use.
        let ancestor = loop {
            let Some(current) = user else { break None };
            let Some(block) = module.block_of(current) else { break None };
            if module.region_of(block) == region {
                break Some((current, block));
            }
            user = module.parent(current);
            if let Some(parent) = user.filter(|&parent| module.has(parent, Trait::Isolated)) {
                isolated.get_or_insert(parent);
            }
        };
        let problem = match (ancestor, isolated) {
            (Some(_), Some(border)) => {
                let name = module.def(border).written_name();
                let message = format!(
                    "{} is defined outside of `{name}`, which sees no value from outside",
                    module.quoted_value(value)
                );
                Some(Diagnostic::error(&codes::ISOLATION, module.operand_span(op, index), message))
            }
            (Some((ancestor, block)), None) => {
                let dominated = match module.definition(value) {
                    Definition::Result { op: definer, .. } if block == home => {
                        definer != ancestor && module.is_before(definer, ancestor)
                    }
                    _ => self.dominance.dominates(module, home, block),
                };
                (!dominated).then(|| self.not_dominated(op, index, value))
            }
            (None, _) => Some(self.not_dominated(op, index, value)),
        };
        if let Some(problem) = problem {
            self.found.push(problem.secondary(module.value_span(value), "it is defined here"));
        }
    }

    fn not_dominated(&self, op: OpId, index: usize, value: ValueId) -> Diagnostic {
        let message = format!("{} is used where it may not be defined yet", self.module.quoted_value(value));
        Diagnostic::error(&codes::NOT_DOMINATED, self.module.operand_span(op, index), message)
    }

    // 5.
    fn symbols(&mut self, op: OpId) {
        let module = self.module;
        let text = |op: OpId| module.symbol_name(op).map_or("", |name| module.text(name));
        let redefinitions = module.symbol_table(op).map_or(&[][..], |table| table.redefinitions());
        for &(first, again) in redefinitions {
            let message = format!("`@{}` is defined twice", text(again));
            self.found.push(
                Diagnostic::error(&codes::REDEFINED_SYMBOL, module.attr_span(again, SYMBOL_NAME), message)
                    .secondary(module.attr_span(first, SYMBOL_NAME), "it is defined here first"),
            );
        }
        for &(key, attr) in module.attrs(op) {
            let key = module.text(key);
            let is_definition = key == SYMBOL_NAME && module.has(op, Trait::Symbol);
            if !is_definition && !self.attrs_without_symbols[attr] {
                let mut mentions_any = false;
                module.visit_symbols(attr, &mut |path| {
                    mentions_any = true;
                    self.symbol_use(op, path, module.attr_span(op, key));
                });
                self.attrs_without_symbols[attr] = !mentions_any;
            }
        }
        for value in defined_values(module, op) {
            let ty = module.ty(value);
            if !self.types_without_symbols[ty] {
                let mut mentions_any = false;
                module.visit_type_symbols(ty, &mut |path| {
                    mentions_any = true;
                    self.symbol_use(op, path, module.value_span(value));
                });
                self.types_without_symbols[ty] = !mentions_any;
            }
        }
    }

    fn symbol_use(&mut self, op: OpId, path: &SymbolRef, span: Span) {
        let module = self.module;
        let is_damaged = path.iter().any(|name| self.damage.symbols.contains(name));
        if is_damaged || module.resolve_symbol(op, path).is_some() {
            return;
        }
        let text: Vec<&str> = path.iter().map(|&name| module.text(name)).collect();
        let message = format!("there is no `@{}`", text.join("::@"));
        let name = format!("@{}", text.last().copied().unwrap_or(""));
        // The search goes through all names there are, so it is made only as often as somebody may read the answer.
        let known = if self.found.len() < MAX_SUGGESTIONS { self.names_around(op) } else { Vec::new() };
        let help = did_you_mean(&name, known.iter().map(String::as_str));
        self.found.push(Diagnostic::error(&codes::UNDEFINED_SYMBOL, span, message).maybe_help(help));
    }

    fn names_around(&self, op: OpId) -> Vec<String> {
        let module = self.module;
        let tables = module.ancestors(op).skip(1).filter_map(|table| module.symbol_table(table));
        tables.flat_map(|table| table.iter().map(|(name, _)| format!("@{}", module.text(name)))).collect()
    }

    // 7.
    fn types_of(&mut self, op: OpId) -> bool {
        let module = self.module;
        let mut is_valid = true;
        for value in defined_values(module, op) {
            if let Err(problem) = self.contents.ty(module, module.ty(value)) {
                is_valid = false;
                self.report(problem, module.value_span(value));
            }
        }
        is_valid
    }

    fn attributes_of(&mut self, op: OpId) -> bool {
        let module = self.module;
        let mut is_valid = true;
        for &(key, attr) in module.attrs(op) {
            if let Err(problem) = self.contents.attr(module, attr) {
                is_valid = false;
                self.report(problem, module.attr_span(op, module.text(key)));
            }
        }
        if let (true, Err(problem)) = (is_valid, self.contents.attr(module, module.attr_dict(op))) {
            is_valid = false;
            self.report(problem, module.span(op));
        }
        is_valid
    }

    fn uses_of_attributes(&mut self, op: OpId) {
        let module = self.module;
        for &(name, attr) in module.attrs(op) {
            if self.attrs_without_uses[attr] {
                continue;
            }
            let name = module.text(name);
            let mut is_checked = false;
            let mut check = |name: &str, attr: Attr, target: AttrTarget, span: Span| {
                let AttrData::Dialect(DialectAttr { def, params }) = module.attr_data(attr) else { return };
                if let Some(verify) = def.verify_use {
                    is_checked = true;
                    verify(module, *params, &AttrUse { op, name, target, span }, &mut self.found);
                }
            };
            let span = module.attr_span(op, name);
            check(name, attr, AttrTarget::Op, span);
            let items = match module.attr_data(attr) {
                AttrData::Array(items) => &items[..],
                _ => &[],
            };
            let target: fn(usize) -> AttrTarget = match name {
                ARGUMENT_ATTRIBUTES => AttrTarget::Argument,
                RESULT_ATTRIBUTES => AttrTarget::Result,
                _ => AttrTarget::Item,
            };
            for (index, &item) in items.iter().enumerate() {
                if target(index) == AttrTarget::Item(index) {
                    check(name, item, AttrTarget::Item(index), span);
                    continue;
                }
                for &(inner, attr) in module.dict(item) {
                    check(module.text(inner), attr, target(index), span);
                }
            }
            self.attrs_without_uses[attr] = !is_checked;
        }
    }

    fn report(&mut self, problem: Problem, span: Span) {
        self.found.extend(problem.map(|(code, message)| Diagnostic::error(code, span, message)));
    }

    // 6.
    fn meaning(&mut self, op: OpId) {
        let module = self.module;
        let def = module.def(op);
        let before = self.found.len();
        let profile = if def.has(Trait::Local) { Profile::of(module, op) } else { None };
        if profile.as_ref().is_some_and(|profile| self.correct.contains(profile)) {
            return;
        }
        if def.syntax == Syntax::Function {
            self.signature(op);
        }
        let inferred = match def.type_inference() {
            None => Ok(None),
            Some(TypeInference::Computed(infer)) => infer(module, op).map(Some),
            Some(TypeInference::Instances(infer)) => {
                infer(module, op).map(|instances| Some(self.instantiate(&instances)))
            }
        };
        match inferred {
            Ok(Some(types)) => self.results(op, &types),
            Ok(None) => check_results(module, op, &mut self.found),
            Err(diagnostic) => self.found.push(diagnostic),
        }
        if let (true, Some(verify)) = (self.found.len() == before, def.verification()) {
            verify(module, op, &mut self.found);
        }
        if self.found.len() == before {
            self.correct.extend(profile);
        }
    }

    fn instantiate(&mut self, Instances { types, extents }: &Instances) -> Vec<TypeData> {
        let module = self.module;
        let mut instance = |&ty: &Type| match module.type_data(ty) {
            TypeData::Tensor(tensor) => TypeData::Tensor(extents.instance(tensor)),
            data @ (TypeData::Element(_) | TypeData::Token | TypeData::Error) => data.clone(),
            // What consists of other types may need some that the program does not have.
            TypeData::Tuple(_) | TypeData::Function(_) | TypeData::Dialect(_) => {
                let instances = self.instances.get_or_insert_with(|| {
                    let mut empty = Module::new(Arc::clone(module.registry()));
                    empty.interner = module.interner.clone();
                    empty
                });
                let ty = instances.interner.instantiate(ty, extents);
                instances.type_data(ty).clone()
            }
        };
        types.iter().map(&mut instance).collect()
    }

    fn results(&mut self, op: OpId, inferred: &[TypeData]) {
        let module = self.module;
        let name = module.def(op).written_name();
        if inferred.len() != module.result_count(op) {
            let message = format!(
                "`{name}` has {}, but {} follow from its operands",
                plural(module.result_count(op), "result"),
                inferred.len()
            );
            self.found.push(module.error(op, &codes::WRONG_RESULT_COUNT, message));
            return;
        }
        for (result, inferred) in module.results(op).zip(inferred) {
            let written = module.value_type(result);
            if !agree(written, inferred) {
                let message = format!(
                    "{} is written as `{}`, but `{name}` gives `{}`",
                    module.quoted_value(result),
                    module.type_data_text(written),
                    self.instances.as_ref().unwrap_or(module).type_data_text(inferred)
                );
                self.found.push(
                    Diagnostic::error(&codes::WRONG_RESULT_TYPE, module.value_span(result), message)
                        .help("leave the type away; it follows from the operands"),
                );
            }
        }
    }

    fn signature(&mut self, op: OpId) {
        let module = self.module;
        let Some(AttrData::Type(ty)) = module.attr_value(op, FUNCTION_TYPE) else { return };
        let TypeData::Function(function) = module.type_data(*ty) else { return };
        let Some(entry) = module.only_region(op).and_then(|region| module.entry(region)) else { return };
        let arguments: Vec<Type> =
            module.arguments(entry).iter().map(|&argument| module.ty(argument)).collect();
        if arguments[..] != *function.inputs {
            let message = format!(
                "`{}` has the type `{}`, but its body takes other arguments",
                module.def(op).written_name(),
                module.type_text(*ty)
            );
            self.found.push(module.error(op, &codes::WRONG_SIGNATURE, message));
        }
    }
}

/// The values that an op defines: its results, and the arguments of its blocks.
fn defined_values(module: &Module, op: OpId) -> impl Iterator<Item = ValueId> + '_ {
    let blocks = module.regions(op).flat_map(|region| module.blocks(region));
    module.results(op).chain(blocks.flat_map(|&block| module.arguments(block).iter().copied()))
}
