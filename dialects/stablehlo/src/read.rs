//! The reader: StableHLO's text to a verified [`Module`] of our dialects.
//!
//! It is written by hand: what frameworks print is large, and its pretty forms follow no one grammar. One statement is
//! read after the other and made an op at once; there is no tree in between. Names of types, attributes and ops are
//! looked up by their spelling, so that each spelling is taken apart once.
//!
//! | file | reads |
//! |---|---|
//! | `lexer` | white space, words, strings, and what is said where something else was expected |
//! | `types`, `attributes`, `dense`, `locations`, `parameters` | what their names say |
//! | `statement`, `generic`, `pretty`, `items`, `shardings` | ops: which form one has, and each form |
//! | `regions`, `scope` | regions and blocks, and the names of values in them |
//! | `translate` | attributes of StableHLO as those of our ops |
//! | `earlier`, `einsum` | ops that are the same as others of ours together |
//! | `known_shapes` | ops whose shape is an operand, where that is known |
//! | `aliases` | `#name = …`, `!name = …` and the resources at the end, wherever they stand |
//! | `words` | diagnostics in the words of StableHLO |
//! | `recover` | the way to the next statement after one that could not be read |
//!
//! A function here that returns [`Read`] has reported what is wrong when it fails; the statement is given up then, its
//! results stand for values of the error type, and [`Damage`] keeps the verifier from reporting the consequences.

mod aliases;
mod attributes;
mod dense;
mod earlier;
mod einsum;
mod generic;
mod items;
mod known_shapes;
mod lexer;
mod locations;
mod parameters;
mod pretty;
mod recover;
mod regions;
mod scope;
mod shardings;
mod statement;
mod translate;
mod types;
mod words;

use std::ops::Range;
use std::sync::Arc;

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Code, Diagnostic, FileId, SourceMap, Span, codes};
use tofu_dialect_tensor::CONSTANT;
use tofu_ir::{Damage, Module, OpId, Registry, Type, TypeData, verify_damaged};
use tofu_syntax::{MAX_ERRORS, Parsed, adopt_root};

use aliases::Aliases;
use scope::Scope;
use statement::Kind;

pub use words::in_foreign_words;

/// What to do with what is not known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadOptions {
    /// Ops, attributes and types that nothing here knows are kept as they are instead of being refused.
    pub allow_unregistered: bool,
}

/// Reads and verifies a file.
pub fn read(sources: &SourceMap, file: FileId, registry: Arc<Registry>, options: ReadOptions) -> Parsed {
    let length = sources.file(file).text().len();
    read_part(sources, file, 0..length, registry, options)
}

/// Reads and verifies the bytes `part` of a file, as if they were a file of their own. A part that does not lie on
/// character boundaries is read as empty.
pub fn read_part(
    sources: &SourceMap,
    file: FileId,
    part: Range<usize>,
    registry: Arc<Registry>,
    options: ReadOptions,
) -> Parsed {
    let source = sources.file(file);
    let text = source.text().get(part.clone()).unwrap_or("");
    let base = source.span().start + part.start as u32;
    let mut reader = Reader::new(text, base, registry, options);
    reader.file();
    reader.finish()
}

/// How deep types, attributes and locations may nest.
const MAX_NESTING: usize = 64;

/// Something was wrong and has been reported.
#[derive(Debug)]
struct Reported;

type Read<T = ()> = Result<T, Reported>;

struct Reader<'s> {
    text: &'s str,
    /// Where the text starts in the source map's address space.
    base: u32,
    /// Where reading goes on, in bytes of `text`.
    at: usize,
    /// Where white space and comments were passed over last: what is missing is missing before them.
    blank: Range<usize>,
    options: ReadOptions,
    module: Module,
    found: Vec<Diagnostic>,
    damage: Damage,
    /// One for each isolated op around the current place.
    scopes: Vec<Scope<'s>>,
    aliases: Aliases<'s>,
    /// Types by their spelling.
    types: FxHashMap<&'s str, Type>,
    /// Ops by the spelling of their names.
    kinds: FxHashMap<&'s str, Kind>,
    error_type: Type,
    /// Ops that gave the shapes of random tensors, which our op tells by its type.
    shapes: Vec<OpId>,
    /// How many regions are open.
    depth: usize,
    /// How many were open in the innermost function around: there, `stablehlo.return` gives the function's results.
    function_depth: usize,
    /// How deep what is read is nested in types, attributes, locations and aliases.
    nesting: usize,
    /// Something in the current statement is not known and was reported; the statement can still be read to its end.
    is_doubtful: bool,
    /// Set when nothing sensible can follow.
    stopped: bool,
}

impl<'s> Reader<'s> {
    fn new(text: &'s str, base: u32, registry: Arc<Registry>, options: ReadOptions) -> Reader<'s> {
        let mut module = Module::new(registry);
        let error_type = module.interner.ty(TypeData::Error);
        Reader {
            text,
            base,
            at: 0,
            blank: 0..0,
            options,
            module,
            found: Vec::new(),
            damage: Damage::default(),
            scopes: vec![Scope::default()],
            aliases: Aliases::find(text),
            types: FxHashMap::default(),
            kinds: FxHashMap::default(),
            error_type,
            shapes: Vec::new(),
            depth: 0,
            function_depth: usize::MAX,
            nesting: 0,
            is_doubtful: false,
            stopped: false,
        }
    }

    fn finish(mut self) -> Parsed {
        adopt_root(&mut self.module);
        self.erase_shapes();
        // What was not read to its end only seems to break rules.
        if !self.stopped {
            self.found.extend(verify_damaged(&self.module, &self.damage));
        }
        self.found.iter_mut().for_each(in_foreign_words);
        // Types cannot be left away here.
        let results = self.found.iter_mut().filter(|found| found.code.id == codes::WRONG_RESULT_TYPE.id);
        results.for_each(|found| found.help = None);
        Parsed::new(self.module, self.found)
    }

    /// Erases constants that were nothing but the shape of a random tensor: the writer makes them anew.
    fn erase_shapes(&mut self) {
        self.shapes.sort_unstable();
        self.shapes.dedup();
        for op in std::mem::take(&mut self.shapes) {
            if self.module.is(op, &CONSTANT) && !self.module.has_uses(self.module.result(op, 0)) {
                self.module.erase(op);
            }
        }
    }

    fn span(&self, start: usize, end: usize) -> Span {
        Span::new(self.base + start as u32, self.base + end as u32)
    }

    /// The text at a place.
    fn written(&self, span: Span) -> &'s str {
        self.text.get((span.start - self.base) as usize..(span.end - self.base) as usize).unwrap_or("")
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

    /// Reads something that may hold more of its kind.
    fn nested<T>(&mut self, read: fn(&mut Self) -> Read<T>) -> Read<T> {
        if self.nesting == MAX_NESTING {
            let message = format!("this nests more than {MAX_NESTING} deep");
            return self.fail(&codes::NESTING_TOO_DEEP, self.token().1, message);
        }
        self.nesting += 1;
        let result = read(self);
        self.nesting -= 1;
        result
    }

    /// Reports an error and fails.
    fn fail<T>(&mut self, code: &'static Code, span: Span, message: impl Into<String>) -> Read<T> {
        self.error(code, span, message);
        Err(Reported)
    }
}
