//! Element types: with type parameters once for the description, with the actual types for each use.

use tofu_diagnostics::{Diagnostic, Span, codes};
use tofu_ir::{ElementType, EntityId};

use crate::description::*;
use crate::print::{scalar_text, type_text};
use crate::scalar::{BinaryOp, Literal, TypeClass};

/// What is wrong whatever the type parameters are.
pub(super) fn check(description: &Description) -> Vec<Diagnostic> {
    let data = description.data();
    let class = |ty: TypeRef| match ty {
        TypeRef::Concrete(element) => Known::Type(element),
        TypeRef::Param(number) => Known::Class(data.types[number as usize].class),
        TypeRef::Part(_) => Known::Class(TypeClass::Float),
    };
    let checker = Checker { data, known: &class };
    let spans = &description.spans().scalars;
    let whole = description.spans().whole;
    let mut found: Vec<Diagnostic> = (0..data.scalars.len())
        .filter_map(|number| {
            let error = checker.error(ScalarId::from_index(number))?;
            let mut diagnostic =
                Diagnostic::error(error.code(), error.span(number, spans).or(whole), error.message);
            diagnostic.help = error.help;
            Some(diagnostic)
        })
        .collect();
    let mut same = |id: ScalarId, ty: TypeRef, what: String| {
        if data.scalar_type(id) != ty {
            let (own, wanted) = (type_text(data, data.scalar_type(id)), type_text(data, ty));
            let message = format!("{what} has the type {wanted} and is defined as a value of type {own}");
            let span = spans[id.index()].or(whole);
            found.push(
                Diagnostic::error(&codes::TDL_TYPE, span, message)
                    .help(format!("write `convert<{wanted}>(…)`")),
            );
        }
    };
    for result in &data.results {
        same(result.body, result.ty, format!("`{}`", result.name));
    }
    for combiner in &data.combiners {
        if combiner.compares() {
            same(combiner.bodies[0], TypeRef::Concrete(ElementType::I1), format!("`{}`", combiner.name));
            continue;
        }
        for (number, &ty) in combiner.types.iter().enumerate() {
            same(combiner.identities[number], ty, format!("an identity of `{}`", combiner.name));
            same(combiner.bodies[number], ty, format!("a value of `{}`", combiner.name));
        }
    }
    found
}

/// What is wrong with actual types for the type parameters, and with which parameter, as far as it is one.
pub(crate) fn instance_error(
    description: &Description,
    types: &[ElementType],
) -> Option<(Diagnostic, Option<u32>)> {
    let data = description.data();
    let whole = description.spans().whole;
    let known = |ty: TypeRef| Known::Type(resolve(ty, types));
    for (number, (param, element)) in data.types.iter().zip(types).enumerate() {
        if !param.class.contains(*element) {
            let message = format!("an element must be {}, not {element}", param.class.phrase());
            return Some((Diagnostic::error(&codes::TDL_TYPE, whole, message), Some(number as u32)));
        }
    }
    let checker = Checker { data, known: &known };
    (0..data.scalars.len()).find_map(|number| {
        let error = checker.error(ScalarId::from_index(number))?;
        let span = error.span(number, &description.spans().scalars).or(whole);
        let mut diagnostic = Diagnostic::error(error.code(), span, error.message);
        diagnostic.help = error.help;
        let param = match data.scalar_type(error.part.unwrap_or(ScalarId::from_index(number))) {
            TypeRef::Concrete(_) => None,
            TypeRef::Param(param) | TypeRef::Part(param) => Some(param),
        };
        Some((diagnostic, param))
    })
}

/// The actual type, given those of the type parameters.
pub fn resolve(ty: TypeRef, types: &[ElementType]) -> ElementType {
    let of = |number: u32| types.get(number as usize).copied().unwrap_or(ElementType::I1);
    match ty {
        TypeRef::Concrete(element) => element,
        TypeRef::Param(number) => of(number),
        TypeRef::Part(number) => of(number).part(),
    }
}

/// What is known of a type.
#[derive(Clone, Copy)]
enum Known {
    Type(ElementType),
    Class(TypeClass),
}

impl Known {
    fn may_be_in(self, class: TypeClass) -> bool {
        match self {
            Known::Type(element) => class.contains(element),
            Known::Class(own) => own.meets(class),
        }
    }
}

struct Checker<'a> {
    data: &'a Data,
    known: &'a dyn Fn(TypeRef) -> Known,
}

struct TypeError {
    message: String,
    help: Option<String>,
    in_reducer: bool,
    /// The part that is wrong, where it is not the whole.
    part: Option<ScalarId>,
}

/// Whether a constant is a value of a type, or for integers has the bits of one; floats are rounded.
fn fits(literal: Literal, element: ElementType) -> bool {
    let Some((low, high)) = element.integer_range() else { return true };
    match literal {
        Literal::Int(value) => {
            let count = high - low + 1;
            (-(count / 2)..count).contains(&value)
        }
        Literal::Float(bits) => {
            let value = f64::from_bits(bits);
            value.fract() == 0.0 && (low as f64..(high + 1) as f64).contains(&value)
        }
        Literal::Highest | Literal::Lowest | Literal::NaN => true,
    }
}

