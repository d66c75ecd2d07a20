//! The rules that every program keeps, and the search for whatever breaks them.
//!
//! 1. Links agree: an op, its block, its region and its parent know of one another; nothing uses an erased value.
//! 2. Regions nest at most [`MAX_REGION_DEPTH`] deep; a region has as many blocks as its op allows.
//! 3. A block ends in its only terminator, unless the op around it says that none is needed. Successors are blocks of
//!    the same region and are given what they take.
//! 4. A value is used only where its definition is on every way that leads there, and never across the border of an
//!    isolated op.
//! 5. Names in a symbol table are unique, and every symbol that an attribute mentions exists.
//! 6. Operands, results, attributes and regions fit the op's definition; written result types agree with those that
//!    follow from the rest; a function's body agrees with its type; the definition's own check passes.
//! 7. Tensors are smaller than [`MAX_TENSOR_BYTES`]; the parameters of dialect types and attributes are valid.
//!
//! All violations are reported, up to a thousand. An op that uses a value of the error type, or that lies in doubt for
//! another reason already reported, is passed over, so that no report is the consequence of another.

use rustc_hash::FxHashSet;
use tofu_diagnostics::{Diagnostic, codes, suggest::did_you_mean};

use crate::{
    Arity, Attr, AttrData, BlockCount, BlockId, Definition, Dominance, FUNCTION_TYPE, MAX_TENSOR_BYTES,
    Module, Name, OpId, OperandSpec, SYMBOL_NAME, SecondaryMap, Syntax, Trait, Type, TypeData, ValueId,
};

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
    verify_damaged(module, &Damage::default())
}

/// Everything that is wrong with a program and does not follow from known damage, in the order of its ops.
pub fn verify_damaged(module: &Module, damage: &Damage) -> Vec<Diagnostic> {
    let mut verifier = Verifier {
        module,
        damage,
        found: Vec::new(),
        dominance: Dominance::new(),
        types: SecondaryMap::new(),
        attrs: SecondaryMap::new(),
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
    verifier.found
}

struct Verifier<'m> {
    module: &'m Module,
    damage: &'m Damage,
    found: Vec<Diagnostic>,
    dominance: Dominance,
    types: SecondaryMap<Type, Checked>,
    attrs: SecondaryMap<Attr, Checked>,
}

/// What is known about an interned type or attribute.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
enum Checked {
    #[default]
    Not,
    Good,
    Bad,
}

