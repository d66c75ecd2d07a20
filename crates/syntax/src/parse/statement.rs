//! Statements: ops with all that is in them.

use pest::Parser as _;
use pest::iterators::Pair;
use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, Span, codes, plural, suggest};
use tofu_ir::{
    ANY_TYPE, ARGUMENT_ATTRIBUTES, Attr, AttrData, BlockId, DialectAttr, FUNCTION_TYPE, FunctionType, Name,
    OpDef, OpId, OpState, RESULT_ATTRIBUTES, SYMBOL_NAME, Successor, Syntax, Trait, Type, VALUE, any, op,
};

use super::recover::assigned_names;
use super::region::{Frame, Labels};
use super::types::OUTERMOST_DEPTH;
use super::{Grammar, Parser, Rule};
use crate::foreign::{End, end_of, leading_word};

/// What stands for an op whose name means nothing, so that what is in it can be read. It never leaves the parser.
pub(super) static UNKNOWN: OpDef = op("builtin.unknown")
    .operands(&[any("operands").class(ANY_TYPE).variadic()])
    .traits(&[Trait::NoTerminator]);

/// The parts of a statement's head.
#[derive(Default)]
pub(super) struct Head<'s> {
    pub(super) name: &'s str,
    pub(super) name_span: Span,
    pub(super) results: SmallVec<[(&'s str, Span); 2]>,
    operands: SmallVec<[(&'s str, Span); 4]>,
    pub(super) successors: Vec<(&'s str, Span, usize)>,
    pub(super) entries: Vec<Entry>,
    parameters: Vec<ParameterHead<'s>>,
    pub(super) types: Option<SmallVec<[Type; 2]>>,
    types_span: Span,
    pub(super) location: Option<tofu_ir::Location>,
    /// Where the part ends that is the op's own, its name and operands, in bytes of the text; zero if what follows is
    /// not worth keeping.
    pub(super) beginning_end: usize,
    /// Something in it was reported.
    pub(super) is_damaged: bool,
}

/// One attribute of an op, and where it is written.
pub(super) struct Entry {
    pub(super) name: Name,
    pub(super) attr: Attr,
    pub(super) span: Span,
}

pub(super) struct ParameterHead<'s> {
    pub(super) name: &'s str,
    pub(super) span: Span,
    pub(super) ty: Type,
}

impl<'s> Parser<'s> {
    /// The whole text.
    pub(super) fn file(&mut self) {
        let body = self.module.body();
        loop {
            self.skip_blank();
            if self.stopped || self.at >= self.text.len() {
                return;
            }
            if self.text[self.at..].starts_with(['}', '^']) {
                let (token, end) = self.token_at(self.at);
                let message = format!("{token} stands outside of any region");
                self.error(&codes::SYNTAX, self.span(self.at, end), message);
                self.at = end;
                self.skip_line();
                continue;
            }
            self.statement(body, &mut Labels::default());
        }
    }

    fn skip_line(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
    }

    /// One op with all that is in it.
    pub(super) fn statement(&mut self, block: BlockId, labels: &mut Labels<'s>) {
        let start = self.at;
        let (rule, def) = self.expected_head();
        if let Some(head) = self.known_head(rule) {
            return self.plain_op(block, start, head, labels);
        }
        let text: &'s str = self.text;
        let statement = match Grammar::parse(rule, &text[start..]) {
            Ok(statement) => statement,
            Err(error) => return self.damaged_statement(block, start, def, &error),
        };
        let mut head = Head::default();
        for part in statement.flat_map(Pair::into_inner) {
            self.at = start + part.as_span().end();
            match part.as_rule() {
                Rule::location => head.location = self.location(start, part),
                _ => self.head(start, part, &mut head),
            }
        }
        if let Some((def, Syntax::Text(attribute))) = def.map(|def| (def, def.syntax)) {
            return self.text_op(block, start, head, def, attribute);
        }
        if !matches!(rule, Rule::uniform_statement | Rule::value_statement) {
            head.beginning_end = 0;
        }
        let next = &self.text[self.at..];
        let opens_body = def.is_some_and(has_body) && next.trim_start_matches([' ', '\t']).starts_with('{');
        if !opens_body && let Some(diagnostic) = self.next_on_line() {
            self.report(diagnostic);
            return self.skip_damaged(block, start, self.at, def);
        }
        match rule {
            Rule::body_statement | Rule::function_statement => self.symbol_op(block, start, head, def),
            _ => self.plain_op(block, start, head, labels),
        }
    }

    /// Says so if more follows on the line of an op that ends at the current place: a missing comma, say, would make two
    /// ops of one.
    fn next_on_line(&self) -> Option<Diagnostic> {
        let rest = &self.text[self.at..];
        let next = rest.trim_start_matches([' ', '\t']);
        if next.is_empty() || next.starts_with(['\n', '\r', '/', '}', '(', '^']) {
            return None;
        }
        let is_op = self.module.registry().op(leading_word(next)).is_some();
        if is_op || assigned_names(next).is_some() {
            return None;
        }
        let at = self.at + rest.len() - next.len();
        let (token, end) = self.token_at(at);
        let line = next.lines().next().unwrap_or("").trim_end();
        // The operands go on into the results of the next op.
        if next.starts_with('%') && line.ends_with(',') {
            let comma = at + line.len() - 1;
            let message = "expected a value (`%name`) after `,`, found the end of the line";
            return Some(Diagnostic::error(&codes::SYNTAX, self.span(comma, comma + 1), message));
        }
        let message = format!("expected the rest of this op or the end of the line, found {token}");
        Some(Diagnostic::error(&codes::SYNTAX, self.span(at, end), message))
    }

    /// Which rule fits the statement at the current place: it follows from the op's name, which is looked at first.
    fn expected_head(&self) -> (Rule, Option<&'static OpDef>) {
        let rest = &self.text[self.op_name_at()..];
        if rest.starts_with('"') {
            return (Rule::generic_statement, None);
        }
        let name = leading_word(rest);
        let def = self.module.registry().op(name);
        let rule = match def.map_or(Syntax::Uniform, |def| def.syntax) {
            Syntax::Uniform => Rule::uniform_statement,
            Syntax::Symbol(_) => Rule::symbol_statement,
            // The value may stand among the attributes, too.
            Syntax::Value if rest[name.len()..].trim_start().starts_with(['{', '(', ':']) => {
                Rule::uniform_statement
            }
            Syntax::Value => Rule::value_statement,
            Syntax::Body => Rule::body_statement,
            Syntax::Function => Rule::function_statement,
            Syntax::Definition(_) => Rule::definition_statement,
            Syntax::Text(_) => Rule::text_statement,
        };
        (rule, def)
    }

    /// Where the name of the op at the current place should stand: after results.
    fn op_name_at(&self) -> usize {
        let mut rest = &self.text[self.at..];
        let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        while let Some(after) = rest.strip_prefix('%') {
            rest = after.trim_start_matches(is_inner).trim_start_matches([' ', '\t']);
            rest = rest.strip_prefix([',', '=']).unwrap_or(rest).trim_start_matches([' ', '\t', '\n', '\r']);
        }
        self.text.len() - rest.len()
    }

    fn damaged_statement(
        &mut self,
        block: BlockId,
        start: usize,
        def: Option<&'static OpDef>,
        error: &pest::error::Error<Rule>,
    ) {
        let (mut diagnostic, failed) = self.grammar_error(start, error);
        let name_at = self.op_name_at();
        let name = leading_word(&self.text[name_at..]);
        if def.is_none() && name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            // That the rest of the line does not fit may well be a consequence.
            diagnostic = self.unknown_op(name, self.span(name_at, name_at + name.len()));
        } else if def.is_some_and(is_item) && name_at > start {
            let message = format!("`{name}` has no results");
            diagnostic = Diagnostic::error(&codes::SYNTAX, self.span(start, name_at), message);
        }
        self.report(diagnostic);
        self.skip_damaged(block, start, failed.max(name_at), def);
    }

    /// Goes on after a statement that could not be read beyond `failed`.
    fn skip_damaged(&mut self, block: BlockId, start: usize, failed: usize, def: Option<&'static OpDef>) {
        self.damage(block);
        let line_end = self.text[failed..].find('\n').map_or(self.text.len(), |end| failed + end);
        let line = self.text[start..line_end].trim_end();
        if def.is_none_or(has_body) && line.ends_with('{') {
            self.damaged_body(block, start, start + line.len(), def.unwrap_or(&UNKNOWN));
        } else if def.is_some_and(has_text) {
            self.skip_text(start, failed);
        } else {
            self.recover(start, failed);
        }
    }

    /// Reads the body of a function or module whose head is damaged, for the mistakes in it.
    fn damaged_body(&mut self, block: BlockId, start: usize, brace_end: usize, def: &'static OpDef) {
        for (found, _) in self.text[start..brace_end].match_indices('@') {
            let symbol = self.module.interner.name(leading_word(&self.text[start + found + 1..brace_end]));
            self.damage.symbols.insert(symbol);
        }
        let op = self.module.create(OpState::new(def).regions(1));
        self.damage.ops.insert(op);
        self.module.append(block, op);
        let name = self.span(start, self.token_at(start).1);
        self.module.set_spans(op, name, Span::NONE, &[], &[]);
        self.at = brace_end;
        self.open_scope(true);
        let entry = self.module.append_block(self.module.region(op, 0));
        self.damage(entry);
        let frame = Frame { op: start, holds_items: def.has(Trait::SymbolTable), in_parentheses: false };
        self.region(frame, self.module.region(op, 0), Some(entry));
        self.close_scope();
    }

    pub(super) fn head(&mut self, base: usize, pair: Pair<'s, Rule>, head: &mut Head<'s>) {
        for part in pair.into_inner() {
            let span = self.pair_span(base, &part);
            if matches!(part.as_rule(), Rule::op_name | Rule::bare_operands) {
                head.beginning_end = base + part.as_span().end();
            }
            match part.as_rule() {
                Rule::results => {
                    let values = part.into_inner();
                    head.results =
                        values.map(|value| (&value.as_str()[1..], self.pair_span(base, &value))).collect();
                }
                Rule::op_name => (head.name, head.name_span) = (part.as_str(), span),
                Rule::quoted => (head.name, head.name_span) = (part.as_str().trim_matches('"'), span),
                Rule::bare_operands => {
                    for value in part.into_inner() {
                        match value.as_rule() {
                            Rule::operands => self.values(base, value, &mut head.operands),
                            _ => head.operands.push((&value.as_str()[1..], self.pair_span(base, &value))),
                        }
                    }
                }
                Rule::operands => self.values(base, part, &mut head.operands),
                Rule::successors => {
                    for successor in part.into_inner() {
                        let mut parts = successor.into_inner();
                        let Some(block) = parts.next() else { continue };
                        let before = head.operands.len();
                        if let Some(arguments) = parts.next() {
                            self.values(base, arguments, &mut head.operands);
                        }
                        let span = self.pair_span(base, &block);
                        head.successors.push((&block.as_str()[1..], span, head.operands.len() - before));
                    }
                }
                Rule::dict => self.head_entries(base, part, head),
                Rule::attributes => {
                    for dict in part.into_inner() {
                        self.head_entries(base, dict, head);
                    }
                }
                Rule::symbol => {
                    let attr = self.symbol_attr(&part);
                    self.add_entry(head, SYMBOL_NAME, attr, span);
                }
                Rule::symbol_path => {
                    let attr = self.symbol_attr(&part);
                    if let Some(Syntax::Symbol(name)) =
                        self.module.registry().op(head.name).map(|def| def.syntax)
                    {
                        self.add_entry(head, name, attr, span);
                    }
                }
                Rule::definition => self.head_definition(base, part, head),
                Rule::parameters => self.head_parameters(base, part, head),
                Rule::function_results => self.head_results(base, part, head),
                Rule::types => self.head_types(base, part, head),
                Rule::dense => {
                    // The type comes last; the constant is read again when it is known.
                    head.types_span = span;
                }
                _ => {}
            }
        }
    }

    fn values(&self, base: usize, pair: Pair<'s, Rule>, out: &mut SmallVec<[(&'s str, Span); 4]>) {
        out.extend(pair.into_inner().map(|value| (&value.as_str()[1..], self.pair_span(base, &value))));
    }

    pub(super) fn pair_span(&self, base: usize, pair: &Pair<'_, Rule>) -> Span {
        let span = pair.as_span();
        self.span(base + span.start(), base + span.end())
    }

    fn head_entries(&mut self, base: usize, dict: Pair<'s, Rule>, head: &mut Head<'s>) {
        match self.entries(base, dict) {
            Some(entries) => head.entries.extend(entries),
            None => head.is_damaged = true,
        }
    }

    fn add_entry(&mut self, head: &mut Head<'s>, name: &str, attr: Attr, span: Span) {
        let key = self.module.interner.name(name);
        head.entries.push(Entry { name: key, attr, span });
    }

    /// `[…]`: the parameters of the attribute that the op defines.
    fn head_definition(&mut self, base: usize, pair: Pair<'s, Rule>, head: &mut Head<'s>) {
        let span = self.pair_span(base, &pair);
        let def = self.module.registry().op(head.name);
        let Some((def, Syntax::Definition(attribute))) = def.map(|def| (def, def.syntax)) else { return };
        let of = self.module.registry().parametric_attr(&def.defining_attribute(attribute));
        let params = of.zip(pair.into_inner().next()).and_then(|(of, raw)| {
            let at = base + raw.as_span().start();
            Some(DialectAttr { def: of, params: self.parameters_of(of, raw.as_str(), at, span, 0)? })
        });
        match params {
            Some(defined) => {
                let attr = self.module.interner.attr(AttrData::Dialect(defined));
                self.add_entry(head, attribute, attr, span);
            }
            None => head.is_damaged = true,
        }
    }

    fn head_parameters(&mut self, base: usize, pair: Pair<'s, Rule>, head: &mut Head<'s>) {
        let mut dicts = Vec::new();
        for parameter in pair.into_inner() {
            let (parsed, dict) = self.parameter(base, parameter, head);
            head.parameters.push(parsed);
            dicts.push(dict);
        }
        self.add_dictionaries(head, ARGUMENT_ATTRIBUTES, &dicts);
    }

    pub(super) fn parameter(
        &mut self,
        base: usize,
        pair: Pair<'s, Rule>,
        head: &mut Head<'s>,
    ) -> (ParameterHead<'s>, Option<Attr>) {
        let mut parsed = ParameterHead { name: "", span: Span::NONE, ty: self.error_type };
        let mut dict = None;
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::value => {
                    (parsed.name, parsed.span) = (&part.as_str()[1..], self.pair_span(base, &part));
                }
                Rule::ty => parsed.ty = self.head_type(base, &part, head),
                Rule::dict => dict = self.head_dict(base, part, head),
                _ => {}
            }
        }
        (parsed, dict)
    }

    fn head_type(&mut self, base: usize, pair: &Pair<'s, Rule>, head: &mut Head<'s>) -> Type {
        self.ty(base, pair, OUTERMOST_DEPTH).unwrap_or_else(|| {
            head.is_damaged = true;
            self.error_type
        })
    }

    fn head_dict(&mut self, base: usize, pair: Pair<'s, Rule>, head: &mut Head<'s>) -> Option<Attr> {
        let dict = self.dict(base, pair);
        head.is_damaged |= dict.is_none();
        dict
    }

    fn add_dictionaries(&mut self, head: &mut Head<'s>, name: &str, dicts: &[Option<Attr>]) {
        let empty = self.module.interner.empty_dict();
        if dicts.iter().any(|dict| dict.is_some_and(|dict| dict != empty)) {
            let items = dicts.iter().map(|dict| dict.unwrap_or(empty)).collect();
            let attr = self.module.interner.attr(AttrData::Array(items));
            self.add_entry(head, name, attr, head.name_span);
        }
    }

    fn head_results(&mut self, base: usize, pair: Pair<'s, Rule>, head: &mut Head<'s>) {
        let mut types = SmallVec::new();
        let mut dicts = Vec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::ty => types.push(self.head_type(base, &part, head)),
                _ => {
                    for part in part.into_inner() {
                        match part.as_rule() {
                            Rule::ty => {
                                types.push(self.head_type(base, &part, head));
                                dicts.push(None);
                            }
                            _ => {
                                let dict = self.head_dict(base, part, head);
                                if let Some(last) = dicts.last_mut() {
                                    *last = dict;
                                }
                            }
                        }
                    }
                }
            }
        }
        head.types = Some(types);
        self.add_dictionaries(head, RESULT_ATTRIBUTES, &dicts);
    }

    fn head_types(&mut self, base: usize, pair: Pair<'s, Rule>, head: &mut Head<'s>) {
        let mut types = SmallVec::new();
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::ty => types.push(self.head_type(base, &part, head)),
                _ => {
                    for ty in part.into_inner() {
                        types.push(self.head_type(base, &ty, head));
                    }
                }
            }
        }
        head.types = Some(types);
    }

    // Ops.

    /// An op in the uniform form, or one with a leading symbol or value; its regions follow in parentheses.
    fn plain_op(&mut self, block: BlockId, start: usize, mut head: Head<'s>, labels: &mut Labels<'s>) {
        let def = self.op_def(&mut head);
        let dense_span = std::mem::take(&mut head.types_span);
        if !dense_span.is_none() {
            self.leading_constant(&mut head, dense_span);
        }
        self.keep_tail(&head);
        let mut regions = Vec::new();
        if self.opens_regions() {
            // The op must exist before its regions, and its regions must be counted before it does.
            let isolated = def.has(Trait::Isolated);
            if isolated {
                self.open_scope(false);
            }
            let is_whole;
            (regions, is_whole) = self.detached_regions(start, def);
            if isolated {
                self.close_scope();
            }
            if self.stopped {
                return;
            }
            head.is_damaged |= !is_whole;
            self.trailing(&mut head);
        }
        let op = self.make_op(def, &mut head, regions.len(), labels);
        for (index, blocks) in regions.into_iter().enumerate() {
            let region = self.module.region(op, index);
            for block in blocks {
                self.module.attach_block(region, block);
            }
        }
        self.place(block, start, op, &head);
        self.name_results(op, &head);
    }

    fn op_def(&mut self, head: &mut Head<'s>) -> &'static OpDef {
        if let Some(def) = self.module.registry().op(head.name) {
            return def;
        }
        head.is_damaged = true;
        let diagnostic = self.unknown_op(head.name, head.name_span);
        self.report(diagnostic);
        &UNKNOWN
    }

    fn unknown_op(&self, name: &str, span: Span) -> Diagnostic {
        let registry = self.module.registry();
        let help = suggest::did_you_mean(name, registry.op_names());
        let dialect = name.split_once('.').map(|(dialect, _)| dialect);
        match dialect.filter(|dialect| registry.dialect(dialect).is_none()) {
            Some(dialect) => {
                let known = registry.dialects().iter().map(|dialect| dialect.name);
                let help = suggest::did_you_mean(dialect, known).or(help);
                let message = format!("there is no dialect `{dialect}`");
                Diagnostic::error(&codes::UNKNOWN_DIALECT, span, message).maybe_help(help)
            }
            None => {
                let message = format!("there is no op `{name}`");
                Diagnostic::error(&codes::UNKNOWN_OP, span, message).maybe_help(help)
            }
        }
    }

    /// Reads the constant of `tensor.constant dense<…> : type`, now that the type is known.
    fn leading_constant(&mut self, head: &mut Head<'s>, span: Span) {
        let Some([ty]) = head.types.as_deref().and_then(|types| <[Type; 1]>::try_from(types).ok()) else {
            let message = "a constant needs one result type: `: tensor<…>`";
            self.error(&codes::CANNOT_INFER_TYPE, head.name_span, message);
            head.is_damaged = true;
            return;
        };
        let (start, end) = ((span.start - self.base) as usize, (span.end - self.base) as usize);
        let written = &self.text[start..end];
        let open = written.find('<').map_or(written.len(), |at| at + 1);
        let body = written[open..].strip_suffix('>').unwrap_or("");
        match self.dense(body, start + open, ty) {
            Some(attr) => self.add_entry(head, VALUE, attr, span),
            None => head.is_damaged = true,
        }
    }

    /// Types and location after regions.
    fn trailing(&mut self, head: &mut Head<'s>) {
        let end = self.at;
        self.skip_blank();
        let start = self.at;
        let text: &'s str = self.text;
        match Grammar::parse(Rule::tail_statement, &text[start..]) {
            Ok(pairs) => {
                self.at = end;
                for part in pairs.flat_map(Pair::into_inner).filter(|part| !part.as_str().is_empty()) {
                    self.at = start + part.as_span().end();
                    match part.as_rule() {
                        Rule::location => head.location = self.location(start, part),
                        _ => self.head(start, part, head),
                    }
                }
                if let Some(diagnostic) = self.next_on_line() {
                    let failed = self.at;
                    self.report(diagnostic);
                    head.is_damaged = true;
                    self.recover(start, failed);
                }
            }
            Err(error) => {
                let (diagnostic, failed) = self.grammar_error(start, &error);
                self.report(diagnostic);
                head.is_damaged = true;
                self.recover(start, failed);
            }
        }
    }

    fn make_op(
        &mut self,
        def: &'static OpDef,
        head: &mut Head<'s>,
        regions: usize,
        labels: &mut Labels<'s>,
    ) -> OpId {
        let mut state = OpState::new(def).regions(u16::try_from(regions).unwrap_or(u16::MAX));
        for &(name, span) in &head.operands {
            state.operands.push(self.use_value(name, span));
        }
        for &(name, span, argument_count) in &head.successors {
            let block = self.label(labels, name, span);
            state.successors.push(Successor { block, argument_count: argument_count as u32 });
        }
        let is_pending = head.types.is_none() && !head.is_damaged;
        let result_count = match &head.types {
            Some(types) if head.results.is_empty() || head.results.len() == types.len() => types.len(),
            Some(types) => {
                let named = plural(head.results.len(), "result");
                let message = format!("{named} named, but {} written", plural(types.len(), "type"));
                let span = head.results.first().map_or(head.name_span, |result| result.1);
                head.is_damaged = true;
                self.error(&codes::WRONG_RESULT_COUNT, span, message);
                head.results.len()
            }
            None => head.results.len(),
        };
        state.results = match &head.types {
            Some(types) if !head.is_damaged => types.clone(),
            _ => std::iter::repeat_n(self.error_type, result_count).collect(),
        };
        self.sort_entries(&mut head.entries);
        if !head.entries.is_empty() {
            state.attrs = Some(self.interned_dict(&head.entries));
        }
        state.location = head.location;
        let op = self.module.create(state);
        if head.is_damaged {
            self.damage.ops.insert(op);
        } else if is_pending && (result_count > 0 || def.type_inference().is_some()) {
            self.pending.push(op);
        }
        op
    }

    /// Puts a read op into its block and records where it was written.
    fn place(&mut self, block: BlockId, start: usize, op: OpId, head: &Head<'s>) {
        let operand_spans: SmallVec<[Span; 4]> = head.operands.iter().map(|operand| operand.1).collect();
        let attr_spans: SmallVec<[Span; 4]> = head.entries.iter().map(|entry| entry.span).collect();
        let whole = self.span(start, self.at);
        self.module.set_spans(op, head.name_span, whole, &operand_spans, &attr_spans);
        self.module.append(block, op);
        if head.is_damaged {
            self.damage(block);
        }
    }

    fn name_results(&mut self, op: OpId, head: &Head<'s>) {
        for (index, &(name, span)) in head.results.iter().enumerate() {
            if index < self.module.result_count(op) {
                let value = self.module.result(op, index);
                self.define_value(name, value, span);
            }
        }
    }

    /// `module @m { … }`, `func @f(…) -> … { … }`.
    fn symbol_op(&mut self, block: BlockId, start: usize, mut head: Head<'s>, def: Option<&'static OpDef>) {
        let Some(def) = def else { return };
        if def.syntax == Syntax::Function {
            let function = FunctionType {
                inputs: head.parameters.iter().map(|parameter| parameter.ty).collect(),
                results: head.types.take().unwrap_or_default().into_iter().collect(),
            };
            let ty = self.module.interner.ty(function);
            let attr = self.module.interner.attr(AttrData::Type(ty));
            let span = head.name_span;
            self.add_entry(&mut head, FUNCTION_TYPE, attr, span);
        }
        // No results: nothing waits for types.
        head.types = Some(SmallVec::new());
        let op = self.make_op(def, &mut head, 1, &mut Labels::default());
        let region = self.module.region(op, 0);
        if self.opens_body(start) {
            if def.has(Trait::Isolated) {
                self.open_scope(false);
            }
            let entry = self.module.append_block(region);
            for parameter in &head.parameters {
                let value = self.module.append_argument(entry, parameter.ty);
                self.define_value(parameter.name, value, parameter.span);
            }
            let frame = Frame { op: start, holds_items: def.has(Trait::SymbolTable), in_parentheses: false };
            self.region(frame, region, Some(entry));
            if def.has(Trait::Isolated) {
                self.close_scope();
            }
            self.location_after_body(op);
        }
        self.place(block, start, op, &head);
    }

    /// `tdl @f(…) -> … { … }`: the text behind the name is the dialect's.
    fn text_op(
        &mut self,
        block: BlockId,
        start: usize,
        mut head: Head<'s>,
        def: &'static OpDef,
        attribute: &'static str,
    ) {
        let text_start = self.at;
        let Some(end) = self.text_end(start, text_start) else {
            self.damage(block);
            return self.skip_text(start, text_start);
        };
        let text = self.module.interner.attr(AttrData::String(self.text[text_start..end].into()));
        let span = self.span(text_start, end);
        self.add_entry(&mut head, attribute, text, span);
        // No results: nothing waits for types.
        head.types = Some(SmallVec::new());
        let op = self.make_op(def, &mut head, 0, &mut Labels::default());
        self.at = end;
        self.location_after_body(op);
        self.place(block, start, op, &head);
    }

    /// Where the text that begins at `text_start` and belongs to the op at `start` ends; reports that it does not.
    fn text_end(&mut self, start: usize, text_start: usize) -> Option<usize> {
        match end_of(self.text, text_start, || self.indent_of(start), self.module.registry()) {
            End::Closed(end) => Some(end),
            End::Open { at, has_brace: true } => {
                self.report_unclosed("a body", start, at);
                None
            }
            End::Open { at, has_brace: false } => {
                self.report_missing_body(start, at);
                None
            }
        }
    }

    /// Moves behind a text, as far as it goes, that was read up to `failed`.
    fn skip_text(&mut self, start: usize, failed: usize) {
        let (End::Closed(end) | End::Open { at: end, .. }) =
            end_of(self.text, failed, || self.indent_of(start), self.module.registry());
        self.at = end;
        self.assume_definitions(start, end);
    }

    /// Takes the brace of a body. A line that stands deeper than the op at `start` shows that a brace is missing.
    fn opens_body(&mut self, start: usize) -> bool {
        let end = self.at;
        self.skip_blank();
        let rest = &self.text[self.at..];
        if rest.starts_with('{') {
            self.at += 1;
            return true;
        }
        let on_next_line = self.text[end..self.at].contains('\n');
        let is_missing =
            on_next_line && !rest.starts_with('}') && self.indent_of(self.at) > self.indent_of(start);
        if is_missing {
            self.report_missing_body(start, self.at);
        }
        is_missing
    }

    /// Says that the body of the op at `start` is missing before `at`.
    fn report_missing_body(&mut self, start: usize, at: usize) {
        let (token, place) = self.token_place(at);
        let message = format!("expected `{{` and the body of the op, found {token}");
        self.report(
            Diagnostic::error(&codes::SYNTAX, place, message)
                .secondary(self.span(start, self.token_at(start).1), "the op starts here")
                .help(
                    "add `{` at the end of the line before; a line within a body stands deeper than its op",
                ),
        );
    }

    fn location_after_body(&mut self, op: OpId) {
        let end = self.at;
        self.skip_blank();
        let rest = &self.text[self.at..];
        let is_location = leading_word(rest) == "loc" && rest["loc".len()..].trim_start().starts_with('(');
        if !is_location {
            self.at = end;
            return;
        }
        let mut head = Head::default();
        self.trailing(&mut head);
        if let Some(location) = head.location {
            self.module.set_location(op, location);
        }
    }
}

/// Whether a region in braces follows an op's head.
fn has_body(def: &OpDef) -> bool {
    matches!(def.syntax, Syntax::Body | Syntax::Function)
}

/// Whether an op is written as an item without results.
fn is_item(def: &OpDef) -> bool {
    has_body(def) || has_text(def) || matches!(def.syntax, Syntax::Definition(_))
}

/// Whether text in another language follows an op's name.
fn has_text(def: &OpDef) -> bool {
    matches!(def.syntax, Syntax::Text(_))
}
