//! The parser: text to a verified [`Module`], with every independent mistake reported.
//!
//! `statement.rs` and `region.rs` walk ops, regions and blocks and ask the grammar for one statement head at a time. Names are
//! bound while walking (`scope.rs`); result types that were left out follow when everything is read (`resolve.rs`);
//! last, the verifier looks at the whole. What could not be read leaves values of the error type and notes in
//! [`Damage`] behind, which keep later steps from reporting the consequences.

mod attributes;
mod errors;
pub mod literals;
mod parameters;
mod recover;
mod region;
mod resolve;
mod scope;
mod statement;
mod tails;
mod types;

use std::ops::Range;
use std::sync::Arc;

use pest_derive::Parser;
use rustc_hash::FxHashMap;
use tofu_diagnostics::{Code, Diagnostic, FileId, Severity, SourceMap, Span, codes};
use tofu_ir::{BlockId, Damage, Module, OpId, Registry, Type, TypeData, builtin, verify_damaged};

use scope::Scope;
use tails::Tail;

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
    /// What came of reading a text. Diagnostics, given in any order, become sorted, free of repetitions and not more than
    /// [`MAX_ERRORS`].
    pub fn new(module: Module, mut diagnostics: Vec<Diagnostic>) -> Parsed {
        diagnostics.sort_by_key(|diagnostic| diagnostic.primary.span.start);
        diagnostics.dedup_by(|b, a| {
            a.code.id == b.code.id && a.primary.span == b.primary.span && a.message == b.message
        });
        if let Some(first) = diagnostics.get(MAX_ERRORS).map(|diagnostic| diagnostic.primary.span) {
            diagnostics.truncate(MAX_ERRORS);
            let message = format!("there are more than {MAX_ERRORS} errors; the others are not shown");
            diagnostics.push(Diagnostic::error(&codes::SYNTAX, first, message));
        }
        Parsed { module, diagnostics }
    }

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

/// Makes the one module that a file holds, if it holds nothing else, the program.
pub fn adopt_root(module: &mut Module) {
    let body = module.body();
    let only = module.first_op(body).filter(|&op| module.next_op(op).is_none());
    let Some(op) = only.filter(|&op| module.is(op, &builtin::MODULE)) else { return };
    if module.only_region(op).is_some_and(|region| module.blocks(region).len() == 1) {
        module.set_root(op);
    }
}

/// A text with more mistakes than this is not read further, and no more of them are shown.
pub const MAX_ERRORS: usize = 100;

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
    /// What ends of lines mean, by their spelling.
    tails: FxHashMap<&'s str, Tail>,
    /// Ops whose result types were left out.
    pending: Vec<OpId>,
    /// What to say if their types follow from one another only.
    cycle: Option<Diagnostic>,
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
            // A byte order mark says nothing in UTF-8.
            at: if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 },
            module,
            found: Vec::new(),
            damage: Damage::default(),
            scopes: vec![Scope::default()],
            types: FxHashMap::default(),
            tails: FxHashMap::default(),
            pending: Vec::new(),
            cycle: None,
            error_type,
            depth: 0,
            stopped: false,
        }
    }

    fn finish(mut self) -> Parsed {
        self.close_scope();
        self.resolve_types();
        adopt_root(&mut self.module);
        let module = self.module;
        let mut diagnostics = self.found;
        // What was not read to its end only seems to break rules.
        if !self.stopped {
            diagnostics.extend(verify_damaged(&module, &self.damage));
            // Nearly always a value is used before its definition; then that is the mistake.
            if diagnostics.iter().all(|diagnostic| diagnostic.code.id != codes::NOT_DOMINATED.id) {
                diagnostics.extend(self.cycle);
            }
        }
        Parsed::new(module, diagnostics)
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    fn report(&mut self, diagnostic: Diagnostic) {
        if self.found.len() <= MAX_ERRORS {
            self.found.push(diagnostic);
            self.stopped |= self.found.len() > MAX_ERRORS;
        }
    }

    fn error(&mut self, code: &'static Code, span: Span, message: impl Into<String>) {
        self.report(Diagnostic::error(code, span, message));
    }

    fn damage(&mut self, block: BlockId) {
        self.damage.blocks.insert(block);
    }
}
