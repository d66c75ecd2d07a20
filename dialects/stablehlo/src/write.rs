//! The writer: a module of our dialects as StableHLO's text, as JAX prints it and reads it.
//!
//! An op is written in its pretty form where it has one that says all of it, else in the generic form. What StableHLO
//! has no words for is reported, all of it.
//!
//! | file | writes |
//! |---|---|
//! | `generic`, `pretty`, `items` | ops: the generic form, pretty forms, modules and functions |
//! | `attributes` | attributes of ours as those of StableHLO |
//! | `literals` | types, attributes and constants as MLIR spells them |

mod attributes;
mod generic;
mod items;
mod literals;
mod pretty;

use std::fmt::Write as _;

use tofu_diagnostics::{Diagnostic, codes};
use tofu_dialect_func::FUNC;
use tofu_ir::{
    Attr, AttrData, BlockId, EntityId, MAX_REGION_DEPTH, Module, Name, OpDef, OpId, RegionId, Type, ValueId,
    builtin::MODULE, write_location_with,
};
use tofu_syntax::ValueNames;

use crate::{
    dialect::{OPAQUE, OPAQUE_ATTRIBUTES, OPAQUE_NAME, OPAQUE_PROPERTIES},
    syntax::{OpSyntax, foreign_name, syntax},
};

/// How a program is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct WriteOptions {
    /// With the location of every op that has one.
    pub locations: bool,
}

/// A whole program as StableHLO's text.
///
/// # Errors
/// When something in the program cannot be said in StableHLO: each such thing, at its place.
pub fn write(module: &Module, options: WriteOptions) -> Result<String, Vec<Diagnostic>> {
    let mut writer = Writer {
        module,
        options,
        names: ValueNames::with_scopes(module, module.root(), opens_scope),
        out: String::new(),
        found: Vec::new(),
        indent: 0,
        current: module.root(),
        shapes: 0,
        types: Vec::new(),
    };
    writer.op(module.root());
    if writer.found.is_empty() { Ok(writer.out) } else { Err(writer.found) }
}

/// Whether StableHLO's parser sees names in an op's body apart from those around it.
fn opens_scope(module: &Module, op: OpId) -> bool {
    module.is(op, &FUNC) || module.is(op, &MODULE)
}

struct Writer<'m> {
    module: &'m Module,
    options: WriteOptions,
    names: ValueNames,
    out: String,
    found: Vec<Diagnostic>,
    indent: usize,
    /// The op that is being written.
    current: OpId,
    /// How many shapes of random tensors were written.
    shapes: usize,
    /// Where in `out` each type was first written; writing it again is a copy.
    types: Vec<(u32, u32)>,
}

/// An op as StableHLO knows it.
struct Foreign {
    op: OpId,
    name: String,
    syntax: &'static OpSyntax,
    /// Our definition; none for an op that is not known.
    def: Option<&'static OpDef>,
    /// Its attributes, under our names.
    attributes: Vec<(Name, Attr)>,
    /// How many of them, the first ones, an op that is not known has itself.
    property_count: usize,
}

