//! Special functions that `libm` lacks, in `f64`. Values at poles and outside of domains are those of XLA.

use std::f64::consts::PI;

/// The inverse of the error function: Winitzki's approximation ("A handy approximation for the error function and its
/// inverse", 2008), which is right to three digits, then steps of Halley's method, each of which triples them.
pub(super) fn erf_inv(x: f64) -> f64 {
    if x == 0.0 {
        return x;
    }
    let size = x.abs();
    if size >= 1.0 || x.is_nan() {
        return if size == 1.0 { f64::INFINITY.copysign(x) } else { f64::NAN };
    }
    let logarithm = libm::log1p(-size) + libm::log1p(size);
    let middle = 2.0 / (PI * 0.147) + logarithm / 2.0;
    let mut y = ((middle * middle - logarithm / 0.147).sqrt() - middle).max(0.0).sqrt();
    for _ in 0..4 {
        // Near 1 the complement keeps the digits.
        let error = if size < 0.5 { libm::erf(y) - size } else { (1.0 - size) - libm::erfc(y) };
        let newton = error / (2.0 / PI.sqrt() * libm::exp(-y * y));
        y -= newton / (1.0 + y * newton);
    }
    y.copysign(x)
}

/// Numerators and denominators of the Bernoulli numbers B2, B4, …
const BERNOULLI: [(f64, f64); 12] = [
    (1.0, 6.0),
    (-1.0, 30.0),
    (1.0, 42.0),
    (-1.0, 30.0),
    (5.0, 66.0),
    (-691.0, 2730.0),
    (7.0, 6.0),
    (-3617.0, 510.0),
    (43867.0, 798.0),
    (-174_611.0, 330.0),
    (854_513.0, 138.0),
    (-236_364_091.0, 2730.0),
];

/// The derivative of the logarithm of the gamma function: by recurrence to an argument where its asymptotic series
/// converges fast; of negative arguments by reflection. NaN at the poles.
pub(super) fn digamma(x: f64) -> f64 {
    if x <= 0.0 {
        if x == x.floor() {
            return f64::NAN;
        }
        let fraction = x - x.floor();
        return digamma(1.0 - x) - PI / libm::tan(PI * fraction);
    }
    let (mut x, mut sum) = (x, 0.0);
    while x < 12.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let (inverse, mut power, mut series) = (1.0 / (x * x), 1.0, 0.0);
    for (number, (numerator, denominator)) in BERNOULLI.iter().enumerate() {
        power *= inverse;
        series += numerator / denominator * power / (2 * (number + 1)) as f64;
    }
    let series = if x.is_infinite() { 0.0 } else { series };
    sum + libm::log(x) - 0.5 / x - series
}

/// Hurwitz' zeta function, `Σ (q + k)^-x`: the first terms, and the rest by the formula of Euler and Maclaurin.
pub(super) fn zeta(x: f64, q: f64) -> f64 {
    let is_even = x % 2.0 == 0.0;
    match () {
        () if x == 1.0 => f64::INFINITY,
        () if x < 1.0 || x.is_nan() || q.is_nan() => f64::NAN,
        () if q > 0.0 => positive_zeta(x, q),
        () if q == q.floor() => {
            if is_even {
                f64::INFINITY
            } else {
                f64::NAN
            }
        }
        () if x != x.floor() => f64::NAN,
        // The terms below zero are those of -q, -q - 1, … down to its fraction.
        () => {
            let fraction = -q - (-q).floor();
            let below = positive_zeta(x, fraction) - positive_zeta(x, 1.0 - q);
            let above = positive_zeta(x, 1.0 - fraction);
            if is_even { above + below } else { above - below }
        }
    }
}

fn positive_zeta(x: f64, q: f64) -> f64 {
    let (mut a, mut sum) = (q, 0.0);
    while a < 12.0 {
        sum += libm::pow(a, -x);
        a += 1.0;
    }
    let term = libm::pow(a, -x);
    // A geometric series has at most the ratio of its first two terms.
    if a.is_infinite() || term * (1.0 + a / (x - 1.0)) < sum * f64::EPSILON / 4.0 {
        return sum;
    }
    sum += term * (0.5 + a / (x - 1.0));
    // B2j / (2j)! x (x + 1) … (x + 2j - 2) a^(-x - 2j + 1)
    let mut factor = term * x / a;
    for (number, (numerator, denominator)) in BERNOULLI.iter().enumerate() {
        let order = 2.0 * (number + 1) as f64;
        factor /= order * (order - 1.0);
        sum += numerator / denominator * factor;
        factor *= (x + order - 1.0) * (x + order) / (a * a);
    }
    sum
}

/// The derivative of order `n` of [`digamma`]. NaN where `n` is no integer or negative.
pub(super) fn polygamma(n: f64, x: f64) -> f64 {
    if n == 0.0 {
        return digamma(x);
    }
    if n < 0.0 || n != n.floor() {
        return f64::NAN;
    }
    let size = libm::tgamma(n + 1.0) * zeta(n + 1.0, x);
    if n % 2.0 == 0.0 { -size } else { size }
}

/// `exp(-|x|)` times the modified Bessel function of the first kind of order 1: its power series, whose terms are all
/// of one sign, and for large arguments the asymptotic one.
pub(super) fn bessel_i1e(x: f64) -> f64 {
    let size = x.abs();
    if size.is_infinite() {
        return 0.0f64.copysign(x);
    }
    let value = if size < 30.0 {
        let quarter = size * size / 4.0;
        let (mut term, mut sum) = (size / 2.0, 0.0);
        for k in 1..=120 {
            sum += term;
            term *= quarter / (f64::from(k) * f64::from(k + 1));
        }
        libm::exp(-size) * sum
    } else {
        let (mut term, mut sum) = (1.0, 0.0);
        for k in 1..=30 {
            sum += term;
            let odd = f64::from(2 * k - 1);
            term *= (odd * odd - 4.0) / (f64::from(k) * 8.0 * size);
        }
        sum / (2.0 * PI * size).sqrt()
    };
    if x < 0.0 { -value } else { value }
}