impl Verifier<'_> {
    fn op(&mut self, op: OpId) {
        let before = self.found.len();
        self.links(op);
        if self.found.len() > before {
            return;
        }
        self.blocks(op);
        self.operands(op);
        self.types_of(op);
        self.attributes_of(op);
        self.symbols(op);
        if self.in_doubt(op) || self.found.len() > before {
            return;
        }
        match check_shape_of_op(self.module, op) {
            Err(found) => self.found.extend(found),
            Ok(()) => self.meaning(op),
        }
    }

    fn in_doubt(&self, op: OpId) -> bool {
        if self.damage.ops.contains(&op) {
            return true;
        }
        let mut values = self.module.operands(op).chain(self.module.results(op));
        values.any(|value| matches!(self.module.value_type(value), TypeData::Error))
    }

    // 1.
    fn links(&mut self, op: OpId) {
        let module = self.module;
        let mut malformed = |message: String| {
            let note = "this is a fault of the pass that ran last, not of the program";
            self.found.push(module.error(op, &codes::MALFORMED_IR, message).note(note));
        };
        let name = module.def(op).name;
        for (index, operand) in module.operands(op).enumerate() {
            match module.definition(operand) {
                // What stands in for a value that could not be read.
                Definition::None if matches!(module.value_type(operand), TypeData::Error) => {}
                Definition::None => malformed(format!("operand {index} of `{name}` is defined by nothing")),
                Definition::Result { op: definer, .. } if module.block_of(definer).is_none() => {
                    malformed(format!(
                        "operand {index} of `{name}` is defined by an op that stands in no block"
                    ));
                }
                _ => {}
            }
        }
        for region in module.regions(op) {
            for &block in module.blocks(region) {
                if module.region_of(block) != Some(region) || module.op_of(region) != op {
                    malformed(format!("a block of `{name}` does not know its region"));
                }
                if module
                    .ops(block)
                    .any(|inner| module.is_erased(inner) || module.block_of(inner) != Some(block))
                {
                    malformed(format!("an op in `{name}` does not know its block"));
                }
            }
        }
    }

    // 2 and 3.
    fn blocks(&mut self, op: OpId) {
        let module = self.module;
        let def = module.def(op);
        let is_item = def.has(Trait::TopLevel) || def.has(Trait::SymbolTable);
        if is_item && op != module.root() {
            let parent = module.parent(op);
            if parent.is_none_or(|parent| !module.has(parent, Trait::SymbolTable)) {
                let message = format!("`{}` may stand only directly in a module", def.written_name());
                self.found.push(module.error(op, &codes::WRONG_PARENT, message));
            }
        }
        if !module.successors(op).is_empty() && !def.has(Trait::Terminator) {
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
                format!("the block takes {}, but is given {}", count(taken.len(), "argument"), given.len());
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
        let mut wrong = None;
        for index in 0..self.module.operand_count(op) {
            let value = self.module.operand(op, index);
            let before = self.found.len();
            // A value that is used twice is wrong once.
            if wrong != Some(value) {
                self.operand(op, index, value);
            }
            if self.found.len() > before {
                wrong = Some(value);
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
                    named(module, value)
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
        let message = format!("{} is used where it may not be defined yet", named(self.module, value));
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
            if key != SYMBOL_NAME || !module.has(op, Trait::Symbol) {
                self.symbol_uses(op, key, attr);
            }
        }
    }

    fn symbol_uses(&mut self, op: OpId, key: &str, attr: Attr) {
        let module = self.module;
        module.visit_symbols(attr, &mut |path| {
            let damaged = path.iter().any(|name| self.damage.symbols.contains(name));
            if damaged || module.resolve_symbol(op, path).is_some() {
                return;
            }
            let text: Vec<&str> = path.iter().map(|&name| module.text(name)).collect();
            let message = format!("there is no `@{}`", text.join("::@"));
            let name = format!("@{}", text.last().copied().unwrap_or(""));
            // The search goes through all names there are, so it is made only as often as somebody may read the answer.
            let known = if self.found.len() < MAX_SUGGESTIONS { self.names_around(op) } else { Vec::new() };
            let help = did_you_mean(&name, known.iter().map(String::as_str));
            let span = module.attr_span(op, key);
            self.found.push(Diagnostic::error(&codes::UNDEFINED_SYMBOL, span, message).maybe_help(help));
        });
    }

    fn names_around(&self, op: OpId) -> Vec<String> {
        let module = self.module;
        let tables = module.ancestors(op).skip(1).filter_map(|table| module.symbol_table(table));
        tables.flat_map(|table| table.iter().map(|(name, _)| format!("@{}", module.text(name)))).collect()
    }

    // 7.
    fn types_of(&mut self, op: OpId) {
        let module = self.module;
        let inner = module.regions(op).flat_map(|region| module.blocks(region));
        let arguments = inner.flat_map(|&block| module.arguments(block).iter().copied());
        let values: Vec<ValueId> = module.results(op).chain(arguments).collect();
        for value in values {
            if let Err(message) = self.check_type(module.ty(value)) {
                self.found.push(Diagnostic::error(
                    &codes::TENSOR_TOO_LARGE,
                    module.value_span(value),
                    message,
                ));
            }
        }
    }

    fn attributes_of(&mut self, op: OpId) {
        let module = self.module;
        for &(key, attr) in module.attrs(op) {
            if let Err(message) = self.check_attr(attr) {
                let span = module.attr_span(op, module.text(key));
                self.found.push(Diagnostic::error(&codes::WRONG_ATTRIBUTE, span, message));
            }
        }
    }

    /// Says what is wrong with a type, once.
    fn check_type(&mut self, ty: Type) -> Result<(), String> {
        if self.types[ty] != Checked::Not {
            return Ok(());
        }
        let module = self.module;
        let result = match module.type_data(ty) {
            TypeData::Tensor(tensor) if tensor.bytes().is_some_and(|bytes| bytes > MAX_TENSOR_BYTES) => {
                Err(format!("`{}` needs more than 2^60 bytes", module.type_text(ty)))
            }
            TypeData::Tuple(items) => items.iter().try_for_each(|&item| self.check_type(item)),
            TypeData::Function(function) => {
                function.inputs.iter().chain(&function.results).try_for_each(|&item| self.check_type(item))
            }
            TypeData::Dialect(dialect) => {
                self.check_attr(dialect.params).and_then(|()| (dialect.def.verify)(module, dialect.params))
            }
            TypeData::Element(_) | TypeData::Tensor(_) | TypeData::Token | TypeData::Error => Ok(()),
        };
        self.types[ty] = if result.is_ok() { Checked::Good } else { Checked::Bad };
        result
    }

    fn check_attr(&mut self, attr: Attr) -> Result<(), String> {
        if self.attrs[attr] != Checked::Not {
            return Ok(());
        }
        let module = self.module;
        let result = match module.attr_data(attr) {
            AttrData::Type(ty) => self.check_type(*ty),
            AttrData::Dense(dense) => self.check_type(dense.ty),
            AttrData::Array(items) => items.iter().try_for_each(|&item| self.check_attr(item)),
            AttrData::Dict(entries) => entries.iter().try_for_each(|&(_, item)| self.check_attr(item)),
            AttrData::Pair(left, right) => self.check_attr(*left).and_then(|()| self.check_attr(*right)),
            AttrData::Dialect(dialect) => {
                self.check_attr(dialect.params).and_then(|()| (dialect.def.verify)(module, dialect.params))
            }
            _ => Ok(()),
        };
        self.attrs[attr] = if result.is_ok() { Checked::Good } else { Checked::Bad };
        result
    }

    // 6.
    fn meaning(&mut self, op: OpId) {
        let module = self.module;
        let def = module.def(op);
        let before = self.found.len();
        if def.syntax == Syntax::Function {
            self.signature(op);
        }
        if let Some(infer) = def.type_inference() {
            match infer(module, op) {
                Ok(types) => self.results(op, &types),
                Err(diagnostic) => self.found.push(diagnostic),
            }
        } else {
            check_results(module, op, &mut self.found);
        }
        if let (true, Some(verify)) = (self.found.len() == before, def.verification()) {
            verify(module, op, &mut self.found);
        }
    }

    fn results(&mut self, op: OpId, inferred: &[TypeData]) {
        let module = self.module;
        let name = module.def(op).written_name();
        if inferred.len() != module.result_count(op) {
            let message = format!(
                "`{name}` has {}, but {} follow from its operands",
                count(module.result_count(op), "result"),
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
                    named(module, result),
                    module.type_data_text(written),
                    module.type_data_text(inferred)
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

/// Whether a written type may stand where another follows: equal, or equal where both extents are known.
fn agree(written: &TypeData, inferred: &TypeData) -> bool {
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

/// Whether an op's operands, attributes and regions fit its definition. Results are not looked at: they may be missing
/// while their types are inferred.
pub(crate) fn check_shape_of_op(module: &Module, op: OpId) -> Result<(), Vec<Diagnostic>> {
    let mut found = Vec::new();
    check_operands(module, op, &mut found);
    check_attributes(module, op, &mut found);
    check_regions(module, op, &mut found);
    if found.is_empty() { Ok(()) } else { Err(found) }
}

fn check_operands(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
    let def = module.def(op);
    let forwarded: u32 = module.successors(op).iter().map(|successor| successor.argument_count).sum();
    let given = module.operand_count(op).saturating_sub(forwarded as usize);
    let Some(group) = group_size(def.operands, given) else {
        let message =
            format!("`{}` takes {}, but is given {given}", def.written_name(), expected(def.operands));
        found.push(module.error(op, &codes::WRONG_OPERAND_COUNT, message));
        return;
    };
    let mut wrong: Vec<ValueId> = Vec::new();
    for (index, spec) in expand(def.operands, group).enumerate() {
        let value = module.operand(op, index);
        let ty = module.value_type(value);
        // A value that is used twice is wrong once.
        if !(spec.class.contains)(ty) && !wrong.contains(&value) {
            wrong.push(value);
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
fn check_results(module: &Module, op: OpId, found: &mut Vec<Diagnostic>) {
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
        0 => count(fixed, "value"),
        1 if fixed == 0 => "any number of values".to_owned(),
        1 => format!("at least {}", count(fixed, "value")),
        lists if fixed == 0 => format!("{lists} lists of values of one length"),
        lists => format!("{} and {lists} lists of values of one length", count(fixed, "value")),
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
    if module.region_count(op) != def.regions.len() {
        let message = format!(
            "`{}` has {}, but is given {}",
            def.written_name(),
            count(def.regions.len(), "region"),
            module.region_count(op)
        );
        found.push(module.error(op, &codes::WRONG_REGIONS, message));
        return;
    }
    for (region, spec) in module.regions(op).zip(def.regions) {
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

fn count(number: usize, what: &str) -> String {
    match number {
        0 => format!("no {what}s"),
        1 => format!("one {what}"),
        _ => format!("{number} {what}s"),
    }
}

fn named(module: &Module, value: ValueId) -> String {
    match module.value_name(value) {
        Some(name) => format!("`%{}`", module.text(name)),
        None => module.value_text(value),
    }
}
