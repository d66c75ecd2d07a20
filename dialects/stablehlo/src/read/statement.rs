//! Statements: results, the op's name, and then what its form asks for.

use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, Span, codes, plural, suggest};
use tofu_dialect_func::RETURN;
use tofu_dialect_tensor::YIELD;
use tofu_ir::{Attr, AttrData, BlockId, Location, Name, OpDef, OpState, Type, ValueId};

use super::{
    Read, Reader,
    attributes::Written,
    earlier::{Rewrite, earlier},
    regions::Regions,
};
use crate::{
    dialect::{OPAQUE, OPAQUE_ATTRIBUTES, OPAQUE_NAME, OPAQUE_PROPERTIES},
    syntax::{Form, OpSyntax, foreign_name, full_name, own_name, syntax},
};

/// What the name of an op stands for.
#[derive(Clone, Copy)]
pub(super) struct Kind {
    pub(super) syntax: &'static OpSyntax,
    /// Our op. None if we do not have it.
    pub(super) def: Option<&'static OpDef>,
    /// How the op becomes one of ours where we have none of its kind.
    rewrite: Option<Rewrite>,
}

/// An attribute of an op of ours.
#[derive(Clone, Copy)]
pub(super) struct Entry {
    pub(super) name: Name,
    pub(super) attr: Attr,
    pub(super) span: Span,
}

