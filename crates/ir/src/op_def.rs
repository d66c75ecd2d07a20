//! Op definitions: what a dialect says once about each of its ops.
//!
//! ```
//! use tofu_ir::{OpDef, Trait, op, tensor};
//!
//! pub static TANH: OpDef = op("math.tanh")
//!     .summary("Hyperbolic tangent of every element.")
//!     .example("%y = math.tanh %x")
//!     .operands(&[tensor("x")])
//!     .results(&[tensor("y")])
//!     .traits(&[Trait::Pure]);
//! ```
//!
//! What only some consumer asks of an op is an [`Interface`]: a plain struct that the consuming crate declares and the
//! dialect fills in. `ir` does not know which exist.

use std::any::Any;
use std::fmt::Debug;

use tofu_diagnostics::Diagnostic;

use crate::{Attr, AttrData, Module, OpId, Type, TypeData};

/// The definition of an op.
#[derive(Clone, Copy, Debug)]
pub struct OpDef {
    /// Its full name, `dialect.op`.
    pub name: &'static str,
    /// What may be written instead of the full name: `func` for `func.func`.
    pub keyword: Option<&'static str>,
    /// One sentence, with a full stop.
    pub summary: &'static str,
    /// One op in a function's body, or a whole item, as it is written.
    pub example: &'static str,
    /// What it takes.
    pub operands: &'static [OperandSpec],
    /// What it gives.
    pub results: &'static [OperandSpec],
    /// The attributes it knows.
    pub attributes: &'static [AttributeSpec],
    /// Its regions.
    pub regions: &'static [RegionSpec],
    /// How its text departs from the uniform form.
    pub syntax: Syntax,
    traits: u32,
    infer_types: Option<InferTypes>,
    verify: Option<Verify>,
    interfaces: &'static [&'static dyn Interface],
}

/// Derives the result types of an op from the rest of it.
pub type InferTypes = fn(&Module, OpId) -> Result<Vec<TypeData>, Diagnostic>;

/// Checks what the specifications cannot say. It runs only on ops whose operands, attributes and regions fit them.
pub type Verify = fn(&Module, OpId, &mut Vec<Diagnostic>);

/// Starts a definition.
pub const fn op(name: &'static str) -> OpDef {
    OpDef {
        name,
        keyword: None,
        summary: "",
        example: "",
        operands: &[],
        results: &[],
        attributes: &[],
        regions: &[],
        syntax: Syntax::Uniform,
        traits: 0,
        infer_types: None,
        verify: None,
        interfaces: &[],
    }
}

impl OpDef {
    /// Sets the keyword.
    pub const fn keyword(mut self, keyword: &'static str) -> OpDef {
        self.keyword = Some(keyword);
        self
    }

    /// Sets the summary.
    pub const fn summary(mut self, summary: &'static str) -> OpDef {
        self.summary = summary;
        self
    }

    /// Sets the example.
    pub const fn example(mut self, example: &'static str) -> OpDef {
        self.example = example;
        self
    }

    /// Sets the operands.
    pub const fn operands(mut self, operands: &'static [OperandSpec]) -> OpDef {
        self.operands = operands;
        self
    }

    /// Sets the results.
    pub const fn results(mut self, results: &'static [OperandSpec]) -> OpDef {
        self.results = results;
        self
    }

    /// Sets the attributes.
    pub const fn attributes(mut self, attributes: &'static [AttributeSpec]) -> OpDef {
        self.attributes = attributes;
        self
    }

    /// Sets the regions.
    pub const fn regions(mut self, regions: &'static [RegionSpec]) -> OpDef {
        self.regions = regions;
        self
    }

    /// Sets the form of its text.
    pub const fn syntax(mut self, syntax: Syntax) -> OpDef {
        self.syntax = syntax;
        self
    }

    /// Sets the traits.
    pub const fn traits(mut self, traits: &[Trait]) -> OpDef {
        let mut index = 0;
        while index < traits.len() {
            self.traits |= 1 << traits[index] as u32;
            index += 1;
        }
        self
    }

    /// Sets how result types follow.
    pub const fn infer_types(mut self, infer: InferTypes) -> OpDef {
        self.infer_types = Some(infer);
        self
    }

    /// Sets what else to verify.
    pub const fn verify(mut self, verify: Verify) -> OpDef {
        self.verify = Some(verify);
        self
    }

