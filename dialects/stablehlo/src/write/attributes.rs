//! Attributes of our ops as those of StableHLO: the table in `syntax` the other way round.

use tofu_ir::{Attr, AttrClass, AttrData, Name, ParametricDef};

use super::{Foreign, Writer};
use crate::{
    dialect::{CONV, DOT},
    syntax::{AttributeSyntax, Default, Kind},
};

/// Names and values, as they are written.
pub(super) type Written = Vec<(String, String)>;

impl Writer<'_> {
    /// The attributes of an op that are not in `except`, by name: its own, and those that others have put on it.
    pub(super) fn attributes(&mut self, foreign: &Foreign, except: &[&str]) -> (Written, Written) {
        let (mut own, mut others) = (Vec::new(), Vec::new());
        let module = self.module;
        let kept = |&&(name, _): &&(Name, Attr)| !except.contains(&module.text(name));
        let entries: Vec<(Name, Attr)> = foreign.attributes.iter().filter(kept).copied().collect();
        for (index, &(name, attr)) in entries.iter().enumerate() {
            let name = module.text(name);
            match foreign.syntax.of_ours(name) {
                Some(syntax) if syntax.name.is_empty() => {}
                Some(syntax) => own.push((syntax.name.to_owned(), self.known_value(syntax.kind, attr))),
                None if self.is_part(foreign, name) => {}
                None => match foreign.def.map(|def| def.attribute(name)) {
                    Some(Some(spec)) => {
                        own.push((name.to_owned(), self.own_value(spec.class, attr)));
                    }
                    // An attribute of StableHLO that ours does not have, or of somebody else.
                    Some(None) => {
                        let value = self.attr_text(attr);
                        match name.strip_prefix("stablehlo.") {
                            Some(name) if !name.contains('.') => own.push((name.to_owned(), value)),
                            Some(name) => others.push((name.to_owned(), value)),
                            None => others.push((name.to_owned(), value)),
                        }
                    }
                    None => {
                        let dictionary = if index < foreign.property_count { &mut own } else { &mut others };
                        dictionary.push((name.to_owned(), self.attr_text(attr)));
                    }
                },
            }
        }
        for syntax in foreign.syntax.attributes {
            let text = match syntax.kind {
                Kind::Dot => self.dot(foreign, &entries),
                Kind::Flat(def, fields) => self.flat(def, fields, &entries),
                _ if except.contains(&syntax.ours) || self.module.attr(foreign.op, syntax.ours).is_some() => {
                    None
                }
                _ => self.default_items(foreign, syntax).map(|items| match syntax.default {
                    Default::Zeros => array("i64", items.into_iter()),
                    _ => format!("{} : i64", items.join("")),
                }),
            };
            own.extend(text.map(|text| (syntax.name.to_owned(), text)));
        }
        own.sort_unstable();
        others.sort_unstable();
        (own, others)
    }

    /// The numbers of an attribute that StableHLO asks for and our op has left out.
    pub(super) fn default_items(&self, foreign: &Foreign, syntax: &AttributeSyntax) -> Option<Vec<String>> {
        foreign.def?;
        match syntax.default {
            Default::Absent => None,
            Default::One => Some(vec!["1".to_owned()]),
            Default::Zeros => {
                let rank = self.module.tensor_type(self.module.operand(foreign.op, 0))?.rank();
                Some(vec!["0".to_owned(); rank])
            }
        }
    }

    /// Whether an attribute is written as a field of another.
    fn is_part(&self, foreign: &Foreign, name: &str) -> bool {
        foreign.syntax.attributes.iter().any(|syntax| match syntax.kind {
            Kind::Flat(_, fields) => fields.iter().any(|&(_, ours)| ours == name),
            _ => false,
        })
    }

    /// An attribute that our op has under the same name, in the generic form. One that may be anything is what it is.
    fn own_value(&mut self, class: AttrClass, attr: Attr) -> String {
        let may_be_anything = (class.contains)(self.module, self.module.interner.empty_dict());
        match self.module.attr_data(attr) {
            AttrData::Ints(_) if !may_be_anything => self.known_value(Kind::Ints, attr),
            _ => self.attr_text(attr),
        }
    }

    /// The value of an attribute of the table, in the generic form.
    fn known_value(&mut self, kind: Kind, attr: Attr) -> String {
        let module = self.module;
        match (kind, module.attr_data(attr)) {
            (Kind::Ints, AttrData::Ints(items)) => array("i64", items.iter().map(i64::to_string)),
            (Kind::Bools, AttrData::Ints(items)) => {
                array("i1", items.iter().map(|&item| (item != 0).to_string()))
            }
            (Kind::Padding, AttrData::Pair(..)) => {
                let rows = self.rows(attr);
                let count = rows.len();
                let body = if rows.is_empty() { String::new() } else { format!("[{}]", rows.join(", ")) };
                format!("dense<{body}> : tensor<{count}x2xi64>")
            }
            (Kind::Int(ty), AttrData::Int(value, _)) => format!("{value} : {ty}"),
            (Kind::Word(def), AttrData::String(word)) => enumeration(def, word),
            (Kind::Conv, AttrData::String(text)) => format!("#{}<{}>", CONV.name, dimension_numbers(text)),
            (Kind::Choice(_), AttrData::Int(value, _)) => format!("{value} : i32"),
            _ => self.attr_text(attr),
        }
    }

    /// The value of an attribute of the table after its key, in the pretty form; none if it cannot stand there.
    pub(super) fn keyed_value(&mut self, syntax: &AttributeSyntax, attr: Attr) -> Option<String> {
        let module = self.module;
        Some(match (syntax.kind, module.attr_data(attr)) {
            (Kind::Ints, AttrData::Ints(items)) => list(items.iter().map(i64::to_string)),
            (Kind::Bools, AttrData::Ints(items)) => list(items.iter().map(|&item| (item != 0).to_string())),
            (Kind::Padding, AttrData::Pair(..)) => list(self.rows(attr).into_iter()),
            (Kind::Bool, AttrData::Bool(value)) => value.to_string(),
            (Kind::Float, AttrData::Float(..)) => {
                let text = self.attr_text(attr);
                text.split_once(" : ").map_or(text.clone(), |(number, _)| number.to_owned())
            }
            (Kind::Int(_), AttrData::Int(value, _)) => value.to_string(),
            (Kind::Word(_), AttrData::String(word)) => word.to_string(),
            (Kind::Words(def), AttrData::Array(items)) => {
                let words = items.iter().map(|&item| self.word(def, item)).collect::<Option<Vec<_>>>()?;
                list(words.into_iter())
            }
            (Kind::Words(_), AttrData::Ints(items)) if items.is_empty() => "[]".to_owned(),
            (Kind::Fields(_) | Kind::Sharding, AttrData::Dialect(_)) => self.bare_text(attr)?,
            (Kind::Choice(words), AttrData::Int(value, _)) => {
                (*words.get(usize::try_from(*value).ok()?)?).to_owned()
            }
            (Kind::Pair(..), AttrData::Pair(left, right)) => {
                format!("{} x {}", self.attr_text(*left), self.attr_text(*right))
            }
            _ => return None,
        })
    }

    fn word(&self, def: &'static ParametricDef, attr: Attr) -> Option<String> {
        let AttrData::Dialect(dialect) = self.module.attr_data(attr) else { return None };
        match self.module.attr_data(dialect.params) {
            AttrData::String(word) if std::ptr::eq(dialect.def, def) => Some(word.to_string()),
            _ => None,
        }
    }

    /// A pair of lists as rows `[left, right]`.
    fn rows(&self, attr: Attr) -> Vec<String> {
        let AttrData::Pair(left, right) = self.module.attr_data(attr) else { return Vec::new() };
        let ints = |attr: &Attr| match self.module.attr_data(*attr) {
            AttrData::Ints(items) => items.to_vec(),
            _ => Vec::new(),
        };
        ints(left).into_iter().zip(ints(right)).map(|(left, right)| format!("[{left}, {right}]")).collect()
    }

    /// `#stablehlo.dot<…>` of the pairs of lists.
    fn dot(&mut self, foreign: &Foreign, entries: &[(Name, Attr)]) -> Option<String> {
        let mut fields = Vec::new();
        for syntax in foreign.syntax.attributes {
            let Kind::Pair(left_name, right_name) = syntax.kind else { continue };
            let Some(attr) = self.entry(entries, syntax.ours) else { continue };
            if let AttrData::Pair(left, right) = *self.module.attr_data(attr) {
                fields.push(format!("{left_name} = {}", self.attr_text(left)));
                fields.push(format!("{right_name} = {}", self.attr_text(right)));
            }
        }
        (!fields.is_empty()).then(|| format!("#{}<{}>", DOT.name, fields.join(", ")))
    }

    /// A structure of the attributes that are its fields, if any is; empty lists are left out.
    fn flat(
        &mut self,
        def: &'static ParametricDef,
        names: &[(&str, &str)],
        entries: &[(Name, Attr)],
    ) -> Option<String> {
        let (mut fields, mut has_any) = (Vec::new(), false);
        for &(name, ours) in names {
            let Some(attr) = self.entry(entries, ours) else { continue };
            has_any = true;
            if !matches!(self.module.attr_data(attr), AttrData::Ints(items) if items.is_empty()) {
                fields.push(format!("{name} = {}", self.field_text(attr)));
            }
        }
        has_any.then(|| format!("#{}<{}>", def.name, fields.join(", ")))
    }

    fn entry(&self, entries: &[(Name, Attr)], name: &str) -> Option<Attr> {
        entries.iter().find(|&&(key, _)| self.module.text(key) == name).map(|&(_, attr)| attr)
    }
}

/// `#stablehlo<precision HIGH>`.
pub(super) fn enumeration(def: &ParametricDef, word: &str) -> String {
    let (dialect, name) = def.name.split_once('.').unwrap_or(("stablehlo", def.name));
    format!("#{dialect}<{name} {word}>")
}

fn array(element: &str, items: impl Iterator<Item = String>) -> String {
    let items = items.collect::<Vec<_>>();
    if items.is_empty() {
        format!("array<{element}>")
    } else {
        format!("array<{element}: {}>", items.join(", "))
    }
}

fn list(items: impl Iterator<Item = String>) -> String {
    format!("[{}]", items.collect::<Vec<_>>().join(", "))
}

/// `b01f_01io->b01f` as `[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]`.
pub(super) fn dimension_numbers(text: &str) -> String {
    let dims = |text: &str| list(text.chars().map(String::from));
    let (operands, output) = text.split_once("->").unwrap_or((text, ""));
    let (input, kernel) = operands.split_once('_').unwrap_or((operands, ""));
    format!("{}x{}->{}", dims(input), dims(kernel), dims(output))
}
