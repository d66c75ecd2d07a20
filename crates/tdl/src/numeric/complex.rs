//! Complex numbers, computed in `f64` and rounded once per part.

use tofu_ir::ElementType;

use super::{Word, float};
use crate::scalar::{BinaryOp, UnaryOp};

pub(crate) type Complex = (f64, f64);

pub(super) fn unary(op: UnaryOp, element: ElementType, a: Word) -> Word {
    let z = a.as_complex(element);
    let part = |value: f64| Word::of_float(element.part(), value);
    let (re, im) = match op {
        UnaryOp::Real => return part(z.0),
        UnaryOp::Imag => return part(z.1),
        UnaryOp::Abs => return part(libm::hypot(z.0, z.1)),
        UnaryOp::Neg => (-z.0, -z.1),
        UnaryOp::Sign => {
            let length = libm::hypot(z.0, z.1);
            if length == 0.0 { (0.0, 0.0) } else { (z.0 / length, z.1 / length) }
        }
        UnaryOp::Exp => exp(z),
        UnaryOp::ExponentialMinusOne => expm1(z),
        UnaryOp::Log => log(z),
        UnaryOp::LogPlusOne => log1p(z),
        UnaryOp::Sqrt => sqrt(z),
        UnaryOp::Rsqrt => div((1.0, 0.0), sqrt(z)),
        UnaryOp::Cbrt => pow(z, (1.0 / 3.0, 0.0)),
        UnaryOp::Sine => sin(z),
        UnaryOp::Cosine => {
            let (sine, cosine) = (libm::sin(z.0), libm::cos(z.0));
            (cosine * libm::cosh(z.1), -sine * libm::sinh(z.1))
        }
        // tan z = -i tanh(i z)
        UnaryOp::Tan => {
            let (re, im) = tanh((-z.1, z.0));
            (im, -re)
        }
        UnaryOp::Tanh => tanh(z),
        UnaryOp::Sinh => (libm::sinh(z.0) * libm::cos(z.1), libm::cosh(z.0) * libm::sin(z.1)),
        UnaryOp::Cosh => (libm::cosh(z.0) * libm::cos(z.1), libm::sinh(z.0) * libm::sin(z.1)),
        UnaryOp::Asin => asin(z),
        UnaryOp::Acos => acos(z),
        // atan z = -i atanh(i z), asinh z = -i asin(i z)
        UnaryOp::Atan => {
            let (re, im) = atanh((-z.1, z.0));
            (im, -re)
        }
        UnaryOp::Asinh => {
            let (re, im) = asin((-z.1, z.0));
            (im, -re)
        }
        UnaryOp::Acosh => acosh(z),
        UnaryOp::Atanh => atanh(z),
        UnaryOp::Logistic => {
            let (re, im) = exp((-z.0, -z.1));
            div((1.0, 0.0), (1.0 + re, im))
        }
        other => (float::real(other, z.0), z.1),
    };
    Word::of_complex(element, re, im)
}

pub(super) fn binary(op: BinaryOp, element: ElementType, a: Word, b: Word) -> Word {
    let (x, y) = (a.as_complex(element), b.as_complex(element));
    let (re, im) = match op {
        BinaryOp::Add => (x.0 + y.0, x.1 + y.1),
        BinaryOp::Sub => (x.0 - y.0, x.1 - y.1),
        BinaryOp::Mul => mul(x, y),
        BinaryOp::Div => div(x, y),
        BinaryOp::Pow => pow(x, y),
        // The order of real parts, then of imaginary ones.
        BinaryOp::Max if x < y => y,
        BinaryOp::Min if x > y => y,
        _ => x,
    };
    Word::of_complex(element, re, im)
}

pub(crate) fn mul(x: Complex, y: Complex) -> Complex {
    (x.0 * y.0 - x.1 * y.1, x.0 * y.1 + x.1 * y.0)
}

/// Division that scales by the larger part of the divisor (Smith, "Algorithm 116", 1962).
pub(crate) fn div(x: Complex, y: Complex) -> Complex {
    if y.0.abs() >= y.1.abs() {
        let ratio = y.1 / y.0;
        let scale = y.0 + y.1 * ratio;
        if y.0 == 0.0 && y.1 == 0.0 {
            return (x.0 / y.0.abs(), x.1 / y.0.abs());
        }
        ((x.0 + x.1 * ratio) / scale, (x.1 - x.0 * ratio) / scale)
    } else {
        let ratio = y.0 / y.1;
        let scale = y.0 * ratio + y.1;
        ((x.0 * ratio + x.1) / scale, (x.1 * ratio - x.0) / scale)
    }
}

