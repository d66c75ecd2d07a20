//! Regions, and the blocks and labels in them.

use pest::Parser as _;
use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::{BlockId, MAX_REGION_DEPTH, OpDef, OpState, RegionId, Trait};

use super::statement::{Head, UNKNOWN};
use super::{Grammar, Parser, Rule};
use crate::print::is_block_number;

/// The blocks of a region by name; a use may come before the block.
#[derive(Default)]
pub(super) struct Labels<'s> {
    blocks: FxHashMap<&'s str, Label>,
}

struct Label {
    block: BlockId,
    span: Span,
    is_defined: bool,
}

/// How a region is written.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    /// Where its op starts.
    pub(super) op: usize,
    /// Whether named ops such as functions can stand in it.
    pub(super) holds_items: bool,
    /// `({ … })`, not `{ … }`.
    pub(super) in_parentheses: bool,
}

impl<'s> Parser<'s> {
    /// Takes `({` if it stands here.
    pub(super) fn opens_regions(&mut self) -> bool {
        self.skip_blank();
        let start = self.at;
        if self.takes('(') {
            self.skip_blank();
            if self.takes('{') {
                return true;
            }
        }
        self.at = start;
        false
    }

    fn takes(&mut self, mark: char) -> bool {
        let stands_here = self.text[self.at..].starts_with(mark);
        self.at += if stands_here { mark.len_utf8() } else { 0 };
        stands_here
    }

    /// The regions of an op that starts at `op`, up to `})`, the first brace already read: each as its blocks, attached
    /// to nothing yet. False if their end could not be found.
    pub(super) fn detached_regions(&mut self, op: usize, def: &'static OpDef) -> (Vec<Vec<BlockId>>, bool) {
        let frame = Frame { op, holds_items: def.has(Trait::SymbolTable), in_parentheses: true };
        let mut regions = Vec::new();
        loop {
            // A region that no op has yet is built in a holder and moved when the op is made.
            let holder = self.module.create(OpState::new(&UNKNOWN).regions(1));
            let region = self.module.region(holder, 0);
            let is_closed = self.region(frame, region, None);
            if regions.len() < usize::from(u16::MAX) {
                regions.push(self.module.take_blocks(region));
            } else {
                let message = format!("an op has at most {} regions", u16::MAX);
                self.error(&codes::WRONG_REGIONS, self.span(op, op + 1), message);
                self.stopped = true;
            }
            self.module.erase(holder);
            if self.stopped || !is_closed {
                return (regions, false);
            }
            self.skip_blank();
            if self.takes(')') {
                return (regions, true);
            }
            let has_comma = self.takes(',');
            self.skip_blank();
            if has_comma && self.takes('{') {
                continue;
            }
            let (token, end) = self.token_at(self.at);
            let expected =
                if has_comma { "`{` and another region after `,`" } else { "`)` or `, {` after a region" };
            let message = format!("expected {expected}, found {token}");
            self.error(&codes::SYNTAX, self.span(self.at, end), message);
            if !has_comma {
                return (regions, false);
            }
        }
    }

    /// The blocks of a region up to its closing brace, the opening one already read. With `entry`, what comes before
    /// the first label belongs to that block. False if the brace is missing.
    pub(super) fn region(&mut self, frame: Frame, region: RegionId, entry: Option<BlockId>) -> bool {
        self.depth += 1;
        if self.depth > MAX_REGION_DEPTH {
            let message = format!("regions nest more than {MAX_REGION_DEPTH} deep");
            let place = self.span(self.at - 1, self.at);
            self.error(&codes::NESTING_TOO_DEEP, place, message);
            self.stopped = true;
            return false;
        }
        let mark = self.scope_mark();
        let mut labels = Labels::default();
        let mut current = entry;
        let is_closed = loop {
            self.skip_blank();
            if self.stopped {
                return false;
            }
            if self.takes('}') {
                break true;
            }
            if self.misses_brace(frame) {
                self.report_unclosed("a region", frame.op, self.at);
                if let Some(block) = current {
                    self.damage(block);
                }
                // Before `)`, all is well again.
                break self.text[self.at..].starts_with(')');
            }
            if self.text[self.at..].starts_with('^') {
                current = self.block(region, &mut labels).or(current);
                continue;
            }
            let block = *current.get_or_insert_with(|| self.module.append_block(region));
            self.statement(block, &mut labels);
        };
        self.close_labels(labels);
        self.scope_release(mark);
        self.depth -= 1;
        is_closed
    }

    /// Whether what comes next cannot stand in the open region, but can after it.
    fn misses_brace(&self, frame: Frame) -> bool {
        let rest = &self.text[self.at..];
        rest.is_empty()
            || frame.in_parentheses && rest.starts_with(')')
            || !frame.holds_items && self.starts_item(frame.op)
    }

    /// Says that something of the op at `op` is not closed before `at`.
    pub(super) fn report_unclosed(&mut self, what: &str, op: usize, at: usize) {
        let (token, place) = self.token_place(at);
        let opener = self.span(op, self.token_at(op).1);
        self.report(
            Diagnostic::error(&codes::UNTERMINATED, place, format!("{what} is not closed before {token}"))
                .secondary(opener, "it belongs to the op that starts here")
                .help("add `}`"),
        );
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
                return Some(self.damaged_block(region, labels, failed));
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

    /// A block whose head could not be read beyond `failed`; its name and those of its arguments are known all the same.
    fn damaged_block(&mut self, region: RegionId, labels: &mut Labels<'s>, failed: usize) -> BlockId {
        let start = self.at;
        let text: &'s str = self.text;
        self.recover(start, failed);
        let head = &text[start..self.at];
        let is_inner = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '.' | '-');
        let name_at = |at: usize| {
            let rest = &head[at..];
            &rest[..rest.find(|c| !is_inner(c)).unwrap_or(rest.len())]
        };
        let name = name_at(1);
        let span = self.span(start, start + 1 + name.len());
        let block =
            if name.is_empty() { self.module.create_block() } else { self.define_label(labels, name, span) };
        self.module.attach_block(region, block);
        self.damage(block);
        for (at, _) in head.match_indices('%') {
            let name = name_at(at + 1);
            self.define_unreadable(name, self.span(start + at, start + at + 1 + name.len()));
        }
        block
    }

    /// The block called `name`, which may come later.
    pub(super) fn label(&mut self, labels: &mut Labels<'s>, name: &'s str, span: Span) -> BlockId {
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
        let (defined, undefined): (Vec<_>, Vec<_>) =
            labels.blocks.into_iter().partition(|(_, label)| label.is_defined);
        let mut undefined: Vec<(Span, &str, BlockId)> =
            undefined.into_iter().map(|(name, label)| (label.span, name, label.block)).collect();
        undefined.sort_unstable();
        let mut known: Vec<String> = Vec::new();
        if !undefined.is_empty() {
            known = defined.into_iter().map(|(name, _)| format!("^{name}")).collect();
            known.sort_unstable();
        }
        for (span, name, block) in undefined {
            if self.stopped {
                return;
            }
            self.damage(block);
            let name = format!("^{name}");
            let help = suggest::did_you_mean(&name, known.iter().map(String::as_str));
            let message = format!("there is no block `{name}` in this region");
            self.report(Diagnostic::error(&codes::UNDEFINED_BLOCK, span, message).maybe_help(help));
        }
    }
}