    /// Sets the interfaces.
    pub const fn interfaces(mut self, interfaces: &'static [&'static dyn Interface]) -> OpDef {
        self.interfaces = interfaces;
        self
    }

    /// The dialect's part of the name.
    pub fn dialect(&self) -> &'static str {
        self.name.split_once('.').map_or(self.name, |(dialect, _)| dialect)
    }

    /// How the op is written: its keyword, or else its name.
    pub fn written_name(&self) -> &'static str {
        self.keyword.unwrap_or(self.name)
    }

    /// Whether it has a trait.
    pub fn has(&self, wanted: Trait) -> bool {
        self.traits & (1 << wanted as u32) != 0
    }

    /// How result types follow, if they do.
    pub fn type_inference(&self) -> Option<InferTypes> {
        self.infer_types
    }

    /// What else to verify.
    pub fn verification(&self) -> Option<Verify> {
        self.verify
    }

    /// The interface `I`, if the op has it.
    pub fn interface<I: Interface>(&self) -> Option<&'static I> {
        self.interfaces.iter().find_map(|&interface| (interface as &dyn Any).downcast_ref())
    }

    /// The specification of the attribute `name`.
    pub fn attribute(&self, name: &str) -> Option<&'static AttributeSpec> {
        self.attributes.iter().find(|spec| spec.name == name)
    }

    /// The attribute whose symbol is written right after the op's name, if there is one.
    pub fn leading_symbol(&self) -> Option<&'static str> {
        match self.syntax {
            Syntax::Uniform | Syntax::Value => None,
            Syntax::Symbol(attribute) => Some(attribute),
            Syntax::Body | Syntax::Function => Some(SYMBOL_NAME),
        }
    }
}

/// The attribute that holds the name of an op with [`Trait::Symbol`].
pub const SYMBOL_NAME: &str = "sym_name";
/// The attribute that holds the type of an op with [`Syntax::Function`].
pub const FUNCTION_TYPE: &str = "function_type";
/// The attribute that holds one dictionary for each argument of an op with [`Syntax::Function`].
pub const ARGUMENT_ATTRIBUTES: &str = "arg_attrs";
/// The attribute that holds one dictionary for each result of an op with [`Syntax::Function`].
pub const RESULT_ATTRIBUTES: &str = "res_attrs";

/// The attribute that holds the constant of an op with [`Syntax::Value`].
pub const VALUE: &str = "value";

/// A yes-or-no property of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trait {
    /// Reads and writes nothing but its operands and results; with regions: if all ops in them are pure.
    Pure,
    /// Its two operands may be exchanged.
    Commutative,
    /// Has the attribute `value` and is nothing else.
    Constant,
    /// Ends a block.
    Terminator,
    /// Has a name in the symbol table around it, in the attribute [`SYMBOL_NAME`].
    Symbol,
    /// Its region holds named ops. It may stand only directly in another such op.
    SymbolTable,
    /// What is inside sees no value from outside.
    Isolated,
    /// The blocks of its regions need no terminator.
    NoTerminator,
    /// May stand only directly in a [`Trait::SymbolTable`] op.
    TopLevel,
}

/// How an op's text departs from `results = name operands {attributes} regions : types`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Syntax {
    /// It does not.
    Uniform,
    /// The symbol in this attribute follows the name, and operands stand in parentheses: `call @f(%x)`.
    Symbol(&'static str),
    /// The constant in the attribute [`VALUE`] follows the name, and the result's type is the constant's:
    /// `tensor.constant dense<1.0> : tensor<f32>`.
    Value,
    /// A name, and the one region in braces: `module @m { … }`.
    Body,
    /// A name, a signature and the one region in braces: `func @f(%x: f32) -> f32 { … }`.
    Function,
}

/// One operand or result, or a run of them.
#[derive(Clone, Copy, Debug)]
pub struct OperandSpec {
    /// What it is called in messages and references.
    pub name: &'static str,
    /// What types it may have.
    pub class: TypeClass,
    /// How many there are.
    pub arity: Arity,
}

/// How many values a specification stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arity {
    /// Exactly one.
    One,
    /// Any number. All variadic specifications of an op stand for the same number.
    Variadic,
}

/// A set of types.
#[derive(Clone, Copy, Debug)]
pub struct TypeClass {
    /// How a message names it: "expected …".
    pub name: &'static str,
    /// Whether a type belongs to it.
    pub contains: fn(&TypeData) -> bool,
}

/// Any type.
pub const ANY_TYPE: TypeClass = TypeClass { name: "any type", contains: |_| true };
/// Any tensor.
pub const TENSOR: TypeClass =
    TypeClass { name: "a tensor", contains: |ty| matches!(ty, TypeData::Tensor(_)) };
/// `token`.
pub const TOKEN: TypeClass = TypeClass { name: "a token", contains: |ty| matches!(ty, TypeData::Token) };

/// One value of any type.
pub const fn any(name: &'static str) -> OperandSpec {
    OperandSpec { name, class: ANY_TYPE, arity: Arity::One }
}

/// One tensor.
pub const fn tensor(name: &'static str) -> OperandSpec {
    OperandSpec { name, class: TENSOR, arity: Arity::One }
}

impl OperandSpec {
    /// Any number of them.
    pub const fn variadic(mut self) -> OperandSpec {
        self.arity = Arity::Variadic;
        self
    }

