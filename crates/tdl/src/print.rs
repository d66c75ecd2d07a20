//! Descriptions as text that reads back as the same description.
//!
//! Parentheses stand only where precedence needs them; literals carry their type only where it would not follow from
//! what stands beside them, and index variables their range only where no access gives it.

use std::fmt::{Display, Formatter, Result, Write};

use tofu_ir::{ElementKind, ElementType, EntityId};

use crate::description::*;
use crate::parse::{REDUCERS, needs_range};
use crate::scalar::{BinaryOp, Literal, TypeClass, UnaryOp};

const INDEX: TypeRef = TypeRef::Concrete(ElementType::Index);
const BOOL: TypeRef = TypeRef::Concrete(ElementType::I1);

impl Display for Description {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let printer = Printer { data: self.data() };
        f.write_str(&printer.whole())
    }
}

/// An index or extent expression of a description as text.
pub(crate) fn index_text(data: &Data, id: IndexId) -> String {
    Printer { data }.index(id, 0)
}

/// A condition of a description as text.
pub(crate) fn condition_text(data: &Data, condition: Condition) -> String {
    let relation = if condition.relation == Relation::Equal { "=" } else { "<=" };
    format!("{} {relation} {}", index_text(data, condition.left), index_text(data, condition.right))
}

/// A scalar expression of a description as text.
pub(crate) fn scalar_text(data: &Data, id: ScalarId) -> String {
    Printer { data }.scalar(id, None).text
}

/// A type as text.
pub(crate) fn type_text(data: &Data, ty: TypeRef) -> String {
    let name = |number: u32| data.types.get(number as usize).map_or("?", |param| &*param.name);
    match ty {
        TypeRef::Concrete(element) => element.name().to_owned(),
        TypeRef::Param(number) => name(number).to_owned(),
        TypeRef::Part(number) => format!("part<{}>", name(number)),
    }
}

/// How tightly the outermost operator binds.
mod level {
    pub(super) const CONDITIONAL: u8 = 0;
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const COMPARISON: u8 = 3;
    pub(super) const SUM: u8 = 4;
    pub(super) const REDUCTION: u8 = 5;
    pub(super) const TERM: u8 = 6;
    pub(super) const UNARY: u8 = 7;
    pub(super) const PRIMARY: u8 = 8;
}

struct Text {
    text: String,
    level: u8,
}

impl Text {
    fn new(text: impl Into<String>, level: u8) -> Text {
        Text { text: text.into(), level }
    }

    /// In parentheses where it binds less tightly than `level`.
    fn within(self, level: u8) -> String {
        if self.level < level { format!("({})", self.text) } else { self.text }
    }
}

struct Printer<'d> {
    data: &'d Data,
}

