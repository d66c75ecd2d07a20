//! The printer.
//!
//! Every op is written `results = name operands [successors] {attributes} (regions) : types loc(…)`, with the short
//! cuts that its [`Syntax`] names in the pretty form, and without any in the generic form, where the name is quoted.
//! An op that does not fit its short cut (a call without a callee, say) is written in the generic form even among
//! pretty ones, so that whatever is in memory can be looked at.

mod names;

use std::fmt::Write;

use tofu_ir::{
    ARGUMENT_ATTRIBUTES, Attr, AttrData, BlockId, DialectAttr, DisplayOptions, FUNCTION_TYPE, FunctionType,
    Module, Name, OpId, RESULT_ATTRIBUTES, RegionId, Syntax, Type, TypeData, VALUE, ValueId, write_attr,
    write_dense, write_dict, write_location, write_parameters, write_type, write_word,
};

use crate::foreign::{End, end_of, is_word_inner};
pub use names::ValueNames;
pub(crate) use names::is_block_number;
use names::written_block_name;

/// How a program is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PrintOptions {
    /// Every op alike, with its full name in quotes.
    pub generic: bool,
    /// With the location of every op that has one.
    pub locations: bool,
    /// Constants of more elements than this that are no splat are written without their value; such text cannot be
    /// read back.
    pub elide_constants: Option<usize>,
}

/// A whole program as text.
pub fn print(module: &Module, options: &PrintOptions) -> String {
    print_op(module, module.root(), options)
}

/// An op and all that is in it as text, with a line break at the end.
pub fn print_op(module: &Module, op: OpId, options: &PrintOptions) -> String {
    let mut printer = Printer {
        module,
        options: *options,
        display: DisplayOptions { elide_constants: options.elide_constants },
        names: ValueNames::of(module, op),
        out: String::new(),
        indent: 0,
        types: Vec::new(),
    };
    printer.op(op);
    printer.out.push('\n');
    printer.out
}

struct Printer<'m> {
    module: &'m Module,
    options: PrintOptions,
    display: DisplayOptions,
    names: ValueNames,
    out: String,
    indent: usize,
    /// Where in `out` each type was first written; writing it again is a copy.
    types: Vec<(u32, u32)>,
}

/// What a line begins with for each region that it stands in.
const INDENT: &str = "  ";

/// Regions deeper than any verified program has are cut off, so that printing a broken module cannot overflow the
/// stack.
const MAX_DEPTH: usize = tofu_ir::MAX_REGION_DEPTH * 2;

