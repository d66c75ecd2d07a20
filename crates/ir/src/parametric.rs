//! Definitions of a dialect's types and attributes: their parameters, and how these are read, written and checked.

use tofu_diagnostics::{Diagnostic, Span};

use crate::{Attr, AttrData, Module, OpId, Type};

/// A type or an attribute that a dialect defines, with its text: `dialect.name<parameters>`, an attribute with `#`
/// before it.
///
/// Parameters are an [`Attr`], so that interning, equality and copying between modules need nothing from the dialect;
/// the dialect gives typed views of it. Like an [`OpDef`](crate::OpDef), a definition is a `static`: two types are of one
/// kind if they have this very definition.
#[derive(Debug)]
pub struct ParametricDef {
    /// Its full name, `dialect.name`.
    pub name: &'static str,
    /// One sentence, with a full stop.
    pub summary: &'static str,
    /// How it is written.
    pub example: &'static str,
    /// Reads what stands between the angle brackets.
    pub parse: fn(&mut dyn ParameterReader) -> Result<Attr, Diagnostic>,
    /// Writes it again.
    pub print: fn(&Module, Attr, &mut dyn ParameterWriter),
    /// Says what is wrong with the parameters.
    pub verify: fn(&Module, Attr) -> Result<(), String>,
    /// Checks where an attribute with these parameters is used, if that matters: what it mentions, what it is said of.
    pub verify_use: Option<VerifyUse>,
}

/// Checks a use of an attribute with these parameters.
pub type VerifyUse = fn(&Module, Attr, &AttrUse<'_>, &mut Vec<Diagnostic>);

/// A use of a dialect's own attribute.
#[derive(Clone, Copy, Debug)]
pub struct AttrUse<'m> {
    /// The op that it stands on. Whatever it mentions by symbols exists, unless that could not be read.
    pub op: OpId,
    /// The name under which it stands there.
    pub name: &'m str,
    /// What it is said of.
    pub target: AttrTarget,
    /// Where it is written.
    pub span: Span,
}

/// What an attribute is said of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AttrTarget {
    /// The op.
    Op,
    /// The op, in a list at this place.
    Item(usize),
    /// An argument of the function that the op is.
    Argument(usize),
    /// A result of the function that the op is.
    Result(usize),
}

impl ParametricDef {
    /// A definition whose parameters are a list of attributes, `<a, b>`; none at all is an empty list.
    pub const fn new(name: &'static str) -> ParametricDef {
        ParametricDef {
            name,
            summary: "",
            example: "",
            parse: parse_list,
            print: print_list,
            verify: |_, _| Ok(()),
            verify_use: None,
        }
    }

    /// Sets the summary.
    pub const fn summary(mut self, summary: &'static str) -> ParametricDef {
        self.summary = summary;
        self
    }

    /// Sets the example.
    pub const fn example(mut self, example: &'static str) -> ParametricDef {
        self.example = example;
        self
    }

    /// Sets the text between the angle brackets.
    pub const fn text(
        mut self,
        parse: fn(&mut dyn ParameterReader) -> Result<Attr, Diagnostic>,
        print: fn(&Module, Attr, &mut dyn ParameterWriter),
    ) -> ParametricDef {
        self.parse = parse;
        self.print = print;
        self
    }

    /// Sets the check of the parameters.
    pub const fn verify(mut self, verify: fn(&Module, Attr) -> Result<(), String>) -> ParametricDef {
        self.verify = verify;
        self
    }

    /// Sets the check of uses.
    pub const fn verify_use(mut self, verify: VerifyUse) -> ParametricDef {
        self.verify_use = Some(verify);
        self
    }
}

/// Reads the parameters of a dialect's type or attribute.
///
/// Each method skips white space and comments first; those that return a result give the diagnostic to pass on.
pub trait ParameterReader {
    /// The module, to intern what was read.
    fn module(&mut self) -> &mut Module;
    /// True at the closing bracket.
    fn at_end(&mut self) -> bool;
    /// Takes `text` if it stands here: punctuation, or a whole word.
    fn take(&mut self, text: &str) -> bool;
    /// Takes `text`, or says that it was expected.
    fn expect(&mut self, text: &str) -> Result<(), Diagnostic>;
    /// A word.
    fn word(&mut self) -> Result<String, Diagnostic>;
    /// An integer.
    fn integer(&mut self) -> Result<i64, Diagnostic>;
    /// A type.
    fn ty(&mut self) -> Result<Type, Diagnostic>;
    /// An attribute.
    fn attribute(&mut self) -> Result<Attr, Diagnostic>;
    /// An error at the next character.
    fn error(&mut self, message: String) -> Diagnostic;
}

/// Writes the parameters of a dialect's type or attribute.
pub trait ParameterWriter: std::fmt::Write {
    /// Writes a type.
    fn ty(&mut self, ty: Type);
    /// Writes an attribute.
    fn attribute(&mut self, attr: Attr);
}

fn parse_list(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    let mut items = Vec::new();
    while !reader.at_end() {
        if !items.is_empty() {
            reader.expect(",")?;
        }
        items.push(reader.attribute()?);
    }
    Ok(reader.module().interner.attr(AttrData::Array(items.into())))
}

fn print_list(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    let separate = |writer: &mut dyn ParameterWriter, index| {
        if index > 0 {
            // Writing into the printer's buffer cannot fail.
            let _ = writer.write_str(", ");
        }
    };
    match module.attr_data(params) {
        AttrData::Array(items) => {
            for (index, &item) in items.iter().enumerate() {
                separate(writer, index);
                writer.attribute(item);
            }
        }
        AttrData::Ints(items) => {
            for (index, item) in items.iter().enumerate() {
                separate(writer, index);
                let _ = write!(writer, "{item}");
            }
        }
        _ => writer.attribute(params),
    }
}
