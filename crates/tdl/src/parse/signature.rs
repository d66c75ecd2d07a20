//! What stands around the expressions: parameters, results, conditions, definitions.

use pest::iterators::Pair;
use tofu_diagnostics::{Diagnostic, Span, codes, suggest};
use tofu_ir::ElementType;

use super::Rule;
use super::lower::{Lowering, Place};
use super::tree::{Binder, Expr, Reader, Word};
use crate::builder::Builder;
use crate::description::*;
use crate::opaque::OpaqueRegistry;
use crate::scalar::TypeClass;

/// A result as its type says it.
struct Declared {
    name: Box<str>,
    ty: TypeRef,
    dims: Vec<IndexId>,
    span: Span,
    defined: bool,
}

/// Reads a whole description.
pub(super) fn description(
    pair: Pair<'_, Rule>,
    base: u32,
    registry: &OpaqueRegistry,
) -> Result<Description, Vec<Diagnostic>> {
    let reader = Reader { base };
    let whole = reader.span(&pair);
    let mut lowering = Lowering::new(reader, registry);
    lowering.b.spans.whole = whole;
    let mut declared = Vec::new();
    let mut statements = Vec::new();
    let mut conditions = Vec::new();
    for part in pair.into_inner() {
        match part.as_rule() {
            Rule::symbol => lowering.b.name = part.as_str().trim_start_matches('@').into(),
            Rule::type_params => lowering.type_params(part),
            Rule::parameters => part.into_inner().for_each(|parameter| lowering.parameter(parameter)),
            Rule::results => declared = lowering.results(part),
            Rule::conditions => {
                conditions.extend(part.into_inner().filter(|inner| inner.as_rule() == Rule::condition));
            }
            _ => statements.extend(part.into_inner()),
        }
    }
    lowering.extents_closed = true;
    for condition in conditions {
        lowering.condition(condition);
    }
    for statement in statements {
        lowering.statement(statement, &mut declared);
    }
    for result in declared.iter().filter(|result| !result.defined) {
        let message = format!("the result `{}` is not defined", result.name);
        let help = format!("add `{}[…] = …`", result.name);
        lowering.b.note(Diagnostic::error(&codes::TDL_MISSING_DEFINITION, result.span, message).help(help));
    }
    // Results stand in the order of the signature, whatever the order of their definitions.
    let order = |output: &Output| declared.iter().position(|result| result.name == output.name);
    lowering.b.results.sort_by_key(order);
    lowering.b.at(whole);
    lowering.b.finish()
}