impl Printer<'_> {
    fn op(&mut self, op: OpId) {
        let module = self.module;
        for (index, result) in module.results(op).enumerate() {
            self.separate(index);
            self.value(result);
        }
        if module.result_count(op) > 0 {
            self.out.push_str(" = ");
        }
        let def = module.def(op);
        let syntax = if self.options.generic { None } else { self.fitting_syntax(op) };
        match syntax {
            Some(_) => self.out.push_str(def.written_name()),
            None => {
                self.out.push('"');
                self.out.push_str(def.name);
                self.out.push('"');
            }
        }
        match syntax {
            Some(Syntax::Uniform) => self.uniform(op),
            Some(Syntax::Symbol(attribute)) => self.symbol_syntax(op, attribute),
            Some(Syntax::Value) => self.value_syntax(op),
            Some(Syntax::Body) => self.body_syntax(op),
            Some(Syntax::Function) => self.function_syntax(op),
            Some(Syntax::Definition(attribute)) => self.definition_syntax(op, attribute),
            Some(Syntax::Text(attribute)) => self.text_syntax(op, attribute),
            None => self.generic(op),
        }
        self.location(op);
    }

    /// The op's syntax, if everything that it leaves unsaid is as it says.
    fn fitting_syntax(&self, op: OpId) -> Option<Syntax> {
        let module = self.module;
        let syntax = module.def(op).syntax;
        let has_symbol = |attribute| matches!(module.attr_value(op, attribute), Some(AttrData::Symbol(_)));
        let is_name = |attr| matches!(module.attr_data(attr), AttrData::Symbol(path) if path.len() == 1);
        let bare = module.operand_count(op) == 0 && module.result_count(op) == 0;
        let body = module.only_region(op).filter(|_| bare && module.successors(op).is_empty());
        let fits = match syntax {
            Syntax::Uniform => true,
            Syntax::Symbol(attribute) => {
                has_symbol(attribute) && module.region_count(op) == 0 && module.successors(op).is_empty()
            }
            Syntax::Value => {
                module.operand_count(op) == 0
                    && module.region_count(op) == 0
                    && module.result_count(op) == 1
                    && module.successors(op).is_empty()
                    && matches!(module.attr_value(op, VALUE), Some(AttrData::Dense(dense))
                        if dense.ty == module.ty(module.result(op, 0)))
            }
            Syntax::Body => {
                body.is_some_and(|region| {
                    module.blocks(region).len() == 1 && self.entry_is_plain(region, &[])
                }) && module.attr(op, tofu_ir::SYMBOL_NAME).is_none_or(is_name)
            }
            Syntax::Function => {
                module.attr(op, tofu_ir::SYMBOL_NAME).is_some_and(is_name)
                    && body.is_some_and(|region| {
                        self.function_type(op).is_some_and(|function| {
                            self.entry_is_plain(region, &function.inputs)
                                && self.dictionaries_fit(op, ARGUMENT_ATTRIBUTES, function.inputs.len())
                                && self.dictionaries_fit(op, RESULT_ATTRIBUTES, function.results.len())
                        })
                    })
            }
            Syntax::Definition(attribute) => {
                bare && module.region_count(op) == 0
                    && module.successors(op).is_empty()
                    && module.attr(op, tofu_ir::SYMBOL_NAME).is_some_and(is_name)
                    && defined(module, op, attribute).is_some()
            }
            Syntax::Text(attribute) => {
                let is_plain = |&(name, attr): &(Name, Attr)| match module.text(name) {
                    tofu_ir::SYMBOL_NAME => is_name(attr),
                    name => name == attribute && self.text_stands_alone(attr),
                };
                bare && module.region_count(op) == 0
                    && module.successors(op).is_empty()
                    && module.attrs(op).len() == 2
                    && module.attrs(op).iter().all(is_plain)
            }
        };
        fits.then_some(syntax)
    }

    /// Whether the text in an attribute, written at the current place, is read back as it is.
    fn text_stands_alone(&self, attr: Attr) -> bool {
        let AttrData::String(text) = self.module.attr_data(attr) else { return false };
        // A location may follow, whose quotes must not close one that the text leaves open.
        let followed = format!("{text}\"");
        let indent = self.indent * INDENT.len();
        !text.starts_with(is_word_inner)
            && end_of(&followed, 0, || indent, self.module.registry()) == End::Closed(text.len())
    }

    /// Whether the entry block says nothing that a signature of these arguments does not.
    fn entry_is_plain(&self, region: RegionId, arguments: &[Type]) -> bool {
        self.module.entry(region).is_none_or(|entry| {
            let types = self.module.arguments(entry).iter().map(|&argument| self.module.ty(argument));
            written_block_name(self.module, entry).is_none() && types.eq(arguments.iter().copied())
        })
    }

    /// Whether an attribute is missing or holds `count` dictionaries, not all empty.
    fn dictionaries_fit(&self, op: OpId, attribute: &str, count: usize) -> bool {
        match self.module.attr_value(op, attribute) {
            None => true,
            Some(AttrData::Array(items)) => {
                let is_dict = |attr: &Attr| matches!(self.module.attr_data(*attr), AttrData::Dict(_));
                items.len() == count
                    && items.iter().all(is_dict)
                    && items.iter().any(|&attr| !self.module.dict(attr).is_empty())
            }
            Some(_) => false,
        }
    }

    fn function_type(&self, op: OpId) -> Option<&FunctionType> {
        match self.module.attr_value(op, FUNCTION_TYPE)? {
            AttrData::Type(ty) => match self.module.type_data(*ty) {
                TypeData::Function(function) => Some(function),
                _ => None,
            },
            _ => None,
        }
    }

    fn generic(&mut self, op: OpId) {
        self.parenthesized_operands(op);
        self.successors(op);
        self.attributes(op, &[]);
        self.regions(op);
        self.out.push_str(" : (");
        self.result_types(op);
        self.out.push(')');
    }

    fn uniform(&mut self, op: OpId) {
        let forwarded: usize = self.forwarded(op);
        for index in 0..self.module.operand_count(op).saturating_sub(forwarded) {
            self.out.push_str(if index == 0 { " " } else { ", " });
            self.value(self.module.operand(op, index));
        }
        self.successors(op);
        self.attributes(op, &[]);
        self.regions(op);
        if self.module.result_count(op) > 0 {
            self.out.push_str(" : ");
            self.result_types(op);
        }
    }

    fn symbol_syntax(&mut self, op: OpId, attribute: &'static str) {
        if let Some(attr) = self.module.attr(op, attribute) {
            self.out.push(' ');
            write_attr(&mut self.out, self.module, attr, self.display);
        }
        self.parenthesized_operands(op);
        self.attributes(op, &[attribute]);
        if self.module.result_count(op) > 0 {
            self.out.push_str(" : ");
            self.result_types(op);
        }
    }

    fn value_syntax(&mut self, op: OpId) {
        if let Some(AttrData::Dense(dense)) = self.module.attr_value(op, VALUE) {
            self.out.push(' ');
            write_dense(&mut self.out, self.module, dense, self.display);
        }
        self.attributes(op, &[VALUE]);
        self.out.push_str(" : ");
        self.result_types(op);
    }

    fn body_syntax(&mut self, op: OpId) {
        if let Some(name) = self.module.symbol_name(op) {
            self.symbol(name);
        }
        self.keyword_attributes(op, &[tofu_ir::SYMBOL_NAME]);
        self.braced(op);
    }

    fn function_syntax(&mut self, op: OpId) {
        let module = self.module;
        if let Some(name) = module.symbol_name(op) {
            self.symbol(name);
        }
        let Some(function) = self.function_type(op).cloned() else { return };
        let entry = module.only_region(op).and_then(|region| module.entry(region));
        self.out.push('(');
        for (index, &ty) in function.inputs.iter().enumerate() {
            self.separate(index);
            match entry {
                Some(entry) => self.value(module.arguments(entry)[index]),
                None => {
                    let _ = write!(self.out, "%{index}");
                }
            }
            self.out.push_str(": ");
            self.ty(ty);
            self.item_attributes(op, ARGUMENT_ATTRIBUTES, index);
        }
        self.out.push(')');
        self.function_results(op, &function.results);
        self.keyword_attributes(
            op,
            &[tofu_ir::SYMBOL_NAME, FUNCTION_TYPE, ARGUMENT_ATTRIBUTES, RESULT_ATTRIBUTES],
        );
        if entry.is_some() {
            self.braced(op);
        }
    }

    fn definition_syntax(&mut self, op: OpId, attribute: &str) {
        let module = self.module;
        if let Some(name) = module.symbol_name(op) {
            self.symbol(name);
        }
        if let Some(defined) = defined(module, op, attribute) {
            self.out.push_str(" = [");
            write_parameters(&mut self.out, module, defined);
            self.out.push(']');
        }
        self.keyword_attributes(op, &[tofu_ir::SYMBOL_NAME, attribute]);
    }

    fn text_syntax(&mut self, op: OpId, attribute: &str) {
        if let Some(name) = self.module.symbol_name(op) {
            self.symbol(name);
        }
        if let Some(AttrData::String(text)) = self.module.attr_value(op, attribute) {
            self.out.push_str(text);
        }
    }

    fn function_results(&mut self, op: OpId, results: &[Type]) {
        if results.is_empty() {
            return;
        }
        self.out.push_str(" -> ");
        let bare = self.module.attr(op, RESULT_ATTRIBUTES).is_none()
            && results.len() == 1
            && !matches!(self.module.type_data(results[0]), TypeData::Function(_));
        if bare {
            return self.ty(results[0]);
        }
        self.out.push('(');
        for (index, &ty) in results.iter().enumerate() {
            self.separate(index);
            self.ty(ty);
            self.item_attributes(op, RESULT_ATTRIBUTES, index);
        }
        self.out.push(')');
    }

    fn item_attributes(&mut self, op: OpId, attribute: &str, index: usize) {
        let Some(AttrData::Array(items)) = self.module.attr_value(op, attribute) else { return };
        let entries = self.module.dict(items[index]);
        if !entries.is_empty() {
            self.out.push(' ');
            write_dict(&mut self.out, self.module, entries, self.display);
        }
    }

    fn keyword_attributes(&mut self, op: OpId, except: &[&str]) {
        let before = self.out.len();
        self.out.push_str(" attributes");
        let written = self.out.len();
        self.attributes(op, except);
        if self.out.len() == written {
            self.out.truncate(before);
        }
    }

    fn attributes(&mut self, op: OpId, except: &[&str]) {
        let module = self.module;
        let all = module.attrs(op);
        let kept: Vec<(Name, Attr)>;
        let entries = if except.is_empty() {
            all
        } else {
            kept = all.iter().copied().filter(|&(name, _)| !except.contains(&module.text(name))).collect();
            &kept
        };
        if !entries.is_empty() {
            self.out.push(' ');
            write_dict(&mut self.out, module, entries, self.display);
        }
    }

    fn forwarded(&self, op: OpId) -> usize {
        self.module.successors(op).iter().map(|successor| successor.argument_count as usize).sum()
    }

    fn parenthesized_operands(&mut self, op: OpId) {
        self.out.push('(');
        for index in 0..self.module.operand_count(op).saturating_sub(self.forwarded(op)) {
            self.separate(index);
            self.value(self.module.operand(op, index));
        }
        self.out.push(')');
    }

    fn successors(&mut self, op: OpId) {
        let module = self.module;
        for (index, successor) in module.successors(op).iter().enumerate() {
            self.out.push_str(if index == 0 { " [" } else { ", " });
            self.block_label(successor.block);
            if successor.argument_count > 0 {
                self.out.push('(');
                for (index, argument) in module.successor_arguments(op, index).enumerate() {
                    self.separate(index);
                    self.value(argument);
                }
                self.out.push(')');
            }
        }
        if !module.successors(op).is_empty() {
            self.out.push(']');
        }
    }

    fn regions(&mut self, op: OpId) {
        for (index, region) in self.module.regions(op).enumerate() {
            self.out.push_str(if index == 0 { " ({" } else { ", {" });
            self.region(region, true);
            self.out.push('}');
        }
        if self.module.region_count(op) > 0 {
            self.out.push(')');
        }
    }

    fn braced(&mut self, op: OpId) {
        self.out.push_str(" {");
        if let Some(region) = self.module.only_region(op) {
            self.region(region, false);
        }
        self.out.push('}');
    }

    /// The blocks of a region, up to the closing brace. The entry's label is left out where the op's head says all
    /// that it would, and where it would say nothing.
    fn region(&mut self, region: RegionId, entry_needs_label: bool) {
        let module = self.module;
        self.out.push('\n');
        self.indent += 1;
        if self.indent > MAX_DEPTH {
            self.line();
            self.out.push_str("// deeper regions are not shown\n");
        } else {
            for (index, &block) in module.blocks(region).iter().enumerate() {
                // A block without ops needs its label to be seen at all.
                let blank = module.arguments(block).is_empty()
                    && written_block_name(module, block).is_none()
                    && module.first_op(block).is_some();
                if index > 0 || entry_needs_label && !blank {
                    self.block_head(block);
                }
                for op in module.ops(block) {
                    self.line();
                    self.op(op);
                    self.out.push('\n');
                }
            }
        }
        self.indent -= 1;
        self.line();
    }

    fn block_head(&mut self, block: BlockId) {
        let module = self.module;
        self.indent -= 1;
        self.line();
        self.indent += 1;
        self.block_label(block);
        if !module.arguments(block).is_empty() {
            self.out.push('(');
            for (index, &argument) in module.arguments(block).iter().enumerate() {
                self.separate(index);
                self.value(argument);
                self.out.push_str(": ");
                self.ty(module.ty(argument));
            }
            self.out.push(')');
        }
        self.out.push_str(":\n");
    }

    fn block_label(&mut self, block: BlockId) {
        self.out.push('^');
        self.names.write_block(&mut self.out, self.module, block);
    }

    fn result_types(&mut self, op: OpId) {
        for (index, result) in self.module.results(op).enumerate() {
            self.separate(index);
            self.ty(self.module.ty(result));
        }
    }

    fn ty(&mut self, ty: Type) {
        let index = tofu_ir::EntityId::index(ty);
        if let Some(&(start, end)) = self.types.get(index)
            && end > 0
        {
            return self.out.extend_from_within(start as usize..end as usize);
        }
        let start = self.out.len();
        write_type(&mut self.out, self.module, ty);
        if let (Ok(start), Ok(end)) = (u32::try_from(start), u32::try_from(self.out.len())) {
            if index >= self.types.len() {
                self.types.resize(index + 1, (0, 0));
            }
            self.types[index] = (start, end);
        }
    }

    fn value(&mut self, value: ValueId) {
        self.out.push('%');
        self.names.write_value(&mut self.out, self.module, value);
    }

    fn symbol(&mut self, name: Name) {
        self.out.push_str(" @");
        write_word(&mut self.out, self.module.text(name));
    }

    fn location(&mut self, op: OpId) {
        let location = self.module.location(op);
        if self.options.locations && location != self.module.interner.unknown_location() {
            self.out.push_str(" loc(");
            write_location(&mut self.out, self.module, location);
            self.out.push(')');
        }
    }

    fn separate(&mut self, index: usize) {
        if index > 0 {
            self.out.push_str(", ");
        }
    }

    fn line(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str(INDENT);
        }
    }
}

/// The attribute that a definition is of.
fn defined<'m>(module: &'m Module, op: OpId, attribute: &str) -> Option<&'m DialectAttr> {
    match module.attr_value(op, attribute)? {
        AttrData::Dialect(dialect) => {
            let name = module.def(op).defining_attribute(attribute);
            (dialect.def.name == name).then_some(dialect)
        }
        _ => None,
    }
}
