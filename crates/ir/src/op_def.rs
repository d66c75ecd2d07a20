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

use crate::{
    AttrData, AttributeSpec, Extents, Module, OpId, OperandSpec, RegionSpec, SuccessorCount, Type, TypeData,
};

/// The definition of an op. It is a `static`, and not copied: an op is of a kind if it has this very definition.
#[derive(Debug)]
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
    /// How many blocks it may continue at.
    pub successors: SuccessorCount,
    /// How its text departs from the uniform form.
    pub syntax: Syntax,
    traits: u32,
    inference: Option<TypeInference>,
    verify: Option<Verify>,
    interfaces: &'static [&'static dyn Interface],
}

/// Derives the result types of an op from the rest of it.
pub type InferTypes = fn(&Module, OpId) -> Result<Vec<TypeData>, Diagnostic>;

/// Says of which types, with which extents, the result types of an op are instances.
pub type InferInstances = fn(&Module, OpId) -> Result<Instances, Diagnostic>;

/// Types of a function, and what its symbolic extents are at one place where it is used.
#[derive(Debug)]
pub struct Instances {
    /// The types, as the function declares them.
    pub types: Vec<Type>,
    /// What stands for its symbolic extents.
    pub extents: Extents,
}

/// How result types follow from the rest of an op.
#[derive(Clone, Copy, Debug)]
pub enum TypeInference {
    /// They are computed.
    Computed(InferTypes),
    /// They are those of a function, with the extents of this use in place of the function's symbolic ones.
    Instances(InferInstances),
}

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
        successors: SuccessorCount::Exactly(0),
        syntax: Syntax::Uniform,
        traits: 0,
        inference: None,
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

    /// Sets how many blocks it may continue at; without this, none.
    pub const fn successors(mut self, successors: SuccessorCount) -> OpDef {
        self.successors = successors;
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
        self.inference = Some(TypeInference::Computed(infer));
        self
    }

    /// Sets of which types the result types are instances.
    pub const fn infer_instances(mut self, infer: InferInstances) -> OpDef {
        self.inference = Some(TypeInference::Instances(infer));
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
    pub fn type_inference(&self) -> Option<TypeInference> {
        self.inference
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

    /// The name of the dialect's own attribute in this attribute of an op with [`Syntax::Definition`].
    pub fn defining_attribute(&self, attribute: &str) -> String {
        format!("{}.{attribute}", self.dialect())
    }

    /// The attribute whose symbol is written right after the op's name, if there is one.
    pub fn leading_symbol(&self) -> Option<&'static str> {
        match self.syntax {
            Syntax::Uniform | Syntax::Value => None,
            Syntax::Symbol(attribute) => Some(attribute),
            Syntax::Body | Syntax::Function | Syntax::Definition(_) | Syntax::Text(_) => Some(SYMBOL_NAME),
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
    /// Its region holds named ops.
    SymbolTable,
    /// What is inside sees no value from outside.
    Isolated,
    /// The blocks of its regions need no terminator.
    NoTerminator,
    /// May stand only directly in a [`Trait::SymbolTable`] op.
    TopLevel,
    /// Its result types and its own check follow from its [`Profile`](crate::Profile), so that ops of one profile are
    /// checked once.
    Local,
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
    /// A name, `=`, and in brackets the parameters of the dialect's own attribute in this attribute, which has the same
    /// name: `dist.mesh @m = [x = 2, y = 4]`, where `axes` holds a `#dist.axes<x = 2, y = 4>`.
    Definition(&'static str),
    /// A name, and text in a language of the dialect's own up to a closing brace: `tdl @f(x: [N]) -> [N] { … }`. This
    /// attribute holds the text behind the name, as it is written. Of the language nothing is known but that braces come
    /// in pairs, comments go from `//` to the end of the line, and strings stand in `"` on one line.
    Text(&'static str),
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