impl<'t> Lowering<'t, '_> {
    fn type_params(&mut self, pair: Pair<'t, Rule>) {
        for param in pair.into_inner() {
            let mut inner = param.into_inner();
            let Some(name) = inner.next() else { continue };
            let class = match inner.next() {
                None => TypeClass::Any,
                Some(class) => {
                    let word = self.reader.word(&class);
                    let found = TypeClass::ALL.into_iter().find(|known| known.name() == word.text);
                    found.unwrap_or_else(|| {
                        let names = TypeClass::ALL.map(TypeClass::name);
                        let message = format!("unknown set of element types `{}`", word.text);
                        let help = suggest::did_you_mean(word.text, names)
                            .unwrap_or_else(|| format!("the sets are {}", names.join(", ")));
                        let error = Diagnostic::error(&codes::TDL_UNKNOWN_NAME, word.span, message);
                        self.b.note(error.help(help));
                        TypeClass::Any
                    })
                }
            };
            self.b.type_param(name.as_str(), class);
        }
    }

    /// The element type that stands here; the first type parameter where none does.
    pub(super) fn ty(&mut self, word: Option<Word<'t>>) -> TypeRef {
        let Some(word) = word else { return self.b.default_type() };
        let param = |b: &Builder, name: &str| b.types.iter().position(|param| &*param.name == name);
        if let Some(element) = ElementType::from_name(word.text) {
            return TypeRef::Concrete(element);
        }
        if let Some(number) = param(&self.b, word.text) {
            return TypeRef::Param(number as u32);
        }
        let part = word.text.strip_prefix("part<").and_then(|text| text.strip_suffix('>'));
        if let Some(number) = part.and_then(|name| param(&self.b, name)) {
            return TypeRef::Part(number as u32);
        }
        let mut names: Vec<&str> = ElementType::ALL.iter().map(|element| element.name()).collect();
        names.extend(self.b.types.iter().map(|param| &*param.name));
        let message = format!("unknown element type `{}`", word.text);
        let error = Diagnostic::error(&codes::UNKNOWN_TYPE, word.span, message)
            .maybe_help(suggest::did_you_mean(word.text, names));
        self.b.note(error);
        self.b.default_type()
    }

    /// Type and extents, from pairs of `ty` and `shape`.
    fn typed_shape(&mut self, pairs: impl Iterator<Item = Pair<'t, Rule>>) -> (TypeRef, Vec<IndexId>) {
        let (mut ty, mut dims) = (None, Vec::new());
        for part in pairs {
            match part.as_rule() {
                Rule::ty => ty = Some(self.reader.word(&part)),
                _ => {
                    for extent in part.into_inner() {
                        dims.push(self.extent_text(extent));
                    }
                }
            }
        }
        (self.ty(ty), dims)
    }

    fn extent_text(&mut self, pair: Pair<'t, Rule>) -> IndexId {
        match self.reader.expr(pair) {
            Ok(expr) => self.extent(&expr),
            Err(error) => {
                self.b.note(error);
                self.b.constant(0)
            }
        }
    }

    fn parameter(&mut self, pair: Pair<'t, Rule>) {
        let span = self.reader.span(&pair);
        let mut inner = pair.into_inner();
        let Some(name) = inner.next() else { return };
        let name = self.reader.word(&name);
        let (ty, dims) = self.typed_shape(inner);
        if self.tensors.contains_key(name.text) {
            self.b.at(name.span).report(&codes::TDL_REDEFINED, format!("`{}` is defined twice", name.text));
        }
        let source = self.b.at(span).operand(name.text, ty, &dims);
        self.tensors.insert(name.text, source);
    }

    fn results(&mut self, pair: Pair<'t, Rule>) -> Vec<Declared> {
        let mut declared = Vec::new();
        for result in pair.into_inner() {
            let span = self.reader.span(&result);
            let named = result.as_rule() == Rule::parameter;
            let mut inner = result.into_inner().peekable();
            let name = if named { inner.next().map_or("", |name| name.as_str()) } else { "out" };
            let (ty, dims) = self.typed_shape(inner);
            if declared.iter().any(|other: &Declared| &*other.name == name) {
                self.b.at(span).report(&codes::TDL_REDEFINED, format!("`{name}` is defined twice"));
            }
            declared.push(Declared { name: name.into(), ty, dims, span, defined: false });
        }
        declared
    }

    fn condition(&mut self, pair: Pair<'t, Rule>) {
        let span = self.reader.span(&pair);
        let mut inner = pair.into_inner();
        let (Some(left), Some(relation), Some(right)) = (inner.next(), inner.next(), inner.next()) else {
            return;
        };
        let (left, right) = (self.extent_text(left), self.extent_text(right));
        let b = self.b.at(span);
        let one = b.constant(1);
        match relation.as_str() {
            "=" => b.require_equal(left, right),
            "<=" => b.require_at_most(left, right),
            ">=" => b.require_at_most(right, left),
            "<" => {
                let above = b.index_add(left, one);
                b.require_at_most(above, right);
            }
            _ => {
                let above = b.index_add(right, one);
                b.require_at_most(above, left);
            }
        }
    }

    fn statement(&mut self, pair: Pair<'t, Rule>, declared: &mut [Declared]) {
        let span = self.reader.span(&pair);
        match pair.as_rule() {
            Rule::combiner | Rule::comparator => self.combiner(pair),
            rule => {
                let is_let = rule == Rule::intermediate;
                let mut inner = pair.into_inner().filter(|part| part.as_rule() != Rule::let_word);
                let (Some(target), Some(body)) = (inner.next(), inner.next()) else { return };
                if let Err(error) = self.definition(span, is_let, target, body, declared) {
                    self.b.note(error);
                }
            }
        }
    }

    fn definition(
        &mut self,
        span: Span,
        is_let: bool,
        target: Pair<'t, Rule>,
        body: Pair<'t, Rule>,
        declared: &mut [Declared],
    ) -> Result<(), Diagnostic> {
        let mut inner = target.into_inner();
        let Some(name) = inner.next() else { return Ok(()) };
        let name = self.reader.word(&name);
        let binders: Vec<Binder<'t>> =
            inner.map(|binder| self.reader.binder(binder)).collect::<Result<_, _>>()?;
        let body = self.reader.expr(body)?;
        if is_let {
            self.intermediate(name, &binders, &body);
            return Ok(());
        }
        let Some(result) = declared.iter_mut().find(|result| *result.name == *name.text) else {
            let names: Vec<&str> = declared.iter().map(|result| &*result.name).collect();
            let message = format!("`{}` is not a result", name.text);
            let help = suggest::did_you_mean(name.text, names.iter().copied())
                .unwrap_or_else(|| format!("write `let {}[…]` for an intermediate tensor", name.text));
            return Err(Diagnostic::error(&codes::TDL_UNKNOWN_NAME, name.span, message).help(help));
        };
        if result.defined {
            let message = format!("`{}` is defined twice", name.text);
            return Err(Diagnostic::error(&codes::TDL_REDEFINED, name.span, message));
        }
        result.defined = true;
        if result.dims.len() != binders.len() {
            let message = format!(
                "`{}` has {} dimensions and is defined with {} indices",
                name.text,
                result.dims.len(),
                binders.len()
            );
            let error = Diagnostic::error(&codes::TDL_WRONG_RANK, name.span, message);
            return Err(error.secondary(result.span, "declared here"));
        }
        let (dims, ty) = (result.dims.clone(), result.ty);
        self.own = Some(name.text);
        let vars = self.bind(&binders, &dims.iter().copied().map(Some).collect::<Vec<_>>(), &[]);
        let value = self.scalar(&body, Place::Of(ty));
        self.unbind(vars.len());
        self.own = None;
        self.b.at(span).output(name.text, ty, &vars, value);
        Ok(())
    }

    fn intermediate(&mut self, name: Word<'t>, binders: &[Binder<'t>], body: &Expr<'t>) {
        if self.tensors.contains_key(name.text) {
            self.b.at(name.span).report(&codes::TDL_REDEFINED, format!("`{}` is defined twice", name.text));
        }
        self.own = Some(name.text);
        let vars = self.bind(binders, &[], std::slice::from_ref(body));
        let value = self.scalar(body, Place::Free);
        self.unbind(vars.len());
        self.own = None;
        let source = self.b.at(name.span).define(name.text, &vars, value);
        self.tensors.insert(name.text, source);
    }

    fn combiner(&mut self, pair: Pair<'t, Rule>) {
        let mut slots: Vec<(&'t str, TypeRef)> = Vec::new();
        let mut tuples = Vec::new();
        let compares = pair.as_rule() == Rule::comparator;
        let mut name = self.reader.word(&pair);
        for part in pair.into_inner() {
            match part.as_rule() {
                Rule::word => name = self.reader.word(&part),
                Rule::carried => {
                    for slot in part.into_inner() {
                        let mut inner = slot.into_inner();
                        let Some(word) = inner.next() else { continue };
                        let ty = inner.next().map(|ty| self.reader.word(&ty));
                        let ty = self.ty(ty);
                        slots.push((word.as_str(), ty));
                    }
                }
                _ => tuples.push(part),
            }
        }
        let half = slots.len() / 2;
        let types: Vec<TypeRef> = slots[..half].iter().map(|slot| slot.1).collect();
        let same =
            slots.len() == 2 * half && slots[half..].iter().map(|slot| slot.1).eq(types.iter().copied());
        if !same {
            let message = "there must be as many right values as left ones, of the same types";
            self.b.at(name.span).report(&codes::TDL_WRONG_REDUCER, message);
            return;
        }
        if self.combiners.contains_key(name.text) {
            self.b.at(name.span).report(&codes::TDL_REDEFINED, format!("`{}` is defined twice", name.text));
        }
        let names: Vec<&str> = slots.iter().map(|slot| slot.0).collect();
        let id = self.b.combiner(name.text, &types, &names);
        let mut values: Vec<Vec<ScalarId>> = Vec::new();
        for (number, part) in tuples.into_iter().enumerate() {
            // The identities, which come first, may not use the carried values.
            self.carried = if number == 0 && !compares { Vec::new() } else { names.clone() };
            self.current_combiner = Some(id);
            let (parts, types) = if compares {
                (vec![part], &[TypeRef::Concrete(ElementType::I1)][..])
            } else {
                (part.into_inner().collect(), &types[..])
            };
            let mut each = Vec::new();
            for (index, part) in parts.into_iter().enumerate() {
                let place = types.get(index).map_or(Place::Free, |&ty| Place::Of(ty));
                match self.reader.expr(part) {
                    Ok(expr) => each.push(self.scalar(&expr, place)),
                    Err(error) => self.b.note(error),
                }
            }
            values.push(each);
        }
        self.carried = Vec::new();
        self.current_combiner = None;
        match &values[..] {
            [identities, bodies] => self.b.finish_combiner(id, identities, bodies),
            [bodies] => self.b.finish_combiner(id, &[], bodies),
            _ => {}
        }
        self.combiners.insert(name.text, id);
    }
}
