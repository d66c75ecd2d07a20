//! Modules, functions and calls.

use tofu_dialect_func::{CALLEE, VISIBILITY};
use tofu_ir::{
    ARGUMENT_ATTRIBUTES, Attr, AttrData, FUNCTION_TYPE, FunctionType, RESULT_ATTRIBUTES, SYMBOL_NAME, Type,
};

use super::{Read, Reader, Reported, regions::Argument, statement::Op};

impl<'s> Reader<'s> {
    /// `module @name attributes {…} { … }`.
    pub(super) fn module_op(&mut self, op: &mut Op<'s>) -> Read {
        if self.module_head(op).is_err() {
            self.lost_head(op)?;
        }
        op.is_damaged |= std::mem::take(&mut self.is_doubtful);
        let blocks = self.isolated(|reader| reader.region(Some(&[])))?;
        op.regions.push(blocks);
        Ok(())
    }

    fn module_head(&mut self, op: &mut Op<'s>) -> Read {
        if self.next() == b'@' {
            self.defined_symbol(op)?;
        }
        if self.take_word("attributes") {
            self.entries(&mut op.attributes)?;
        }
        if self.next() == b'{' { Ok(()) } else { self.expected("`attributes {…}` or `{` and the body") }
    }

    /// `@name`, which the op defines.
    pub(super) fn defined_symbol(&mut self, op: &mut Op<'s>) -> Read {
        self.next();
        let start = self.at;
        let name = self.symbol()?;
        let name = self.module.interner.symbol(&name);
        let span = self.span(start, self.at);
        self.push(op, SYMBOL_NAME, name, span);
        Ok(())
    }

    /// `func.func private @name(%x: type {…}, …) -> (type {…}, …) attributes {…} { … }`.
    pub(super) fn function(&mut self, op: &mut Op<'s>) -> Read {
        let (arguments, lost) = match self.function_head(op) {
            Ok(arguments) => (arguments, &self.text[..0]),
            Err(Reported) => (Vec::new(), self.lost_head(op)?),
        };
        op.is_damaged |= std::mem::take(&mut self.is_doubtful);
        let blocks = if self.next() == b'{' {
            self.function_body(|reader| {
                reader.assume_arguments(lost);
                reader.region(Some(&arguments))
            })?
        } else {
            Vec::new()
        };
        op.regions.push(blocks);
        Ok(())
    }

    fn function_head(&mut self, op: &mut Op<'s>) -> Read<Vec<Argument<'s>>> {
        if let word @ ("public" | "private" | "nested") = self.peek_word() {
            let (_, span) = self.token();
            self.at += word.len();
            let visibility = self.module.interner.string(word);
            self.push(op, VISIBILITY, visibility, span);
        }
        self.defined_symbol(op)?;
        self.next();
        let start = self.at;
        let (arguments, types, argument_attributes) = self.parameters()?;
        let (results, result_attributes) =
            if self.take_text("->") { self.function_results()? } else { Default::default() };
        let span = self.span(start, self.at);
        let function = FunctionType { inputs: types.into(), results: results.into() };
        let ty = self.module.interner.ty(function);
        let ty = self.module.interner.attr(AttrData::Type(ty));
        self.push(op, FUNCTION_TYPE, ty, span);
        for (name, dictionaries) in
            [(ARGUMENT_ATTRIBUTES, argument_attributes), (RESULT_ATTRIBUTES, result_attributes)]
        {
            let empty = self.module.interner.empty_dict();
            if dictionaries.iter().any(|&dictionary| dictionary != empty) {
                let attr = self.module.interner.attr(AttrData::Array(dictionaries.into()));
                self.push(op, name, attr, span);
            }
        }
        if self.take_word("attributes") {
            self.entries(&mut op.attributes)?;
        }
        Ok(arguments)
    }

    /// `(%x: type {…} loc(…), …)`, or without names `(type {…}, …)`: arguments, their types, their attributes.
    fn parameters(&mut self) -> Read<(Vec<Argument<'s>>, Vec<Type>, Vec<Attr>)> {
        self.expect(b'(')?;
        let (mut arguments, mut types, mut attributes) = (Vec::new(), Vec::new(), Vec::new());
        while !self.take(b')') {
            if !types.is_empty() {
                self.comma_or(")")?;
            }
            let named = if self.next() == b'%' {
                let named = self.argument_name()?;
                self.expect(b':')?;
                Some(named)
            } else {
                None
            };
            let ty = self.ty()?;
            types.push(ty);
            if let Some((name, span)) = named {
                arguments.push(Argument { name, span, ty });
            }
            attributes.push(self.item_attributes()?);
            self.optional_location()?;
        }
        Ok((arguments, types, attributes))
    }

    /// `type`, or `(type {…}, …)`.
    fn function_results(&mut self) -> Read<(Vec<Type>, Vec<Attr>)> {
        let (mut types, mut attributes) = (Vec::new(), Vec::new());
        if !self.take(b'(') {
            return Ok((vec![self.ty()?], attributes));
        }
        while !self.take(b')') {
            if !types.is_empty() {
                self.comma_or(")")?;
            }
            types.push(self.ty()?);
            attributes.push(self.item_attributes()?);
        }
        Ok((types, attributes))
    }

    /// The dictionary of an argument or a result.
    fn item_attributes(&mut self) -> Read<Attr> {
        if self.next() != b'{' {
            return Ok(self.module.interner.empty_dict());
        }
        let mut entries = Vec::new();
        self.entries(&mut entries)?;
        self.check_prefixes(&entries);
        Ok(self.interned(&entries))
    }

    /// `call @f(%x) {…} : (types) -> types`.
    pub(super) fn call(&mut self, op: &mut Op<'s>) -> Read {
        self.next();
        let start = self.at;
        let callee = self.symbol_path()?;
        let callee = self.module.interner.attr(AttrData::Symbol(callee));
        let span = self.span(start, self.at);
        self.push(op, CALLEE, callee, span);
        self.operands(op, b'(', b')')?;
        self.attribute_dictionary(op)?;
        if !self.take(b':') {
            return self.expected("`:` and the types");
        }
        self.signature(op)
    }
}