fn exp(z: Complex) -> Complex {
    let size = libm::exp(z.0);
    if z.1 == 0.0 { (size, z.1) } else { (size * libm::cos(z.1), size * libm::sin(z.1)) }
}

/// `exp(z) - 1` without cancellation near zero.
fn expm1(z: Complex) -> Complex {
    let half = libm::sin(z.1 / 2.0);
    let real = libm::expm1(z.0) * libm::cos(z.1) - 2.0 * half * half;
    (real, libm::exp(z.0) * libm::sin(z.1))
}

fn log(z: Complex) -> Complex {
    (libm::log(libm::hypot(z.0, z.1)), libm::atan2(z.1, z.0))
}

/// `log(1 + z)` without cancellation near zero.
fn log1p(z: Complex) -> Complex {
    let real = 0.5 * libm::log1p(z.0 * (2.0 + z.0) + z.1 * z.1);
    (real, libm::atan2(z.1, 1.0 + z.0))
}

fn sqrt(z: Complex) -> Complex {
    let length = libm::hypot(z.0, z.1);
    if length == 0.0 {
        return (0.0, z.1);
    }
    if length.is_infinite() && z.1.is_infinite() {
        return (f64::INFINITY, z.1);
    }
    let half = ((length + z.0.abs()) / 2.0).sqrt();
    if z.0 >= 0.0 { (half, z.1 / (2.0 * half)) } else { (z.1.abs() / (2.0 * half), half.copysign(z.1)) }
}

fn sin(z: Complex) -> Complex {
    (libm::sin(z.0) * libm::cosh(z.1), libm::cos(z.0) * libm::sinh(z.1))
}

fn tanh(z: Complex) -> Complex {
    if z.0.abs() > 20.0 {
        return (z.0.signum(), 0.0f64.copysign(z.1));
    }
    let (sine, cosine) = (libm::sinh(z.0), libm::cos(z.1));
    let scale = sine * sine + cosine * cosine;
    (sine * libm::cosh(z.0) / scale, libm::sin(z.1) * cosine / scale)
}

// Inverse functions and their branch cuts (Kahan, "Branch cuts for complex elementary functions", 1987).

fn asin(z: Complex) -> Complex {
    let (below, above) = (sqrt((1.0 - z.0, -z.1)), sqrt((1.0 + z.0, z.1)));
    let (real, _) = mul(below, above);
    let (_, imaginary) = mul((below.0, -below.1), above);
    (libm::atan2(z.0, real), libm::asinh(imaginary))
}

fn acos(z: Complex) -> Complex {
    let (below, above) = (sqrt((1.0 - z.0, -z.1)), sqrt((1.0 + z.0, z.1)));
    let (_, imaginary) = mul((above.0, -above.1), below);
    (2.0 * libm::atan2(below.0, above.0), libm::asinh(imaginary))
}

fn acosh(z: Complex) -> Complex {
    let (below, above) = (sqrt((z.0 - 1.0, z.1)), sqrt((z.0 + 1.0, z.1)));
    let (real, _) = mul((below.0, -below.1), above);
    (libm::asinh(real), 2.0 * libm::atan2(below.1, above.0))
}

fn atanh(z: Complex) -> Complex {
    let distance = (1.0 - z.0) * (1.0 - z.0) + z.1 * z.1;
    let real = 0.25 * libm::log1p(4.0 * z.0 / distance);
    (real, 0.5 * libm::atan2(2.0 * z.1, (1.0 - z.0) * (1.0 + z.0) - z.1 * z.1))
}

fn pow(x: Complex, y: Complex) -> Complex {
    if x == (0.0, 0.0) {
        return match y {
            (0.0, 0.0) => (1.0, 0.0),
            (re, 0.0) if re > 0.0 => (0.0, 0.0),
            // The logarithm of zero has no direction.
            _ => (f64::NAN, f64::NAN),
        };
    }
    exp(mul(y, log(x)))
}
