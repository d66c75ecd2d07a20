//! Expressions: names are resolved, literals and index values get the type of what stands beside them.

use rustc_hash::FxHashMap;
use tofu_diagnostics::{Diagnostic, codes, suggest};
use tofu_ir::{ElementKind, ElementType};

use super::binders::extent_in_text;
use super::tree::{Binder, Expr, Kind, Reader, Word};
use crate::builder::Builder;
use crate::description::*;
use crate::opaque::OpaqueRegistry;
use crate::scalar::{BinaryOp, Literal, UnaryOp};

const INDEX: TypeRef = TypeRef::Concrete(ElementType::Index);
const BOOL: TypeRef = TypeRef::Concrete(ElementType::I1);

/// What the place of an expression says about its type.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Nothing: index values stay index values.
    Free,
    /// Literals and index values take this type.
    Of(TypeRef),
}

/// Fills a builder from trees.
pub(super) struct Lowering<'t, 'r> {
    pub(super) b: Builder,
    pub(super) reader: Reader,
    pub(super) registry: &'r OpaqueRegistry,
    pub(super) tensors: FxHashMap<&'t str, Source>,
    pub(super) combiners: FxHashMap<&'t str, CombinerId>,
    /// The tensor that is being defined.
    pub(super) own: Option<&'t str>,
    /// The carried values of the combiner that is being read.
    pub(super) carried: Vec<&'t str>,
    pub(super) current_combiner: Option<CombinerId>,
    /// Index variables in scope, outermost first.
    vars: Vec<(&'t str, VarId)>,
    /// Set when the signature is read: a new name is no extent any more.
    pub(super) extents_closed: bool,
}

impl<'t, 'r> Lowering<'t, 'r> {
    pub(super) fn new(reader: Reader, registry: &'r OpaqueRegistry) -> Lowering<'t, 'r> {
        Lowering {
            b: Builder::default(),
            reader,
            registry,
            tensors: FxHashMap::default(),
            combiners: FxHashMap::default(),
            own: None,
            carried: Vec::new(),
            current_combiner: None,
            vars: Vec::new(),
            extents_closed: false,
        }
    }