impl Writer<'_> {
    /// One op with all that is in it, on lines of its own.
    fn op(&mut self, op: OpId) {
        let Some(foreign) = self.foreign(op) else { return };
        let outer = std::mem::replace(&mut self.current, op);
        let shape = self.shape_operand(&foreign);
        self.line();
        self.results(op);
        let (start, found) = (self.out.len(), self.found.len());
        if !self.pretty(&foreign, shape.as_deref()) {
            self.out.truncate(start);
            self.found.truncate(found);
            self.forget_types(start);
            self.generic(&foreign, shape.as_deref());
        }
        let location = self.module.location(op);
        if self.options.locations && location != self.module.interner.unknown_location() {
            self.out.push_str(" loc(");
            let mut text = String::new();
            write_location_with(&mut text, self.module, location, &mut |text, metadata| {
                text.push_str(&self.attr_text(metadata));
            });
            self.out.push_str(&text);
            self.out.push(')');
        }
        self.out.push('\n');
        self.current = outer;
    }

    /// What an op is in StableHLO.
    fn foreign(&mut self, op: OpId) -> Option<Foreign> {
        let module = self.module;
        let def = module.def(op);
        if module.is(op, &OPAQUE) {
            let AttrData::String(name) = module.attr_value(op, OPAQUE_NAME)? else { return None };
            let dictionary = |key| module.attr(op, key).map_or(&[][..], |attr| module.dict(attr));
            let properties = dictionary(OPAQUE_PROPERTIES);
            return Some(Foreign {
                op,
                name: name.to_string(),
                syntax: syntax(name),
                def: None,
                attributes: [properties, dictionary(OPAQUE_ATTRIBUTES)].concat(),
                property_count: properties.len(),
            });
        }
        let Some(name) = foreign_name(def.name) else {
            let message = format!("`{}` cannot be written in StableHLO", def.written_name());
            self.found.push(module.error(op, &codes::NOT_EXPRESSIBLE, message));
            return None;
        };
        let syntax = syntax(&name);
        let attributes = module.attrs(op).to_vec();
        Some(Foreign { op, name, syntax, def: Some(def), attributes, property_count: 0 })
    }

    /// Says that something in the current op cannot be written.
    fn refuse(&mut self, message: String) {
        let span = self.module.span(self.current);
        self.found.push(Diagnostic::error(&codes::NOT_EXPRESSIBLE, span, message));
    }

    /// `%a, %b =`.
    fn results(&mut self, op: OpId) {
        let count = self.module.result_count(op);
        if count > 0 {
            self.values(self.module.results(op));
            self.out.push_str(" = ");
        }
    }

    fn value(&mut self, value: ValueId) {
        self.out.push('%');
        self.names.write_value(&mut self.out, self.module, value);
    }

    fn values(&mut self, values: impl Iterator<Item = ValueId>) {
        for (index, value) in values.enumerate() {
            self.separate(index);
            self.value(value);
        }
    }

    fn ty(&mut self, ty: Type) {
        let index = ty.index();
        if let Some(&(start, end)) = self.types.get(index)
            && end > 0
        {
            return self.out.extend_from_within(start as usize..end as usize);
        }
        let start = self.out.len();
        self.new_type(ty);
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.out.len())) {
            if index >= self.types.len() {
                self.types.resize(index + 1, (0, 0));
            }
            self.types[index] = (start, end);
        }
    }

    /// Forgets the types that were written behind `start`, where the text was taken back.
    fn forget_types(&mut self, start: usize) {
        for place in self.types.iter_mut().filter(|place| place.1 as usize > start) {
            *place = (0, 0);
        }
    }

    fn type_list(&mut self, types: impl Iterator<Item = Type>) {
        for (index, ty) in types.enumerate() {
            self.separate(index);
            self.ty(ty);
        }
    }

    /// `(types) -> types` of an op.
    fn functional_type(&mut self, op: OpId, shape: Option<&str>) {
        let module = self.module;
        self.out.push('(');
        self.type_list(module.operands(op).map(|operand| module.ty(operand)));
        if shape.is_some() {
            let rank = module.tensor_type(module.result(op, 0)).map_or(0, |tensor| tensor.rank());
            let _ = write!(self.out, ", tensor<{rank}xi64>");
        }
        self.out.push_str(") -> ");
        self.result_types(op);
    }

    /// The types of results, in parentheses unless there is one.
    fn result_types(&mut self, op: OpId) {
        let module = self.module;
        let types = module.results(op).map(|result| module.ty(result));
        if types.len() == 1 {
            return self.type_list(types);
        }
        self.out.push('(');
        self.type_list(types);
        self.out.push(')');
    }

    /// The blocks of a region in braces. With `has_head`, what the entry takes has been said before.
    fn region(&mut self, region: RegionId, has_head: bool) {
        let module = self.module;
        self.out.push_str("{\n");
        self.indent += 1;
        if self.indent > MAX_REGION_DEPTH * 2 {
            self.refuse("regions nest too deep".to_owned());
        } else {
            for (index, &block) in module.blocks(region).iter().enumerate() {
                let is_blank = module.arguments(block).is_empty() && module.first_op(block).is_some();
                if index > 0 || !has_head && !is_blank {
                    self.label(block);
                }
                for op in module.ops(block) {
                    self.op(op);
                }
            }
        }
        self.indent -= 1;
        self.line();
        self.out.push('}');
    }

    fn label(&mut self, block: BlockId) {
        self.indent -= 1;
        self.line();
        self.indent += 1;
        self.out.push('^');
        self.names.write_block(&mut self.out, self.module, block);
        if !self.module.arguments(block).is_empty() {
            self.arguments(self.module.arguments(block));
        }
        self.out.push_str(":\n");
    }

    /// `(%x: type, %y: type)`.
    fn arguments(&mut self, arguments: &[ValueId]) {
        self.out.push('(');
        for (index, &argument) in arguments.iter().enumerate() {
            self.separate(index);
            self.value(argument);
            self.out.push_str(": ");
            self.ty(self.module.ty(argument));
        }
        self.out.push(')');
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }

    fn line(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }
}