    /// Of these types.
    pub const fn class(mut self, class: TypeClass) -> OperandSpec {
        self.class = class;
        self
    }
}

/// An attribute of an op.
#[derive(Clone, Copy, Debug)]
pub struct AttributeSpec {
    /// Its name.
    pub name: &'static str,
    /// What it may be.
    pub class: AttrClass,
    /// Whether it must be there.
    pub required: bool,
}

/// A set of attributes.
#[derive(Clone, Copy, Debug)]
pub struct AttrClass {
    /// How a message names it: "expected …".
    pub name: &'static str,
    /// Whether an attribute belongs to it.
    pub contains: fn(&Module, Attr) -> bool,
}

/// An attribute that must be there.
pub const fn required(name: &'static str, class: AttrClass) -> AttributeSpec {
    AttributeSpec { name, class, required: true }
}

/// An attribute that may be there.
pub const fn optional(name: &'static str, class: AttrClass) -> AttributeSpec {
    AttributeSpec { name, class, required: false }
}

macro_rules! attr_classes {
    ($($(#[$doc:meta])* $constant:ident = $name:literal, $pattern:pat,)*) => {$(
        $(#[$doc])*
        pub const $constant: AttrClass = AttrClass {
            name: $name,
            contains: |module, attr| matches!(module.attr_data(attr), $pattern),
        };
    )*};
}

attr_classes! {
    /// Anything.
    ANY_ATTR = "any attribute", _,
    /// `unit`.
    UNIT = "a unit", AttrData::Unit,
    /// A boolean.
    BOOL = "a boolean", AttrData::Bool(_),
    /// An integer of any type.
    INT = "an integer", AttrData::Int(..),
    /// A list of `i64`s.
    INTS = "a list of integers", AttrData::Ints(_),
    /// A string.
    STRING = "a string", AttrData::String(_),
    /// A reference to a symbol.
    SYMBOL = "a symbol", AttrData::Symbol(_),
    /// A type.
    TYPE = "a type", AttrData::Type(_),
    /// A constant tensor.
    DENSE = "a dense constant", AttrData::Dense(_),
    /// A list of anything.
    ARRAY = "an array", AttrData::Array(_) | AttrData::Ints(_),
    /// A dictionary.
    DICT = "a dictionary", AttrData::Dict(_),
}

/// The symbol that an op with [`Trait::Symbol`] defines: one name, no path.
pub const SYMBOL_DEFINITION: AttrClass = AttrClass {
    name: "a symbol without a path",
    contains: |module, attr| matches!(module.attr_data(attr), AttrData::Symbol(path) if path.len() == 1),
};

/// The type of a function.
pub const FUNCTION: AttrClass = AttrClass {
    name: "a function type",
    contains: |module, attr| match module.attr_data(attr) {
        AttrData::Type(ty) => matches!(module.type_data(*ty), TypeData::Function(_)),
        _ => false,
    },
};

/// Two lists of integers: `[1] x [0]`.
pub const INTS_PAIR: AttrClass = AttrClass {
    name: "two lists of integers (`[0] x [1]`)",
    contains: |module, attr| {
        let is_list = |attr| matches!(module.attr_data(attr), AttrData::Ints(_));
        matches!(module.attr_data(attr), AttrData::Pair(a, b) if is_list(*a) && is_list(*b))
    },
};

/// A region of an op.
#[derive(Clone, Copy, Debug)]
pub struct RegionSpec {
    /// What it is called in messages and references.
    pub name: &'static str,
    /// How many blocks it may have.
    pub blocks: BlockCount,
}

/// How many blocks a region may have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BlockCount {
    /// Exactly one.
    One,
    /// None (the op is a declaration) or one.
    AtMostOne,
    /// Any number.
    Any,
}

/// A region of exactly one block.
pub const fn region(name: &'static str) -> RegionSpec {
    RegionSpec { name, blocks: BlockCount::One }
}

impl RegionSpec {
    /// With another number of blocks.
    pub const fn blocks(mut self, blocks: BlockCount) -> RegionSpec {
        self.blocks = blocks;
        self
    }
}

/// What some consumer asks of an op; any `'static` struct can be one.
pub trait Interface: Any + Sync + Debug {}

/// Computes an op at compile time.
#[derive(Debug)]
pub struct Fold(pub fn(&Module, OpId) -> Option<Vec<Folded>>);

impl Interface for Fold {}

/// What a result of a folded op is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Folded {
    /// A value that exists already.
    Value(crate::ValueId),
    /// A constant; its `AttrData` may name only attributes and types that the module already has.
    Constant(AttrData),
}

/// A type or an attribute that a dialect defines, with its text: `dialect.name<parameters>`, an attribute with `#`
/// before it.
///
/// Parameters are an [`Attr`], so that interning, equality and copying between modules need nothing from the dialect;
/// the dialect gives typed views of it.
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
