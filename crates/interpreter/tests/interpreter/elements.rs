//! Every function of every element type, over the corner cases of the type.

use fastrand::Rng;
use tofu_ir::{ElementKind, ElementType};
use tofu_tdl::{
    BinaryOp, Builder, Comparison, Description, Literal, Scalar, Source, Tensor, TypeRef, UnaryOp,
};

use crate::support::{check, draw};

/// `out[i] = body(x[i], y[i])`, if there is such an expression.
fn pointwise(
    element: ElementType,
    result: Option<ElementType>,
    body: impl Fn(&mut Builder, tofu_tdl::ScalarId, tofu_tdl::ScalarId) -> tofu_tdl::ScalarId,
) -> Option<Description> {
    let mut b = Builder::new("pointwise");
    let ty = TypeRef::Concrete(element);
    let n = b.extent("N");
    let (x, y) = (b.operand("x", ty, &[n]), b.operand("y", ty, &[n]));
    let i = b.var("i", n);
    let at = b.index(i);
    let (x, y) = (b.read(x, &[at]), b.read(y, &[at]));
    let value = body(&mut b, x, y);
    let ty = result.map_or(b.type_of(value), TypeRef::Concrete);
    b.output("out", ty, &[i], value);
    b.finish().ok()
}

fn corner_cases(element: ElementType, random: &mut Rng) -> Tensor {
    let mut tensor = draw(element, &[2500], true, random);
    if element.kind() == ElementKind::Bool || element.bits() > 8 || element.is_complex() {
        return tensor;
    }
    // All codes.
    let codes = (0..tensor.len()).map(|index| (index % 256) as u8).filter(|&byte| element.holds_byte(byte));
    let mut bytes: Vec<u8> = codes.collect();
    bytes.resize(2500, 0);
    random.shuffle(&mut bytes);
    tensor = Tensor::from_bytes(element, &[2500], bytes).unwrap();
    tensor
}

fn check_with(element: ElementType, description: Option<Description>, random: &mut Rng) -> usize {
    let Some(description) = description else { return 0 };
    let [x, y] = [(), ()].map(|()| corner_cases(element, random));
    check(&description, &[x, y]);
    1
}

#[test]
fn functions() {
    let mut random = Rng::with_seed(5);
    let mut count = 0;
    for element in ElementType::ALL {
        let unary = UnaryOp::NAMED.into_iter().chain([UnaryOp::Neg, UnaryOp::Not]);
        for op in unary.chain([UnaryOp::ReducePrecision { exponent: 5, mantissa: 3 }]) {
            count += check_with(element, pointwise(element, None, |b, x, _| b.unary(op, x)), &mut random);
        }
        let written =
            [BinaryOp::Add, BinaryOp::Sub, BinaryOp::Mul, BinaryOp::Div, BinaryOp::And, BinaryOp::Or];
        for op in written.into_iter().chain(BinaryOp::CALLS) {
            count += check_with(element, pointwise(element, None, |b, x, y| b.binary(op, x, y)), &mut random);
        }
        use Comparison::*;
        for comparison in [Eq, Ne, Lt, Le, Gt, Ge] {
            let compared = pointwise(element, None, |b, x, y| b.compare(comparison, x, y));
            count += check_with(element, compared, &mut random);
        }
        for literal in [Literal::Highest, Literal::Lowest, Literal::NaN, Literal::Int(-3), Literal::Float(0)]
        {
            let chosen = pointwise(element, None, |b, x, y| {
                let literal = b.literal(literal, TypeRef::Concrete(element));
                let condition = b.compare(Ne, x, y);
                b.select(condition, x, literal)
            });
            count += check_with(element, chosen, &mut random);
        }
    }
    assert!(count > 700, "{count}");
}

#[test]
fn conversions() {
    let mut random = Rng::with_seed(6);
    let mut count = 0;
    for from in ElementType::ALL {
        for to in ElementType::ALL {
            let ty = TypeRef::Concrete(to);
            count += check_with(from, pointwise(from, Some(to), |b, x, _| b.convert(x, ty)), &mut random);
            if from.bits() == to.bits() {
                count += check_with(from, pointwise(from, Some(to), |b, x, _| b.bitcast(x, ty)), &mut random);
            }
        }
    }
    assert!(count > 900, "{count}");
}

#[test]
fn reducers() {
    let mut random = Rng::with_seed(7);
    for element in ElementType::ALL {
        for (reducer, op) in [
            (tofu_tdl::Reducer::Sum, BinaryOp::Add),
            (tofu_tdl::Reducer::Prod, BinaryOp::Mul),
            (tofu_tdl::Reducer::Max, BinaryOp::Max),
            (tofu_tdl::Reducer::Min, BinaryOp::Min),
            (tofu_tdl::Reducer::And, BinaryOp::And),
            (tofu_tdl::Reducer::Or, BinaryOp::Or),
        ] {
            for (rows, length) in [(3, 2100), (700, 4), (1, 1), (4, 0)] {
                let mut b = Builder::new("reduce");
                let ty = TypeRef::Concrete(element);
                let (n, m) = (b.constant(rows), b.constant(length));
                let x = b.operand("x", ty, &[n, m]);
                let (i, j) = (b.var("i", n), b.var("j", m));
                let at = [b.index(i), b.index(j)];
                let x = b.read(x, &at);
                let y = b.binary(op, x, x);
                let value = b.reduce(reducer, &[j], y);
                b.output("out", ty, &[i], value);
                let Ok(description) = b.finish() else { continue };
                let special = rows == 700;
                let x = draw(element, &[rows as u64, length as u64], special, &mut random);
                check(&description, &[x]);
            }
        }
    }
}

/// A write into a place that elements name, of every type.
#[test]
fn scattered_elements() {
    let mut random = Rng::with_seed(8);
    for element in ElementType::ALL {
        let mut b = Builder::new("scatter");
        let (ty, int) = (TypeRef::Concrete(element), TypeRef::Concrete(ElementType::I32));
        let (n, m) = (b.constant(17), b.constant(90));
        let (at, u): (Source, Source) = (b.operand("at", int, &[m]), b.operand("u", ty, &[m]));
        let (i, j) = (b.var("i", n), b.var("j", m));
        let (ii, jj) = (b.index(i), b.index(j));
        let (at, u) = (b.read(at, &[jj]), b.read(u, &[jj]));
        let at = b.convert(at, TypeRef::Concrete(ElementType::Index));
        let place = b.scalar(Scalar::Index(ii), TypeRef::Concrete(ElementType::Index));
        let condition = b.compare(Comparison::Eq, at, place);
        let zero = b.int(0, ty);
        let body = b.select(condition, u, zero);
        let value = b.reduce(tofu_tdl::Reducer::Sum, &[j], body);
        b.output("out", ty, &[i], value);
        let description = b.finish().unwrap();
        let at = draw(ElementType::I32, &[90], true, &mut random);
        let u = draw(element, &[90], true, &mut random);
        check(&description, &[at, u]);
    }
}