impl Printer<'_> {
    fn whole(&self) -> String {
        let data = self.data;
        let mut out = format!("tdl @{}", data.name);
        if !self.has_default_types() {
            let params = data.types.iter().map(|param| match param.class {
                TypeClass::Any => param.name.to_string(),
                class => format!("{}: {}", param.name, class.name()),
            });
            out.push_str(&format!("<{}>", params.collect::<Vec<_>>().join(", ")));
        }
        let parameters =
            data.parameters.iter().map(|p| format!("{}: {}", p.name, self.tensor(p.ty, &p.dims)));
        out.push_str(&format!("({}) -> ", parameters.collect::<Vec<_>>().join(", ")));
        match &*data.results {
            [result] if &*result.name == "out" => out.push_str(&self.tensor(result.ty, &result.dims)),
            results => {
                let results = results.iter().map(|r| format!("{}: {}", r.name, self.tensor(r.ty, &r.dims)));
                out.push_str(&format!("({})", results.collect::<Vec<_>>().join(", ")));
            }
        }
        for (number, condition) in data.conditions.iter().enumerate() {
            out.push_str(if number == 0 { "\n    where " } else { ", " });
            out.push_str(&condition_text(data, *condition));
        }
        out.push_str(" {\n");
        for combiner in &data.combiners {
            out.push_str(&self.combiner(combiner));
        }
        for item in &data.lets {
            let target = self.target(&item.vars, &[item.body]);
            out.push_str(&format!("  let {}[{target}] = {}\n", item.name, self.scalar(item.body, None).text));
        }
        for result in &data.results {
            let names: Vec<&str> = result.vars.iter().map(|&var| &*data.variable(var).name).collect();
            let body = self.scalar(result.body, Some(result.ty)).text;
            out.push_str(&format!("  {}[{}] = {body}\n", result.name, names.join(", ")));
        }
        out.push_str("}\n");
        out
    }

    /// Whether the one type parameter is the one that needs no declaration.
    fn has_default_types(&self) -> bool {
        let data = self.data;
        let written = || data.parameters.iter().map(|p| p.ty).chain(data.results.iter().map(|r| r.ty));
        match &*data.types {
            [] => true,
            [only] => {
                only.class == TypeClass::Any
                    && &*only.name == "T"
                    && written().any(|ty| ty == TypeRef::Param(0))
            }
            _ => false,
        }
    }

    fn tensor(&self, ty: TypeRef, dims: &[IndexId]) -> String {
        let ty = if ty == TypeRef::Param(0) { String::new() } else { type_text(self.data, ty) };
        format!("{ty}[{}]", self.indices(dims))
    }

    fn target(&self, vars: &[VarId], bodies: &[ScalarId]) -> String {
        let names = vars.iter().map(|&var| {
            let variable = self.data.variable(var);
            if needs_range(self.data, var, bodies) {
                format!("{}: {}", variable.name, self.index(variable.extent, 0))
            } else {
                variable.name.to_string()
            }
        });
        names.collect::<Vec<_>>().join(", ")
    }

    fn combiner(&self, combiner: &Combiner) -> String {
        let half = combiner.types.len();
        let slots = |names: &[Box<str>]| {
            let slots = names.iter().zip(&combiner.types).map(|(name, &ty)| match ty {
                TypeRef::Param(0) => name.to_string(),
                ty => format!("{name}: {}", type_text(self.data, ty)),
            });
            slots.collect::<Vec<_>>().join(", ")
        };
        let (left, right) = combiner.names.split_at(half.min(combiner.names.len()));
        if let (true, [body]) = (combiner.compares(), &*combiner.bodies) {
            let (left, right) = (slots(left), slots(right));
            let body = self.scalar(*body, Some(BOOL)).text;
            return format!("  compare {}({left}; {right}) = {body}\n", combiner.name);
        }
        format!(
            "  combine {}({}; {}) from ({}) = ({})\n",
            combiner.name,
            slots(left),
            slots(right),
            self.tuple(&combiner.identities, &combiner.types),
            self.tuple(&combiner.bodies, &combiner.types),
        )
    }

    fn tuple(&self, values: &[ScalarId], types: &[TypeRef]) -> String {
        let texts =
            values.iter().enumerate().map(|(n, &value)| self.scalar(value, types.get(n).copied()).text);
        texts.collect::<Vec<_>>().join(", ")
    }

    fn indices(&self, ids: &[IndexId]) -> String {
        ids.iter().map(|&id| self.index(id, 0)).collect::<Vec<_>>().join(", ")
    }

    fn index(&self, id: IndexId, within: u8) -> String {
        let binary = |sign: &str, a: IndexId, b: IndexId, level: u8| {
            Text::new(format!("{} {sign} {}", self.index(a, level), self.index(b, level + 1)), level)
        };
        let text = match self.data.index(id) {
            Index::Const(value) => Text::new(value.to_string(), level::PRIMARY),
            Index::Extent(extent) => Text::new(&*self.data.extents[extent.index()], level::PRIMARY),
            Index::Var(var) => Text::new(&*self.data.variable(var).name, level::PRIMARY),
            // A reduction at the left of a product would take the rest of it in.
            Index::Add(a, b) => binary("+", a, b, level::SUM),
            Index::Sub(a, b) => binary("-", a, b, level::SUM),
            Index::Mul(a, b) => binary("*", a, b, level::TERM),
            Index::FloorDiv(a, b) => binary("floordiv", a, b, level::TERM),
            Index::Mod(a, b) => binary("mod", a, b, level::TERM),
            Index::Data(value) => self.data_index(value),
        };
        text.within(within)
    }

    /// What would read as index arithmetic is marked as arithmetic on elements.
    fn data_index(&self, value: ScalarId) -> Text {
        let text = self.scalar(value, None);
        match self.data.scalar(value) {
            Scalar::Unary(UnaryOp::Neg, _) => Text::new(format!("value({})", text.text), level::PRIMARY),
            Scalar::Binary(BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul, ..) => {
                Text::new(format!("value({})", text.text), level::PRIMARY)
            }
            _ => text,
        }
    }

    fn scalar(&self, id: ScalarId, place: Option<TypeRef>) -> Text {
        let data = self.data;
        let ty = data.scalar_type(id);
        match data.scalar(id) {
            Scalar::Literal(literal) => self.literal(*literal, ty, place),
            Scalar::Index(index) if self.has_data(*index) => {
                Text::new(format!("index({})", self.index(*index, 0)), level::PRIMARY)
            }
            Scalar::Index(index) if !place.is_none_or(|place| place == INDEX) => {
                Text::new(format!("const<index>({})", self.index(*index, 0)), level::PRIMARY)
            }
            Scalar::Index(index) => Text::new(self.index(*index, 0), self.index_level(*index)),
            Scalar::Read(source, indices) => {
                let name = data.source_name(*source);
                Text::new(format!("{name}[{}]", self.indices(indices)), level::PRIMARY)
            }
            Scalar::Unary(op, a) => self.unary(*op, *a, place),
            Scalar::Binary(op, a, b) => self.binary(*op, *a, *b, place),
            Scalar::Compare(comparison, a, b) => {
                let (a, b) = self.compared(*a, *b);
                let (a, b) = (a.within(level::SUM), b.within(level::SUM));
                Text::new(format!("{a} {} {b}", comparison.name()), level::COMPARISON)
            }
            Scalar::Select(condition, a, b) => {
                let condition = self.scalar(*condition, Some(BOOL)).text;
                let (a, b) = self.pair(*a, *b, place);
                Text::new(format!("if {condition} then {} else {}", a.text, b.text), level::CONDITIONAL)
            }
            Scalar::Convert(a) => self.typed("convert", ty, *a),
            Scalar::Bitcast(a) => self.typed("bitcast", ty, *a),
            Scalar::Reduce(reduction, component) => self.reduce(*reduction, *component, place),
            Scalar::Opaque(call, indices) => self.opaque(*call, indices),
            Scalar::Carried(combiner, slot) => {
                let names = &data.combiner(*combiner).names;
                Text::new(names.get(*slot as usize).map_or("?", |name| name), level::PRIMARY)
            }
        }
    }

    fn literal(&self, literal: Literal, ty: TypeRef, place: Option<TypeRef>) -> Text {
        let text = match literal {
            Literal::Int(0) if ty == BOOL => return Text::new("false", level::PRIMARY),
            Literal::Int(1) if ty == BOOL => return Text::new("true", level::PRIMARY),
            Literal::Int(value) => value.to_string(),
            Literal::Float(bits) => format!("{:?}", f64::from_bits(bits)),
            Literal::Highest => "highest".to_owned(),
            Literal::Lowest => "lowest".to_owned(),
            Literal::NaN => "nan".to_owned(),
        };
        if place == Some(ty) {
            return Text::new(text, level::PRIMARY);
        }
        Text::new(format!("const<{}>({text})", type_text(self.data, ty)), level::PRIMARY)
    }

    fn typed(&self, function: &str, ty: TypeRef, a: ScalarId) -> Text {
        let argument = self.scalar(a, None).text;
        Text::new(format!("{function}<{}>({argument})", type_text(self.data, ty)), level::PRIMARY)
    }

    fn unary(&self, op: UnaryOp, a: ScalarId, place: Option<TypeRef>) -> Text {
        match op {
            UnaryOp::Neg => {
                let inner = self.scalar(a, place).within(level::UNARY);
                // `-3` is a literal.
                let is_number = inner.starts_with(|c: char| c.is_ascii_digit() || c == '-') || inner == "inf";
                let inner = if is_number { format!("({inner})") } else { inner };
                Text::new(format!("-{inner}"), level::UNARY)
            }
            UnaryOp::Not => {
                Text::new(format!("not {}", self.scalar(a, place).within(level::UNARY)), level::UNARY)
            }
            UnaryOp::ReducePrecision { exponent, mantissa } => {
                let inner = self.scalar(a, place).text;
                Text::new(format!("reduce_precision<{exponent}, {mantissa}>({inner})"), level::PRIMARY)
            }
            op => {
                let keeps =
                    !matches!(op, UnaryOp::IsFinite | UnaryOp::OrderKey | UnaryOp::Real | UnaryOp::Imag);
                let inner = self.scalar(a, if keeps { place } else { None }).text;
                Text::new(format!("{}({inner})", op.name()), level::PRIMARY)
            }
        }
    }

    fn binary(&self, op: BinaryOp, a: ScalarId, b: ScalarId, place: Option<TypeRef>) -> Text {
        let place = if op == BinaryOp::Complex { None } else { place };
        let (a, b) = self.pair(a, b, place);
        let level = match op {
            BinaryOp::Add | BinaryOp::Sub => level::SUM,
            BinaryOp::Mul | BinaryOp::Div => level::TERM,
            BinaryOp::And => level::AND,
            BinaryOp::Or => level::OR,
            _ => return Text::new(format!("{}({}, {})", op.name(), a.text, b.text), level::PRIMARY),
        };
        Text::new(format!("{} {} {}", a.within(level), op.name(), b.within(level + 1)), level)
    }

    /// Two values of one type, as the parser gives them one.
    fn pair(&self, a: ScalarId, b: ScalarId, place: Option<TypeRef>) -> (Text, Text) {
        if self.is_flexible(a) && !self.is_flexible(b) {
            let second = self.scalar(b, place);
            return (self.scalar(a, Some(self.data.scalar_type(b))), second);
        }
        let first = self.scalar(a, place);
        (first, self.scalar(b, Some(self.data.scalar_type(a))))
    }

    /// An integer element beside an index value needs no conversion in the text.
    fn compared(&self, a: ScalarId, b: ScalarId) -> (Text, Text) {
        let element = |id: ScalarId| match self.data.scalar(id) {
            Scalar::Convert(inner) if self.data.scalar_type(id) == INDEX && !self.is_flexible(*inner) => {
                let is_integer = matches!(self.data.scalar_type(*inner), TypeRef::Concrete(element)
                    if matches!(element.kind(), ElementKind::Signed | ElementKind::Unsigned));
                is_integer.then_some(*inner)
            }
            _ => None,
        };
        let named = |id: ScalarId| match *self.data.scalar(id) {
            Scalar::Index(index) => !self.has_data(index) && self.has_name(index),
            _ => false,
        };
        match (element(a), element(b)) {
            (Some(inner), _) if named(b) => (self.scalar(inner, None), self.scalar(b, None)),
            (_, Some(inner)) if named(a) => (self.scalar(a, None), self.scalar(inner, None)),
            _ => self.pair(a, b, None),
        }
    }

    fn is_flexible(&self, id: ScalarId) -> bool {
        match self.data.scalar(id) {
            Scalar::Literal(Literal::Int(0 | 1)) => self.data.scalar_type(id) != BOOL,
            Scalar::Literal(_) => true,
            Scalar::Index(index) => !self.has_data(*index),
            Scalar::Unary(UnaryOp::Neg, a) => self.is_flexible(*a),
            Scalar::Binary(op, a, b) => {
                !BinaryOp::CALLS.contains(op) && self.is_flexible(*a) && self.is_flexible(*b)
            }
            Scalar::Select(_, a, b) => self.is_flexible(*a) && self.is_flexible(*b),
            _ => false,
        }
    }

    fn reduce(&self, id: ReductionId, component: u32, place: Option<TypeRef>) -> Text {
        let reduction = self.data.reduction(id);
        let target = self.target(&reduction.vars, &reduction.bodies);
        if let Reducer::Custom(combiner) = reduction.reducer {
            let combiner = self.data.combiner(combiner);
            let bodies = self.tuple(&reduction.bodies, &combiner.types);
            return Text::new(format!("{}({target})({bodies}).{component}", combiner.name), level::PRIMARY);
        }
        let name =
            REDUCERS.iter().find(|(_, reducer)| *reducer == reduction.reducer).map_or("?", |(name, _)| name);
        let Some(&body) = reduction.bodies.first() else { return Text::new(name, level::PRIMARY) };
        let body = self.scalar(body, place);
        let own = if body.level == level::CONDITIONAL { level::CONDITIONAL } else { level::REDUCTION };
        let body = if body.level == level::CONDITIONAL { body.text } else { body.within(level::REDUCTION) };
        let body = if body.starts_with('-') { format!("({body})") } else { body };
        Text::new(format!("{name}({target}) {body}"), own)
    }

    fn opaque(&self, id: OpaqueId, indices: &[IndexId]) -> Text {
        let call = self.data.opaque(id);
        let mut out = format!("opaque \"{}\"", call.function);
        if !call.constants.is_empty() {
            let constants: Vec<String> = call.constants.iter().map(i64::to_string).collect();
            out.push_str(&format!("{{{}}}", constants.join(", ")));
        }
        if let Some(comparator) = call.comparator {
            out.push_str(&format!(" by {} ", self.data.combiner(comparator).name));
        }
        let slices = call.arguments.iter().map(|slice| {
            let dims = slice.dims.iter().map(|dim| dim.map_or(":".to_owned(), |index| self.index(index, 0)));
            format!("{}[{}]", self.data.source_name(slice.source), dims.collect::<Vec<_>>().join(", "))
        });
        // Writing into a string cannot fail.
        let _ = write!(out, "({})", slices.collect::<Vec<_>>().join(", "));
        if call.result > 0 {
            let _ = write!(out, ".{}", call.result);
        }
        let _ = write!(out, "[{}]", self.indices(indices));
        Text::new(out, level::PRIMARY)
    }

    fn index_level(&self, id: IndexId) -> u8 {
        match self.data.index(id) {
            Index::Add(..) | Index::Sub(..) => level::SUM,
            Index::Mul(..) | Index::FloorDiv(..) | Index::Mod(..) => level::TERM,
            _ => level::PRIMARY,
        }
    }

    fn has_data(&self, id: IndexId) -> bool {
        self.in_index(id, &|index| matches!(index, Index::Data(_)))
    }

    fn has_name(&self, id: IndexId) -> bool {
        self.in_index(id, &|index| matches!(index, Index::Var(_) | Index::Extent(_)))
    }

    fn in_index(&self, id: IndexId, wanted: &dyn Fn(Index) -> bool) -> bool {
        let index = self.data.index(id);
        wanted(index)
            || match index {
                Index::Add(a, b)
                | Index::Sub(a, b)
                | Index::Mul(a, b)
                | Index::FloorDiv(a, b)
                | Index::Mod(a, b) => self.in_index(a, wanted) || self.in_index(b, wanted),
                _ => false,
            }
    }
}
