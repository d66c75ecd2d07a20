//! Attributes of StableHLO as those of our ops.
//!
//! The table in `syntax` says where names or forms differ. For all others, an attribute that our op has under the same
//! name is brought into the form that our op asks for; what our op does not have is kept under the prefix `stablehlo.`,
//! or as it is if it has a prefix of its own.

use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::{Attr, AttrClass, AttrData, AttributeSpec, DialectAttr, ElementType, OpDef, ParametricDef};

use super::{
    Reader,
    attributes::Written,
    statement::{Kind as OpKind, Op},
};
use crate::{
    dialect::{CONV, DOT},
    syntax::{AttributeSyntax, Form, Kind, NO_TYPE, OpSyntax, is_kept},
};

impl<'s> Reader<'s> {
    /// Turns the attributes of an op into those of ours.
    pub(super) fn translate(&mut self, op: &mut Op<'s>, kind: OpKind) {
        let properties = op.property_count;
        for (index, written) in std::mem::take(&mut op.attributes).into_iter().enumerate() {
            match kind.syntax.attribute(written.name) {
                Some(syntax) => self.known_attribute(op, kind, syntax, written),
                None => match kind.def {
                    Some(def) => self.other_attribute(op, kind.syntax.form, def, written),
                    None => self.push(op, written.name, written.attr, written.span),
                },
            }
            if index + 1 == properties {
                // One attribute may have become several.
                op.property_count = op.entries.len();
            }
        }
    }

    /// Adds an attribute of our op.
    pub(super) fn push(&mut self, op: &mut Op<'s>, name: &str, attr: Attr, span: Span) {
        let name = self.module.interner.name(name);
        op.push(name, attr, span);
    }

    fn known_attribute(
        &mut self,
        op: &mut Op<'s>,
        kind: OpKind,
        syntax: &AttributeSyntax,
        Written { attr, span, .. }: Written<'s>,
    ) {
        let attr = match syntax.kind {
            Kind::Dot => return self.dot(op, kind.syntax, attr, span),
            Kind::Flat(def, fields) => return self.flat(op, kind.def, def, fields, attr, span),
            Kind::Ints | Kind::Bools => self.ints(attr),
            Kind::Padding => self.columns(attr),
            Kind::Int(_) => self.wide(attr),
            Kind::Word(def) => {
                let word = self.word_of(attr, Some(def));
                if matches!(self.module.attr_data(word), AttrData::String(word) if **word == *NO_TYPE) {
                    return;
                }
                word
            }
            Kind::Conv => self.word_of(attr, Some(&CONV)),
            Kind::Same
            | Kind::Axes(_)
            | Kind::Bool
            | Kind::Choice(_)
            | Kind::Fields(_)
            | Kind::Float
            | Kind::Pair(..)
            | Kind::Sharding
            | Kind::Words(_) => attr,
        };
        self.push(op, syntax.ours, attr, span);
    }

    /// An attribute that is not in the table. What a custom call may have is known to nobody but its target.
    fn other_attribute(&mut self, op: &mut Op<'s>, form: Form, def: &'static OpDef, written: Written<'s>) {
        let Written { name, attr, span } = written;
        if let Some(spec) = def.attribute(name) {
            let attr = self.fitting(spec.class, attr);
            return self.push(op, name, attr, span);
        }
        let prefix = name.split_once('.').map(|(prefix, _)| prefix);
        match prefix {
            Some(prefix) if prefix != "stablehlo" && self.module.registry().dialect(prefix).is_some() => {
                self.push(op, name, attr, span);
            }
            _ => {
                let is_kept = is_kept(name) || prefix == Some("stablehlo") || form == Form::CustomCall;
                if !self.options.allow_unregistered && !is_kept {
                    let diagnostic = unknown_attribute(op.name, def, prefix, name, span);
                    self.report(diagnostic);
                    op.is_damaged = true;
                }
                self.push(op, &format!("stablehlo.{name}"), attr, span);
            }
        }
    }