    /// Binds variables; the extents are given, written, or those of the dimensions that the variables index in `bodies`.
    pub(super) fn bind(
        &mut self,
        binders: &[Binder<'t>],
        given: &[Option<IndexId>],
        bodies: &[Expr<'t>],
    ) -> Vec<VarId> {
        let mut bound = Vec::new();
        for (number, binder) in binders.iter().enumerate() {
            let extent = match (&binder.extent, given.get(number).copied().flatten()) {
                (Some(written), _) => Some(self.extent(written)),
                (None, Some(given)) => Some(given),
                (None, None) => self.found_extent(binder.name.text, bodies),
            };
            let extent = extent.unwrap_or_else(|| {
                let name = binder.name.text;
                let message = format!("the range of `{name}` does not follow from any access");
                let help = format!("write it: `{name}: N`");
                let error = Diagnostic::error(&codes::TDL_NO_RANGE, binder.name.span, message);
                self.b.note(error.help(help));
                self.b.constant(1)
            });
            if self.vars.iter().any(|(name, _)| *name == binder.name.text) {
                let message = format!("the index `{}` is bound already", binder.name.text);
                self.b.at(binder.name.span).report(&codes::TDL_REDEFINED, message);
            }
            let var = self.b.var(binder.name.text, extent);
            self.vars.push((binder.name.text, var));
            bound.push(var);
        }
        bound
    }

    pub(super) fn unbind(&mut self, count: usize) {
        self.vars.truncate(self.vars.len().saturating_sub(count));
    }

    fn found_extent(&self, name: &str, bodies: &[Expr<'t>]) -> Option<IndexId> {
        let dims = |tensor: &str| self.tensors.get(tensor).map(|&source| self.b.dims(source));
        bodies.iter().find_map(|body| extent_in_text(name, body, &dims))
    }

    /// An extent: an index expression without variables.
    pub(super) fn extent(&mut self, expr: &Expr<'t>) -> IndexId {
        let index = self.index(expr);
        if !self.b.is_extent(index) {
            let message = "an extent has no index variables and no elements in it";
            self.b.at(expr.span).report(&codes::TDL_NOT_AFFINE, message);
            return self.b.constant(1);
        }
        index
    }

    /// An index expression.
    pub(super) fn index(&mut self, expr: &Expr<'t>) -> IndexId {
        self.b.at(expr.span);
        match &expr.kind {
            Kind::Literal(Literal::Int(value)) => match i64::try_from(*value) {
                Ok(value) => self.b.constant(value),
                Err(_) => {
                    self.b.report(&codes::BAD_LITERAL, "the index does not fit into 64 bits");
                    self.b.constant(0)
                }
            },
            Kind::Name(name) => self.named_index(name, expr),
            Kind::Negative(inner) => {
                let (zero, value) = (self.b.constant(0), self.index(inner));
                self.b.at(expr.span).index_sub(zero, value)
            }
            Kind::Binary(operator @ ("+" | "-" | "*" | "floordiv" | "mod"), a, b) => {
                let (a, b) = (self.index(a), self.index(b));
                let builder = self.b.at(expr.span);
                match *operator {
                    "+" => builder.index_add(a, b),
                    "-" => builder.index_sub(a, b),
                    "*" => builder.index_mul(a, b),
                    "floordiv" => builder.index_floordiv(a, b),
                    _ => builder.index_mod(a, b),
                }
            }
            _ => {
                let inner = match &expr.kind {
                    Kind::Call("value", arguments) if arguments.len() == 1 => &arguments[0],
                    _ => expr,
                };
                let value = self.scalar(inner, Place::Free);
                self.b.at(expr.span).data_index(value)
            }
        }
    }

    fn named_index(&mut self, name: &'t str, expr: &Expr<'t>) -> IndexId {
        if let Some(&(_, var)) = self.vars.iter().rev().find(|(bound, _)| *bound == name) {
            return self.b.index(var);
        }
        if self.carried.contains(&name) {
            let value = self.scalar(expr, Place::Free);
            return self.b.data_index(value);
        }
        if !self.extents_closed || self.b.extents.contains(name) {
            return self.b.extent(name);
        }
        self.unknown(name, expr);
        self.b.constant(0)
    }

    fn unknown(&mut self, name: &str, expr: &Expr<'t>) {
        let is_tensor = self.tensors.contains_key(name);
        let names = (self.vars.iter().map(|var| var.0))
            .chain(self.b.extents.iter().map(|extent| &**extent))
            .chain(self.carried.iter().copied());
        let help = if is_tensor {
            Some(format!("write `{name}[…]` for an element of it"))
        } else {
            suggest::did_you_mean(name, names)
        };
        let message = if is_tensor {
            format!("`{name}` is a tensor")
        } else {
            format!("`{name}` is neither an index nor an extent here")
        };
        self.b.note(Diagnostic::error(&codes::TDL_UNKNOWN_NAME, expr.span, message).maybe_help(help));
    }

    /// A scalar expression.
    pub(super) fn scalar(&mut self, expr: &Expr<'t>, place: Place) -> ScalarId {
        if self.is_index_text(expr) && has_name(expr) {
            let index = self.index(expr);
            let value = self.b.at(expr.span).index_value(index);
            return match place {
                Place::Of(ty) => self.b.convert(value, ty),
                Place::Free => value,
            };
        }
        match &expr.kind {
            Kind::Literal(literal) => self.literal(*literal, expr, place),
            Kind::Bool(value) => self.b.at(expr.span).int(i128::from(*value), BOOL),
            Kind::Name(name) => match self.carried.iter().position(|carried| carried == name) {
                Some(slot) => match self.current_combiner {
                    Some(combiner) => self.b.at(expr.span).carried(combiner, slot as u32),
                    None => self.nothing(),
                },
                None => {
                    self.unknown(name, expr);
                    self.nothing()
                }
            },
            Kind::Negative(a) => {
                let a = self.scalar(a, place);
                self.b.at(expr.span).unary(UnaryOp::Neg, a)
            }
            Kind::Not(a) => {
                let a = self.scalar(a, place);
                self.b.at(expr.span).unary(UnaryOp::Not, a)
            }
            Kind::Binary(operator, a, b) => self.binary(operator, a, b, expr, place),
            Kind::Compare(comparison, a, b) => {
                let (a, b) = self.compared(a, b);
                self.b.at(expr.span).compare(*comparison, a, b)
            }
            Kind::If(parts) => {
                let [condition, a, b] = &**parts;
                let condition = self.scalar(condition, Place::Of(BOOL));
                let (a, b) = self.pair(a, b, place);
                self.b.at(expr.span).select(condition, a, b)
            }
            Kind::Call("index", arguments) if arguments.len() == 1 => {
                let index = self.index(&arguments[0]);
                self.b.at(expr.span).index_value(index)
            }
            Kind::Call(name, arguments) => self.call(name, arguments, expr, place),
            Kind::Typed { function, ty, argument } => {
                let ty = self.ty(Some(*ty));
                match *function {
                    "const" => self.scalar(argument, Place::Of(ty)),
                    "convert" => {
                        let value = self.scalar(argument, Place::Free);
                        self.b.at(expr.span).convert(value, ty)
                    }
                    _ => {
                        let value = self.scalar(argument, Place::Free);
                        self.b.at(expr.span).bitcast(value, ty)
                    }
                }
            }
            Kind::ReducePrecision { exponent, mantissa, argument } => {
                let value = self.scalar(argument, place);
                let op = UnaryOp::ReducePrecision { exponent: *exponent, mantissa: *mantissa };
                self.b.at(expr.span).unary(op, value)
            }
            Kind::Access(word, indices) => {
                let indices: Vec<IndexId> = indices.iter().map(|index| self.index(index)).collect();
                match self.tensor(*word) {
                    Some(source) => self.b.at(expr.span).read(source, &indices),
                    None => self.nothing(),
                }
            }
            Kind::Reduce { reducer, binders, bodies, component } => {
                self.reduce(*reducer, binders, bodies, *component, expr, place)
            }
            Kind::Opaque(call) => self.opaque(call, expr),
        }
    }

    /// What stands for an expression that was reported.
    pub(super) fn nothing(&mut self) -> ScalarId {
        self.b.int(0, BOOL)
    }

    pub(super) fn tensor(&mut self, word: Word<'t>) -> Option<Source> {
        if let Some(&source) = self.tensors.get(word.text) {
            return Some(source);
        }
        if self.own == Some(word.text) {
            let message = format!("`{}` is used in its own definition", word.text);
            let error = Diagnostic::error(&codes::TDL_RECURSION, word.span, message)
                .note("a description has no recursion: each tensor uses operands and earlier `let`s");
            self.b.note(error);
            return None;
        }
        let message = format!("`{}` is not a tensor that is defined before", word.text);
        let help = suggest::did_you_mean(word.text, self.tensors.keys().copied());
        let error = Diagnostic::error(&codes::TDL_UNKNOWN_NAME, word.span, message).maybe_help(help);
        self.b.note(error);
        None
    }

    fn literal(&mut self, literal: Literal, expr: &Expr<'t>, place: Place) -> ScalarId {
        match (place, literal) {
            (Place::Of(ty), _) => self.b.at(expr.span).literal(literal, ty),
            (Place::Free, Literal::Int(_)) => self.b.at(expr.span).literal(literal, INDEX),
            (Place::Free, _) => {
                let message = "the type of this constant does not follow from what stands beside it";
                let error = Diagnostic::error(&codes::TDL_TYPE, expr.span, message);
                self.b.note(error.help("write its type: `const<f32>(…)`"));
                self.nothing()
            }
        }
    }

    fn binary(
        &mut self,
        operator: &str,
        a: &Expr<'t>,
        b: &Expr<'t>,
        expr: &Expr<'t>,
        place: Place,
    ) -> ScalarId {
        let op = match operator {
            "+" => BinaryOp::Add,
            "-" => BinaryOp::Sub,
            "*" => BinaryOp::Mul,
            "/" => BinaryOp::Div,
            "and" => BinaryOp::And,
            "or" => BinaryOp::Or,
            _ => {
                let message =
                    format!("`{operator}` works on indices and extents; use `/` and `rem` on elements");
                self.b.at(expr.span).report(&codes::TDL_TYPE, message);
                return self.nothing();
            }
        };
        let (a, b) = self.pair(a, b, place);
        self.b.at(expr.span).binary(op, a, b)
    }

    /// Two values of one type: what has no type of its own takes the other's.
    pub(super) fn pair(&mut self, a: &Expr<'t>, b: &Expr<'t>, place: Place) -> (ScalarId, ScalarId) {
        if self.is_flexible(a) && !self.is_flexible(b) {
            let second = self.scalar(b, place);
            let place = Place::Of(self.b.type_of(second));
            return (self.scalar(a, place), second);
        }
        let first = self.scalar(a, place);
        let place = Place::Of(self.b.type_of(first));
        (first, self.scalar(b, place))
    }

    /// Two values to compare. An integer element beside an index value is compared as an index.
    fn compared(&mut self, a: &Expr<'t>, b: &Expr<'t>) -> (ScalarId, ScalarId) {
        let index_text = |this: &Self, e: &Expr<'t>| this.is_index_text(e) && has_name(e);
        match (index_text(self, a), index_text(self, b)) {
            (true, false) if !self.is_flexible(b) => {
                let second = self.scalar(b, Place::Free);
                let second = self.as_index(second);
                let place = Place::Of(self.b.type_of(second));
                (self.scalar(a, place), second)
            }
            (false, true) if !self.is_flexible(a) => {
                let first = self.scalar(a, Place::Free);
                let first = self.as_index(first);
                let place = Place::Of(self.b.type_of(first));
                (first, self.scalar(b, place))
            }
            _ => self.pair(a, b, Place::Free),
        }
    }

    fn as_index(&mut self, value: ScalarId) -> ScalarId {
        match self.b.type_of(value) {
            TypeRef::Concrete(element)
                if matches!(element.kind(), ElementKind::Signed | ElementKind::Unsigned) =>
            {
                self.b.convert(value, INDEX)
            }
            _ => value,
        }
    }

    /// Whether an expression consists only of integers, index variables and extents.
    fn is_index_text(&self, expr: &Expr<'t>) -> bool {
        match &expr.kind {
            Kind::Literal(Literal::Int(_)) => true,
            Kind::Name(name) => {
                self.vars.iter().any(|(bound, _)| bound == name)
                    || (!self.carried.contains(name) && self.b.extents.contains(*name))
            }
            Kind::Negative(a) => self.is_index_text(a),
            Kind::Binary("+" | "-" | "floordiv" | "mod", a, b) => {
                self.is_index_text(a) && self.is_index_text(b)
            }
            Kind::Binary("*", a, b) => {
                self.is_index_text(a)
                    && self.is_index_text(b)
                    && (self.is_extent_text(a) || self.is_extent_text(b))
            }
            _ => false,
        }
    }

    fn is_extent_text(&self, expr: &Expr<'t>) -> bool {
        match &expr.kind {
            Kind::Name(name) => !self.vars.iter().any(|(bound, _)| bound == name),
            Kind::Negative(a) => self.is_extent_text(a),
            Kind::Binary(_, a, b) => self.is_extent_text(a) && self.is_extent_text(b),
            _ => true,
        }
    }

    /// Whether an expression takes its type from what stands beside it.
    fn is_flexible(&self, expr: &Expr<'t>) -> bool {
        match &expr.kind {
            Kind::Literal(_) => true,
            Kind::Negative(a) => self.is_flexible(a),
            Kind::Binary(_, a, b) => self.is_flexible(a) && self.is_flexible(b),
            Kind::If(parts) => self.is_flexible(&parts[1]) && self.is_flexible(&parts[2]),
            _ => self.is_index_text(expr),
        }
    }
}

fn has_name(expr: &Expr<'_>) -> bool {
    match &expr.kind {
        Kind::Name(_) => true,
        Kind::Negative(a) => has_name(a),
        Kind::Binary(_, a, b) => has_name(a) || has_name(b),
        _ => false,
    }
}
