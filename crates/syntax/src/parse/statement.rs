//! Items, blocks, regions and the statements in them.

use pest::Parser as _;
use pest::iterators::Pair;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::{
    ANY_TYPE, ARGUMENT_ATTRIBUTES, Attr, AttrData, BlockId, FUNCTION_TYPE, FunctionType, MAX_REGION_DEPTH,
    Name, OpDef, OpId, OpState, RESULT_ATTRIBUTES, RegionId, SYMBOL_NAME, Successor, Syntax, Trait, Type,
    VALUE, any, op,
};

use super::{Grammar, Parser, Rule, recover::leading_word};
use crate::print::is_block_number;

/// What stands for an op whose name means nothing, so that what is in it can be read. It never leaves the parser.
static UNKNOWN: OpDef = op("builtin.unknown").operands(&[any("operands").class(ANY_TYPE).variadic()]);

/// The parts of a statement's head.
#[derive(Default)]
struct Head<'s> {
    name: &'s str,
    name_span: Span,
    results: SmallVec<[(&'s str, Span); 2]>,
    operands: SmallVec<[(&'s str, Span); 4]>,
    successors: Vec<(&'s str, Span, usize)>,
    entries: Vec<Entry>,
    parameters: Vec<ParameterHead<'s>>,
    types: Option<SmallVec<[Type; 2]>>,
    types_span: Span,
    location: Option<tofu_ir::Location>,
    /// Something in it was reported.
    is_damaged: bool,
}

/// One attribute of an op, and where it is written.
pub(super) struct Entry {
    pub(super) name: Name,
    pub(super) attr: Attr,
    pub(super) span: Span,
}

struct ParameterHead<'s> {
    name: &'s str,
    span: Span,
    ty: Type,
}

/// The blocks of a region by name; a use may come before the block.
#[derive(Default)]
struct Labels<'s> {
    blocks: FxHashMap<&'s str, Label>,
}

struct Label {
    block: BlockId,
    span: Span,
    is_defined: bool,
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
    fn statement(&mut self, block: BlockId, labels: &mut Labels<'s>) {
        let start = self.at;
        let (rule, def) = self.expected_head();
        let text: &'s str = self.text;
        let statement = match Grammar::parse(rule, &text[start..]) {
            Ok(statement) => statement,
            Err(error) => return self.damaged_statement(block, start, def, &error),
        };
        let mut head = Head::default();
        for part in statement.flat_map(Pair::into_inner) {
            self.at = start + part.as_span().end();
            match part.as_rule() {
                Rule::location => head.location = self.location(part),
                _ => self.head(start, part, &mut head),
            }
        }
        match rule {
            Rule::body_statement | Rule::function_statement => self.symbol_op(block, start, head, def),
            _ => self.plain_op(block, start, head, labels),
        }
    }

    /// Which rule fits the statement at the current place: it follows from the op's name, which is looked at first.
    fn expected_head(&self) -> (Rule, Option<&'static OpDef>) {
        let mut rest = &self.text[self.at..];
        let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        while let Some(after) = rest.strip_prefix('%') {
            rest = after.trim_start_matches(is_inner).trim_start_matches([' ', '\t']);
            rest = rest.strip_prefix([',', '=']).unwrap_or(rest).trim_start_matches([' ', '\t', '\n', '\r']);
        }
        if rest.starts_with('"') {
            return (Rule::generic_statement, None);
        }
        let def = self.module.registry().op(leading_word(rest));
        let rule = match def.map_or(Syntax::Uniform, |def| def.syntax) {
            Syntax::Uniform => Rule::uniform_statement,
            Syntax::Symbol(_) => Rule::symbol_statement,
            Syntax::Value if rest[leading_word(rest).len()..].trim_start().starts_with("dense") => {
                Rule::value_statement
            }
            Syntax::Value => Rule::uniform_statement,
            Syntax::Body => Rule::body_statement,
            Syntax::Function => Rule::function_statement,
        };
        (rule, def)
    }

    fn damaged_statement(
        &mut self,
        block: BlockId,
        start: usize,
        def: Option<&'static OpDef>,
        error: &pest::error::Error<Rule>,
    ) {
        let (diagnostic, failed) = self.grammar_error(start, error);
        self.report(diagnostic);
        self.damage(block);
        let has_body = def.is_some_and(|def| matches!(def.syntax, Syntax::Body | Syntax::Function));
        let line_end = self.text[failed..].find('\n').map_or(self.text.len(), |end| failed + end);
        let line = self.text[start..line_end].trim_end();
        if let (true, Some(def), true) = (has_body, def, line.ends_with('{')) {
            return self.damaged_body(block, start, start + line.len(), def);
        }
        self.recover(start, failed);
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
        self.module.set_spans(op, self.span(start, start + 1), Span::NONE, &[], &[]);
        self.at = brace_end;
        self.open_scope(true);
        let entry = self.module.append_block(self.module.region(op, 0));
        self.damage(entry);
        self.region(start, self.module.region(op, 0), Some(entry));
        self.close_scope();
    }

    fn head(&mut self, base: usize, pair: Pair<'s, Rule>, head: &mut Head<'s>) {
        for part in pair.into_inner() {
            let span = self.pair_span(base, &part);
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
            Some(entries) => {
                for entry in entries {
                    let name = self.module.text(entry.name).to_owned();
                    self.add_entry(head, &name, entry.attr, entry.span);
                }
            }
            None => head.is_damaged = true,
        }
    }

    fn add_entry(&mut self, head: &mut Head<'s>, name: &str, attr: Attr, span: Span) {
        let key = self.module.interner.name(name);
        if let Some(first) = head.entries.iter().find(|entry| entry.name == key) {
            let message = format!("the attribute `{name}` is given twice");
            let first = first.span;
            self.report(
                Diagnostic::error(&codes::DUPLICATE_ATTRIBUTE, span, message)
                    .secondary(first, "it is given here first"),
            );
            return;
        }
        head.entries.push(Entry { name: key, attr, span });
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

    fn parameter(
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
        self.ty(base, pair).unwrap_or_else(|| {
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
        let opens_regions = self.opens_regions();
        let mut regions = Vec::new();
        let op;
        if opens_regions {
            // The op must exist before its regions, and its regions must be counted before it does.
            let isolated = def.has(Trait::Isolated);
            if isolated {
                self.open_scope(false);
            }
            regions = self.detached_regions(start);
            if isolated {
                self.close_scope();
            }
            if self.stopped {
                return;
            }
            self.trailing(&mut head);
            op = self.make_op(def, &mut head, regions.len(), labels);
            for (index, blocks) in regions.into_iter().enumerate() {
                let region = self.module.region(op, index);
                for block in blocks {
                    self.module.attach_block(region, block);
                }
            }
        } else {
            drop(regions);
            op = self.make_op(def, &mut head, 0, labels);
        }
        self.place(block, start, op, &head);
        self.name_results(op, &head);
    }

    fn op_def(&mut self, head: &mut Head<'s>) -> &'static OpDef {
        if let Some(def) = self.module.registry().op(head.name) {
            return def;
        }
        head.is_damaged = true;
        let registry = self.module.registry();
        let dialect = head.name.split_once('.').map(|(dialect, _)| dialect);
        let help = suggest::did_you_mean(head.name, registry.op_names());
        let unknown_dialect = dialect.filter(|dialect| registry.dialect(dialect).is_none());
        let diagnostic = match unknown_dialect {
            Some(dialect) => {
                let known = registry.dialects().iter().map(|dialect| dialect.name);
                let help = suggest::did_you_mean(dialect, known).or(help);
                let message = format!("there is no dialect `{dialect}`");
                Diagnostic::error(&codes::UNKNOWN_DIALECT, head.name_span, message).maybe_help(help)
            }
            None => {
                let message = format!("there is no op `{}`", head.name);
                Diagnostic::error(&codes::UNKNOWN_OP, head.name_span, message).maybe_help(help)
            }
        };
        self.report(diagnostic);
        &UNKNOWN
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

    fn opens_regions(&mut self) -> bool {
        self.skip_blank();
        let Some(rest) = self.text[self.at..].strip_prefix('(') else { return false };
        let blank = rest.len() - rest.trim_start().len();
        if !rest[blank..].starts_with('{') {
            return false;
        }
        self.at += 1 + blank + 1;
        true
    }

    /// Regions up to `})`, the first brace already read; each as its blocks, attached to nothing yet.
    fn detached_regions(&mut self, opener: usize) -> Vec<Vec<BlockId>> {
        let mut regions = Vec::new();
        loop {
            // A region that no op has yet is built in a holder and moved when the op is made.
            let holder = self.module.create(OpState::new(&UNKNOWN).regions(1));
            let region = self.module.region(holder, 0);
            self.region(opener, region, None);
            regions.push(self.module.take_blocks(region));
            self.module.erase(holder);
            if self.stopped {
                return regions;
            }
            self.skip_blank();
            let rest = &self.text[self.at..];
            if let Some(after) = rest.strip_prefix(',') {
                let blank = after.len() - after.trim_start().len();
                if after[blank..].starts_with('{') {
                    self.at += 1 + blank + 1;
                    continue;
                }
            }
            if rest.starts_with(')') {
                self.at += 1;
            } else {
                let (token, end) = self.token_at(self.at);
                let message = format!("expected `)` or `, {{` after a region, found {token}");
                self.error(&codes::SYNTAX, self.span(self.at, end), message);
            }
            return regions;
        }
    }

    /// Types and location after regions.
    fn trailing(&mut self, head: &mut Head<'s>) {
        self.skip_blank();
        let start = self.at;
        let text: &'s str = self.text;
        match Grammar::parse(Rule::tail_statement, &text[start..]) {
            Ok(pairs) => {
                for part in pairs.flat_map(Pair::into_inner) {
                    self.at = start + part.as_span().end();
                    match part.as_rule() {
                        Rule::location => head.location = self.location(part),
                        _ => self.head(start, part, head),
                    }
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
                let message = format!(
                    "{} results are named, but {} types are written",
                    head.results.len(),
                    types.len()
                );
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
        head.entries.sort_by(|a, b| self.module.text(a.name).cmp(self.module.text(b.name)));
        if !head.entries.is_empty() {
            let entries: Vec<(Name, Attr)> =
                head.entries.iter().map(|entry| (entry.name, entry.attr)).collect();
            state.attrs = Some(self.module.interner.dict(&entries));
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
        self.skip_blank();
        if self.text[self.at..].starts_with('{') {
            self.at += 1;
            if def.has(Trait::Isolated) {
                self.open_scope(false);
            }
            let entry = self.module.append_block(region);
            for parameter in &head.parameters {
                let value = self.module.append_argument(entry, parameter.ty);
                self.define_value(parameter.name, value, parameter.span);
            }
            self.region(start, region, Some(entry));
            if def.has(Trait::Isolated) {
                self.close_scope();
            }
            self.skip_blank();
            if self.text[self.at..].starts_with("loc") {
                self.trailing(&mut head);
                if let Some(location) = head.location {
                    self.module.set_location(op, location);
                }
            }
        }
        self.place(block, start, op, &head);
    }

    // Regions and blocks.

    /// The blocks of a region up to its closing brace, the opening one already read. With `entry`, what comes before
    /// the first label belongs to that block.
    fn region(&mut self, opener: usize, region: RegionId, entry: Option<BlockId>) {
        self.depth += 1;
        if self.depth > MAX_REGION_DEPTH {
            let message = format!("regions nest more than {MAX_REGION_DEPTH} deep");
            let place = self.span(self.at - 1, self.at);
            self.error(&codes::NESTING_TOO_DEEP, place, message);
            self.stopped = true;
            return;
        }
        let mark = self.scope_mark();
        let mut labels = Labels::default();
        let mut current = entry;
        loop {
            self.skip_blank();
            if self.stopped {
                return;
            }
            let rest = &self.text[self.at..];
            if rest.starts_with('}') {
                self.at += 1;
                break;
            }
            if rest.is_empty() || self.item_in_region(opener) && self.misses_brace(region) {
                let opener = self.span(opener, opener + 1);
                let place = self.span(self.at, self.at);
                let last = self.span(self.at.saturating_sub(1), self.at);
                let place = if rest.is_empty() { last } else { place };
                self.report(
                    Diagnostic::error(&codes::UNTERMINATED, place, "a region is not closed")
                        .secondary(opener, "it belongs to the op that starts here")
                        .help("add `}`"),
                );
                if let Some(block) = current {
                    self.damage(block);
                }
                break;
            }
            if rest.starts_with('^') {
                current = self.block(region, &mut labels).or(current);
                continue;
            }
            let block = *current.get_or_insert_with(|| self.module.append_block(region));
            self.statement(block, &mut labels);
        }
        self.close_labels(labels);
        self.scope_release(mark);
        self.depth -= 1;
    }

    /// Whether the region belongs to an op in which items cannot stand.
    fn misses_brace(&self, region: RegionId) -> bool {
        !self.module.has(self.module.op_of(region), Trait::SymbolTable)
    }

    /// A block's label and arguments.
    fn block(&mut self, region: RegionId, labels: &mut Labels<'s>) -> Option<BlockId> {
        let start = self.at;
        let text: &'s str = self.text;
        let pair = match Grammar::parse(Rule::block_statement, &text[start..]) {
            Ok(mut pairs) => pairs.next().and_then(|pair| pair.into_inner().next())?,
            Err(error) => {
                let (diagnostic, failed) = self.grammar_error(start, &error);
                self.report(diagnostic);
                self.recover(start, failed);
                let block = self.module.append_block(region);
                self.damage(block);
                return Some(block);
            }
        };
        self.at = start + pair.as_span().end();
        let mut parts = pair.into_inner();
        let label = parts.next()?;
        let name = &label.as_str()[1..];
        let span = self.pair_span(start, &label);
        let block = self.define_label(labels, name, span);
        self.module.attach_block(region, block);
        let mut head = Head::default();
        for parameter in parts {
            let (parameter, _) = self.parameter(start, parameter, &mut head);
            let value = self.module.append_argument(block, parameter.ty);
            self.define_value(parameter.name, value, parameter.span);
        }
        if head.is_damaged {
            self.damage(block);
        }
        Some(block)
    }

    fn label(&mut self, labels: &mut Labels<'s>, name: &'s str, span: Span) -> BlockId {
        let module = &mut self.module;
        let label = labels.blocks.entry(name);
        label.or_insert_with(|| Label { block: module.create_block(), span, is_defined: false }).block
    }

    fn define_label(&mut self, labels: &mut Labels<'s>, name: &'s str, span: Span) -> BlockId {
        if let Some(first) = labels.blocks.get(name).filter(|label| label.is_defined) {
            let diagnostic =
                Diagnostic::error(&codes::REDEFINED_BLOCK, span, format!("`^{name}` is defined twice"))
                    .secondary(first.span, "it is defined here first");
            self.report(diagnostic);
            return self.module.create_block();
        }
        let block = self.label(labels, name, span);
        labels.blocks.insert(name, Label { block, span, is_defined: true });
        if !is_block_number(name) {
            let name = self.module.interner.name(name);
            self.module.set_block_name(block, Some(name));
        }
        block
    }

    fn close_labels(&mut self, labels: Labels<'s>) {
        let mut undefined: Vec<(&str, Span, BlockId)> = labels
            .blocks
            .iter()
            .filter(|(_, label)| !label.is_defined)
            .map(|(&name, label)| (name, label.span, label.block))
            .collect();
        undefined.sort_by_key(|&(_, span, _)| span.start);
        for (name, span, block) in undefined {
            let mut known: Vec<&str> =
                labels.blocks.iter().filter(|(_, label)| label.is_defined).map(|(&name, _)| name).collect();
            known.sort_unstable();
            let help = suggest::did_you_mean(name, known);
            let message = format!("there is no block `^{name}` in this region");
            self.report(Diagnostic::error(&codes::UNDEFINED_BLOCK, span, message).maybe_help(help));
            self.damage(block);
        }
    }
}