/// An op while it is read.
pub(super) struct Op<'s> {
    pub(super) block: BlockId,
    pub(super) start: usize,
    pub(super) name: &'s str,
    pub(super) name_span: Span,
    /// Names, each with how many results it stands for.
    pub(super) results: SmallVec<[(&'s str, u32, Span); 2]>,
    pub(super) operands: SmallVec<[ValueId; 4]>,
    pub(super) operand_spans: SmallVec<[Span; 4]>,
    /// Attributes as StableHLO has them.
    pub(super) attributes: Vec<Written<'s>>,
    /// How many of them stand in `<{…}>`.
    pub(super) property_count: usize,
    /// Attributes as our op has them.
    pub(super) entries: SmallVec<[Entry; 4]>,
    pub(super) regions: Regions,
    pub(super) types: SmallVec<[Type; 4]>,
    pub(super) location: Option<Location>,
    /// Something in it was reported.
    pub(super) is_damaged: bool,
}

impl<'s> Reader<'s> {
    /// The whole text.
    pub(super) fn file(&mut self) {
        self.read_aliases();
        let body = self.module.body();
        loop {
            let next = self.next();
            if self.stopped || self.at >= self.aliases.end {
                return;
            }
            let start = self.at;
            let read = match next {
                b'#' | b'!' => self.alias_definition(),
                b'}' | b'^' => {
                    let (token, span) = self.token();
                    self.at += 1;
                    self.fail(&codes::SYNTAX, span, format!("{token} stands outside of any region"))
                }
                _ => {
                    self.statement(body);
                    continue;
                }
            };
            if read.is_err() {
                self.recover(start);
            }
        }
    }

    /// One op with all that is in it.
    pub(super) fn statement(&mut self, block: BlockId) {
        let start = self.at;
        if self.op(block).is_err() && !self.stopped {
            self.damage.blocks.insert(block);
            self.is_doubtful = false;
            self.recover(start);
        }
    }

    fn op(&mut self, block: BlockId) -> Read {
        let start = self.at;
        let mut results = SmallVec::new();
        if self.next() == b'%' {
            self.results(&mut results)?;
        }
        let first = self.next();
        let name_at = self.at;
        let name = match first {
            b'"' => {
                let quoted = self.quoted()?;
                &quoted[1..quoted.len() - 1]
            }
            _ => self.word("an op")?,
        };
        let name_at = name_at + usize::from(first == b'"');
        let mut op = Op {
            block,
            start,
            name,
            name_span: self.span(name_at, name_at + name.len()),
            results,
            operands: SmallVec::new(),
            operand_spans: SmallVec::new(),
            attributes: Vec::new(),
            property_count: 0,
            entries: SmallVec::new(),
            regions: Regions::default(),
            types: SmallVec::new(),
            location: None,
            is_damaged: false,
        };
        let kind = self.kind(name);
        if first == b'"' {
            self.generic(&mut op, kind)?
        } else {
            self.pretty(&mut op, kind)?
        }
        self.finish_op(op, kind);
        Ok(())
    }

    /// `%a, %b:2 =`.
    fn results(&mut self, results: &mut SmallVec<[(&'s str, u32, Span); 2]>) -> Read {
        loop {
            if self.next() != b'%' {
                return self.expected("a value (`%name`)");
            }
            let start = self.at;
            let name = self.name_after_sigil();
            let span = self.span(start, self.at);
            let mut count = 1;
            if self.take(b':') {
                let written = self.integer()?;
                count = match u32::try_from(written) {
                    Ok(count @ 1..) => count,
                    _ => {
                        let message = format!("a name cannot stand for {written} results");
                        return self.fail(&codes::WRONG_RESULT_COUNT, self.span(start, self.at), message);
                    }
                };
            }
            results.push((name, count, span));
            if !self.take(b',') {
                return self.expect(b'=');
            }
        }
    }

    /// What the op called `name` is.
    pub(super) fn kind(&mut self, name: &'s str) -> Kind {
        if let Some(&kind) = self.kinds.get(name) {
            return kind;
        }
        let (own, rewrite) = match earlier(full_name(name)) {
            Some((target, rewrite)) => (Some(target), Some(rewrite)),
            None => (own_name(name), None),
        };
        let def = own.as_ref().and_then(|own| self.module.registry().op(own));
        let kind = Kind { syntax: syntax(full_name(name)), def, rewrite: rewrite.filter(|_| def.is_some()) };
        self.kinds.insert(name, kind);
        kind
    }

    /// Makes the op that was read and puts it into its block.
    fn finish_op(&mut self, mut op: Op<'s>, kind: Kind) {
        op.is_damaged |= std::mem::take(&mut self.is_doubtful);
        self.translate(&mut op, kind);
        if let Some(rewrite) = kind.rewrite
            && !op.is_damaged
        {
            op.is_damaged = rewrite(self, &mut op).is_err();
        }
        if kind.syntax.form == Form::Rng && kind.def.is_some() {
            self.shapes.extend(op.operands.get(2).and_then(|&shape| self.module.defining_op(shape)));
            op.operands.truncate(2);
            op.operand_spans.truncate(2);
        }
        let def = match kind.def {
            Some(def) if std::ptr::eq(def, &YIELD) && self.depth == self.function_depth => &RETURN,
            Some(def) if op.is_damaged => def,
            Some(def) => self.of_known_shape(&mut op, def).unwrap_or(def),
            None => self.unknown_op(&mut op),
        };
        let named = op.results.iter().map(|&(_, count, _)| count as usize).sum::<usize>();
        let count = op.types.len();
        if named != count && named > 0 {
            let message = format!("{} named, but {} written", plural(named, "result"), plural(count, "type"));
            self.error(&codes::WRONG_RESULT_COUNT, op.results[0].2, message);
            op.is_damaged = true;
        }
        let count = if named > 0 { named.min(u16::MAX.into()) } else { count };
        let mut state = OpState::new(def).regions(op.regions.len() as u16);
        state.operands = op.operands;
        state.results = if op.is_damaged {
            SmallVec::from_elem(self.error_type, count)
        } else {
            op.types.into_iter().collect()
        };
        state.location = op.location;
        let text = |entry: &Entry| self.module.text(entry.name);
        op.entries.sort_by(|a, b| text(a).cmp(text(b)));
        let spans: SmallVec<[Span; 4]> = op.entries.iter().map(|entry| entry.span).collect();
        if !op.entries.is_empty() {
            let entries = op.entries.iter().map(|entry| (entry.name, entry.attr)).collect();
            state.attrs = Some(self.module.interner.attr(AttrData::Dict(entries)));
        }
        let made = self.module.create(state);
        op.regions.attach(&mut self.module, made);
        let whole = self.span(op.start, self.end());
        self.module.set_spans(made, op.name_span, whole, &op.operand_spans, &spans);
        self.module.append(op.block, made);
        if op.is_damaged {
            self.damage.ops.insert(made);
            self.damage.blocks.insert(op.block);
        }
        self.define_results(made, &op.results);
    }

    /// What stands for an op that we do not have: the same op, opaque, or else one that is reported and given up.
    fn unknown_op(&mut self, op: &mut Op<'s>) -> &'static OpDef {
        if !self.options.allow_unregistered {
            let diagnostic = self.unknown(op.name, op.name_span);
            self.report(diagnostic);
            op.is_damaged = true;
            return &OPAQUE;
        }
        let interner = &mut self.module.interner;
        let mut entries: Vec<_> = op.entries.drain(..).map(|entry| (entry.name, entry.attr)).collect();
        let others = entries.split_off(op.property_count.min(entries.len()));
        let name = interner.string(full_name(op.name));
        op.push(interner.name(OPAQUE_NAME), name, op.name_span);
        for (key, entries) in [(OPAQUE_PROPERTIES, entries), (OPAQUE_ATTRIBUTES, others)] {
            if !entries.is_empty() {
                let attributes = interner.dict(&entries);
                op.push(interner.name(key), attributes, op.name_span);
            }
        }
        &OPAQUE
    }

    /// Says that there is no op of this name.
    pub(super) fn unknown(&self, name: &str, span: Span) -> Diagnostic {
        let registry = self.module.registry();
        let known: Vec<String> = registry.op_names().filter_map(foreign_name).collect();
        let help = suggest::did_you_mean(name, known.iter().map(String::as_str));
        let dialect = name.split_once('.').map(|(dialect, _)| dialect);
        // That of ours for tensors is another one than MLIR's, and is not written here.
        let is_known = |dialect: &str| match dialect {
            "chlo" => true,
            "tensor" => false,
            _ => registry.dialect(dialect).is_some(),
        };
        match dialect.filter(|dialect| !is_known(dialect)) {
            Some(dialect) => {
                let message = format!("there is no dialect `{dialect}`");
                Diagnostic::error(&codes::UNKNOWN_DIALECT, span, message).maybe_help(help)
            }
            None => Diagnostic::error(&codes::UNKNOWN_OP, span, format!("there is no op `{name}`"))
                .maybe_help(help),
        }
    }
}

impl Op<'_> {
    /// Adds an attribute of our op.
    pub(super) fn push(&mut self, name: Name, attr: Attr, span: Span) {
        self.entries.push(Entry { name, attr, span });
    }

    /// Adds an operand.
    pub(super) fn operand(&mut self, (value, span): (ValueId, Span)) {
        self.operands.push(value);
        self.operand_spans.push(span);
    }
}