    /// Says so if the names in the dictionary of an argument or a result begin with a dialect that is not known.
    pub(super) fn check_prefixes(&mut self, entries: &[Written<'s>]) {
        for written in entries.iter().filter(|_| !self.options.allow_unregistered).collect::<Vec<_>>() {
            let Some((prefix, _)) = written.name.split_once('.') else { continue };
            if self.module.registry().dialect(prefix).is_none() {
                let message = format!("there is no dialect `{prefix}`");
                self.error(&codes::UNKNOWN_DIALECT, written.span, message);
            }
        }
    }

    /// The attribute in the form that is asked for, or as it is.
    fn fitting(&mut self, class: AttrClass, attr: Attr) -> Attr {
        if (class.contains)(&self.module, attr) {
            return attr;
        }
        let forms: [fn(&mut Self, Attr) -> Attr; 5] = [
            Self::ints,
            Self::columns,
            |reader, attr| reader.word_of(attr, None),
            |reader, attr| match reader.module.attr_data(attr) {
                AttrData::String(text) => {
                    let text = text.clone();
                    reader.module.interner.symbol(&text)
                }
                _ => attr,
            },
            |reader, attr| match reader.module.attr_data(attr) {
                AttrData::Unit => reader.module.interner.attr(AttrData::Bool(true)),
                _ => attr,
            },
        ];
        for form in forms {
            let formed = form(self, attr);
            if (class.contains)(&self.module, formed) {
                return formed;
            }
        }
        attr
    }

    /// A list of integers, whatever its form.
    pub(super) fn ints(&mut self, attr: Attr) -> Attr {
        match self.list_of(attr) {
            Some(values) => self.module.interner.ints(values),
            None => attr,
        }
    }

    /// The two columns of a constant as a pair of lists.
    pub(super) fn columns(&mut self, attr: Attr) -> Attr {
        match self.columns_of(attr) {
            Some([left, right]) => self.pair(&left, &right),
            None => attr,
        }
    }

    pub(super) fn pair(&mut self, left: &[i64], right: &[i64]) -> Attr {
        let interner = &mut self.module.interner;
        let (left, right) = (interner.ints(left.iter().copied()), interner.ints(right.iter().copied()));
        interner.attr(AttrData::Pair(left, right))
    }

    /// An integer of 64 bits.
    fn wide(&mut self, attr: Attr) -> Attr {
        match *self.module.attr_data(attr) {
            AttrData::Int(value, _) => self.module.interner.attr(AttrData::Int(value, ElementType::I64)),
            _ => attr,
        }
    }

    /// The word of an enumeration, as a string.
    fn word_of(&mut self, attr: Attr, def: Option<&'static ParametricDef>) -> Attr {
        match self.module.attr_data(attr) {
            AttrData::Dialect(dialect) if def.is_none_or(|def| std::ptr::eq(def, dialect.def)) => {
                match self.module.attr_data(dialect.params) {
                    AttrData::String(_) => dialect.params,
                    _ => attr,
                }
            }
            _ => attr,
        }
    }

    /// The fields of a structure of this definition.
    fn fields(&self, def: &'static ParametricDef, attr: Attr) -> Option<Attr> {
        match self.module.attr_data(attr) {
            AttrData::Dialect(DialectAttr { def: found, params }) if std::ptr::eq(*found, def) => {
                Some(*params)
            }
            _ => None,
        }
    }

    /// `#stablehlo.dot<…>` as pairs of lists.
    fn dot(&mut self, op: &mut Op<'s>, syntax: &'static OpSyntax, attr: Attr, span: Span) {
        let Some(fields) = self.fields(&DOT, attr) else {
            return self.not_a_structure(op, &DOT, span);
        };
        for attribute in syntax.attributes {
            let Kind::Pair(left, right) = attribute.kind else { continue };
            let side = |name| self.module.dict_entry(fields, name).and_then(|attr| self.list_of(attr));
            let (left, right) = (side(left), side(right));
            if left.is_some() || right.is_some() || attribute.ours == "contracting" {
                let pair = self.pair(&left.unwrap_or_default(), &right.unwrap_or_default());
                self.push(op, attribute.ours, pair, span);
            }
        }
    }

    /// The fields of a structure as attributes. One that is left out is empty; our op is told so where it asks for it.
    fn flat(
        &mut self,
        op: &mut Op<'s>,
        def: Option<&'static OpDef>,
        structure: &'static ParametricDef,
        names: &'static [(&'static str, &'static str)],
        attr: Attr,
        span: Span,
    ) {
        let Some(fields) = self.fields(structure, attr) else {
            return self.not_a_structure(op, structure, span);
        };
        for &(name, ours) in names {
            let is_required = |spec: &AttributeSpec| spec.required;
            let attr = match self.module.dict_entry(fields, name) {
                Some(attr) => attr,
                None if !def.and_then(|def| def.attribute(ours)).is_some_and(is_required) => continue,
                None if name == "index_vector_dim" => self.module.interner.int(0),
                None => self.module.interner.ints([]),
            };
            self.push(op, ours, attr, span);
        }
    }

    fn not_a_structure(&mut self, op: &mut Op<'s>, def: &'static ParametricDef, span: Span) {
        self.error(&codes::WRONG_ATTRIBUTE, span, format!("this attribute must be `#{}<…>`", def.name));
        op.is_damaged = true;
    }
}

fn unknown_attribute(
    op: &str,
    def: &'static OpDef,
    prefix: Option<&str>,
    name: &str,
    span: Span,
) -> Diagnostic {
    match prefix {
        Some(prefix) => {
            let message = format!("there is no dialect `{prefix}`");
            Diagnostic::error(&codes::UNKNOWN_DIALECT, span, message)
        }
        None => {
            let help = suggest::did_you_mean(name, def.attributes.iter().map(|spec| spec.name));
            let message = format!("`{op}` has no attribute `{name}`");
            Diagnostic::error(&codes::UNKNOWN_ATTRIBUTE, span, message).maybe_help(help)
        }
    }
}