impl TypeError {
    fn span(&self, number: usize, spans: &[Span]) -> Span {
        spans[self.part.map_or(number, EntityId::index)]
    }

    fn code(&self) -> &'static tofu_diagnostics::Code {
        if self.in_reducer { &codes::TDL_WRONG_REDUCER } else { &codes::TDL_TYPE }
    }
}

impl Checker<'_> {
    fn error(&self, id: ScalarId) -> Option<TypeError> {
        let data = self.data;
        let ty = |id: ScalarId| data.scalar_type(id);
        match data.scalar(id) {
            Scalar::Literal(literal) => {
                let Known::Type(element) = (self.known)(ty(id)) else { return None };
                let written = match *literal {
                    Literal::Int(value) => value.to_string(),
                    Literal::Float(bits) => format!("{:?}", f64::from_bits(bits)),
                    Literal::Highest | Literal::Lowest | Literal::NaN => return None,
                };
                (!fits(*literal, element)).then(|| TypeError {
                    message: format!("`{written}` is no value of {element}"),
                    help: None,
                    in_reducer: false,
                    part: None,
                })
            }
            Scalar::Unary(op, a) => self.takes(op.name(), op.class(), *a, false),
            Scalar::Binary(op, a, b) => self.same(op.name(), *a, *b).or_else(|| {
                if *op == BinaryOp::Complex && ty(id) == ty(*a) {
                    let message = "the parts of a complex number are f32 or f64".to_owned();
                    return Some(TypeError { message, help: None, in_reducer: false, part: None });
                }
                self.takes(op.name(), op.class(), *a, false)
            }),
            Scalar::Compare(comparison, a, b) => self
                .same(comparison.name(), *a, *b)
                .or_else(|| self.takes(comparison.name(), comparison.class(), *a, false)),
            Scalar::Select(condition, a, b) => {
                if ty(*condition) != TypeRef::Concrete(ElementType::I1) {
                    let own = type_text(data, ty(*condition));
                    let message = format!("a condition is an i1, not a value of type {own}");
                    let help = Some("compare it: `… != 0`".to_owned());
                    return Some(TypeError { message, help, in_reducer: false, part: Some(*condition) });
                }
                self.same("if", *a, *b)
            }
            Scalar::Bitcast(a) => {
                let (Known::Type(from), Known::Type(to)) = ((self.known)(ty(*a)), (self.known)(ty(id)))
                else {
                    return None;
                };
                (from.bits() != to.bits() || from.is_complex() != to.is_complex()).then(|| TypeError {
                    message: format!("a bitcast from {from} to {to} changes the number of bits"),
                    help: None,
                    in_reducer: false,
                    part: None,
                })
            }
            Scalar::Reduce(reduction, _) => {
                let reduction = data.reduction(*reduction);
                let (name, class) = match reduction.reducer {
                    Reducer::Sum => ("sum", TypeClass::Any),
                    Reducer::Prod => ("prod", TypeClass::Any),
                    Reducer::Max => ("max", TypeClass::Real),
                    Reducer::Min => ("min", TypeClass::Real),
                    Reducer::And => ("and", TypeClass::Logical),
                    Reducer::Or => ("or", TypeClass::Logical),
                    Reducer::Custom(combiner) => {
                        let combiner = data.combiner(combiner);
                        let wrong =
                            reduction.bodies.iter().zip(&combiner.types).find(|(b, t)| ty(**b) != **t);
                        return wrong.map(|(&body, &wanted)| TypeError {
                            message: format!(
                                "`{}` carries a value of type {} and is given one of type {}",
                                combiner.name,
                                type_text(data, wanted),
                                type_text(data, ty(body))
                            ),
                            help: None,
                            in_reducer: true,
                            part: None,
                        });
                    }
                };
                self.takes(name, class, *reduction.bodies.first()?, true)
            }
            _ => None,
        }
    }

    fn takes(&self, name: &str, class: TypeClass, a: ScalarId, in_reducer: bool) -> Option<TypeError> {
        let ty = self.data.scalar_type(a);
        let known = (self.known)(ty);
        if known.may_be_in(class) {
            return None;
        }
        let own = match known {
            Known::Type(element) => element.name().to_owned(),
            Known::Class(own) => own.phrase().to_owned(),
        };
        let argument = scalar_text(self.data, a);
        Some(TypeError {
            message: format!("`{name}` takes {}, and `{argument}` is {own}", class.phrase()),
            help: None,
            in_reducer,
            part: None,
        })
    }

    fn same(&self, name: &str, a: ScalarId, b: ScalarId) -> Option<TypeError> {
        let (left, right) = (self.data.scalar_type(a), self.data.scalar_type(b));
        if left == right {
            return None;
        }
        let (left, right) = (type_text(self.data, left), type_text(self.data, right));
        Some(TypeError {
            message: format!("`{name}` is given values of the types {left} and {right}"),
            help: Some(format!("convert one of them: `convert<{left}>({})`", scalar_text(self.data, b))),
            in_reducer: false,
            part: None,
        })
    }
}
