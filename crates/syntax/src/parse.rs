//! The parser: text to a verified [`Module`], with every independent mistake reported.
//!
//! `statement.rs` walks items, blocks and regions and asks the grammar for one statement head at a time. Names are
//! bound while walking (`scope.rs`); result types that were left out follow when everything is read (`resolve.rs`);
//! last, the verifier looks at the whole. What could not be read leaves values of the error type and notes in
//! [`Damage`] behind, which keep later steps from reporting the consequences.

mod attributes;
mod errors;
mod literals;
mod parameters;
mod recover;
mod resolve;
mod scope;
mod statement;
mod types;

use std::ops::Range;
use std::sync::Arc;

use pest_derive::Parser;
use rustc_hash::FxHashMap;
use tofu_diagnostics::{Code, Diagnostic, FileId, Severity, SourceMap, Span, codes};
use tofu_ir::{BlockId, Damage, Module, OpId, Registry, Type, TypeData, builtin, verify_damaged};

use scope::Scope;

/// The pest parser for `tir.pest`.
#[derive(Parser)]
#[grammar = "tir.pest"]
struct Grammar;

/// What came of reading a text.
#[derive(Debug)]
pub struct Parsed {
    /// The program; whole only if no diagnostic is an error.
    pub module: Module,
    /// Everything that is wrong, in the order of the text.
    pub diagnostics: Vec<Diagnostic>,
}

impl Parsed {
    /// Whether the program is whole.
    pub fn is_ok(&self) -> bool {
        self.diagnostics.iter().all(|diagnostic| diagnostic.severity != Severity::Error)
    }
}

/// Reads and verifies a file.
pub fn parse(sources: &SourceMap, file: FileId, registry: Arc<Registry>) -> Parsed {
    let length = sources.file(file).text().len();
    parse_part(sources, file, 0..length, registry)
}

/// Reads and verifies the bytes `part` of a file, as if they were a file of their own. A part that does not lie on
/// character boundaries is read as empty.
pub fn parse_part(sources: &SourceMap, file: FileId, part: Range<usize>, registry: Arc<Registry>) -> Parsed {
    let source = sources.file(file);
    let text = source.text().get(part.clone()).unwrap_or("");
    let base = source.span().start + part.start as u32;
    let mut parser = Parser::new(text, base, registry);
    parser.file();
    parser.finish()
}

/// A text with more mistakes than this is not read further.
const MAX_ERRORS: usize = 100;

struct Parser<'s> {
    text: &'s str,
    /// Where the text starts in the source map's address space.
    base: u32,
    /// Where reading goes on, in bytes of `text`.
    at: usize,
    module: Module,
    found: Vec<Diagnostic>,
    damage: Damage,
    scopes: Vec<Scope<'s>>,
    /// Types by their spelling.
    types: FxHashMap<&'s str, Type>,
    /// Ops whose result types were left out.
    pending: Vec<OpId>,
    error_type: Type,
    /// How many regions are open.
    depth: usize,
    /// Set when nothing sensible can follow.
    stopped: bool,
}

impl<'s> Parser<'s> {
    fn new(text: &'s str, base: u32, registry: Arc<Registry>) -> Parser<'s> {
        let mut module = Module::new(registry);
        let error_type = module.interner.ty(TypeData::Error);
        Parser {
            text,
            base,
            at: 0,
            module,
            found: Vec::new(),
            damage: Damage::default(),
            scopes: vec![Scope::default()],
            types: FxHashMap::default(),
            pending: Vec::new(),
            error_type,
            depth: 0,
            stopped: false,
        }
    }

    fn finish(mut self) -> Parsed {
        self.close_scope();
        self.resolve_types();
        self.adopt_root();
        let module = self.module;
        let mut diagnostics = self.found;
        diagnostics.extend(verify_damaged(&module, &self.damage));
        diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        diagnostics.dedup_by(|b, a| {
            a.code.id == b.code.id && a.primary.span == b.primary.span && a.message == b.message
        });
        Parsed { module, diagnostics }
    }

    /// A file that holds one module and nothing else is that module.
    fn adopt_root(&mut self) {
        let body = self.module.body();
        let only = self.module.first_op(body).filter(|&op| self.module.next_op(op).is_none());
        if let Some(op) = only.filter(|&op| self.module.is(op, &builtin::MODULE)) {
            let whole = self.module.blocks(self.module.region(op, 0)).len() == 1;
            if whole {
                self.module.set_root(op);
            }
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
        if self.found.len() == MAX_ERRORS && !self.stopped {
            self.stopped = true;
            let place = self.span(self.at, self.at);
            let message = format!("more than {MAX_ERRORS} errors; the rest of the text was not read");
            self.found.push(Diagnostic::error(&codes::SYNTAX, place, message));
        }
    }

    fn error(&mut self, code: &'static Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    fn damage(&mut self, block: BlockId) {
        self.damage.blocks.insert(block);
    }
}
