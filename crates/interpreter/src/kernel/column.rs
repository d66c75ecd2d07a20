//! What is computed with columns: the elements of a block of points, each in its little-endian storage.
//!
//! The functions of most programs have loops of their own, which compilers turn into vector instructions; all others,
//! and the rarer types, go through [`numeric`] element by element. Both give the same bits (NaNs may differ in theirs),
//! which the tests compare over the corner cases of every type.

use tofu_ir::ElementType::{self, *};
use tofu_tdl::numeric::{self, Word};
use tofu_tdl::{BinaryOp, Comparison, UnaryOp};

/// Computes a column from another one.
pub(super) type Unary = Box<dyn Fn(&mut [u8], &[u8]) + Send + Sync>;
/// Computes a column from two others.
pub(super) type Binary = Box<dyn Fn(&mut [u8], &[u8], &[u8]) + Send + Sync>;

/// A function of two values of one type that gives a third, in the forms in which reductions need it.
pub(super) struct Combine {
    /// Element by element.
    pub(super) map: Binary,
    /// Combines the elements of a column, in their order, into a single one.
    pub(super) fold: Unary,
    /// Combines the elements of a column into elements of a tensor, in their order.
    pub(super) scatter: Scatter,
}

/// Given the tensor, the offsets (a column of indices), which lanes count, and the values; false if an offset lies
/// outside of the tensor.
pub(super) type Scatter = Box<dyn Fn(&mut [u8], &[u8], &[u8], &[u8]) -> bool + Send + Sync>;

/// An element that the processor computes with.
pub(super) trait Lane: Copy + Send + Sync + 'static {
    /// Its storage.
    type Bytes: Copy + 'static;
    fn lanes(bytes: &[u8]) -> &[Self::Bytes];
    fn lanes_mut(bytes: &mut [u8]) -> &mut [Self::Bytes];
    fn get(bytes: Self::Bytes) -> Self;
    fn put(self) -> Self::Bytes;
}

macro_rules! lanes {
    ($($lane:ident)*) => {$(
        impl Lane for $lane {
            type Bytes = [u8; size_of::<$lane>()];
            fn lanes(bytes: &[u8]) -> &[Self::Bytes] {
                bytes.as_chunks().0
            }
            fn lanes_mut(bytes: &mut [u8]) -> &mut [Self::Bytes] {
                bytes.as_chunks_mut().0
            }
            fn get(bytes: Self::Bytes) -> Self {
                $lane::from_le_bytes(bytes)
            }
            fn put(self) -> Self::Bytes {
                self.to_le_bytes()
            }
        }
    )*};
}

lanes!(f32 f64 i8 i16 i32 i64 u8 u16 u32 u64);

/// Runs `$body` with the lane type of an integer element type as `$lane`, and `$other` for all other types.
macro_rules! with_integer {
    ($element:expr, $lane:ident => $body:expr, _ => $other:expr) => {
        match $element {
            I8 => {
                type $lane = i8;
                $body
            }
            I16 => {
                type $lane = i16;
                $body
            }
            I32 => {
                type $lane = i32;
                $body
            }
            I64 | Index => {
                type $lane = i64;
                $body
            }
            Ui8 => {
                type $lane = u8;
                $body
            }
            Ui16 => {
                type $lane = u16;
                $body
            }
            Ui32 => {
                type $lane = u32;
                $body
            }
            Ui64 => {
                type $lane = u64;
                $body
            }
            _ => $other,
        }
    };
}

/// [`with_integer`], with floats too.
macro_rules! with_number {
    ($element:expr, $lane:ident => $body:expr, _ => $other:expr) => {
        match $element {
            F32 => { type $lane = f32; $body }
            F64 => { type $lane = f64; $body }
            element => with_integer!(element, $lane => $body, _ => $other),
        }
    };
}

fn map<A: Lane, B: Lane>(f: impl Fn(A) -> B + Send + Sync + 'static) -> Unary {
    Box::new(move |to, a| {
        for (to, &a) in B::lanes_mut(to).iter_mut().zip(A::lanes(a)) {
            *to = f(A::get(a)).put();
        }
    })
}

fn map2<A: Lane, B: Lane>(f: impl Fn(A, A) -> B + Send + Sync + 'static) -> Binary {
    Box::new(move |to, a, b| {
        let lanes = A::lanes(a).iter().zip(A::lanes(b));
        for (to, (&a, &b)) in B::lanes_mut(to).iter_mut().zip(lanes) {
            *to = f(A::get(a), A::get(b)).put();
        }
    })
}

fn combine_lanes<L: Lane>(f: impl Fn(L, L) -> L + Copy + Send + Sync + 'static) -> Combine {
    Combine {
        map: map2(f),
        fold: Box::new(move |to, values| {
            if let Some(to) = L::lanes_mut(to).first_mut() {
                let values = L::lanes(values).iter().map(|&value| L::get(value));
                *to = values.fold(L::get(*to), f).put();
            }
        }),
        scatter: Box::new(move |target, offsets, counts, values| {
            let target = L::lanes_mut(target);
            for ((&offset, &counts), &value) in i64::lanes(offsets).iter().zip(counts).zip(L::lanes(values)) {
                if counts == 0 {
                    continue;
                }
                let place = usize::try_from(i64::get(offset)).ok().and_then(|at| target.get_mut(at));
                let Some(place) = place else { return false };
                *place = f(L::get(*place), L::get(value)).put();
            }
            true
        }),
    }
}

fn combine_words(op: BinaryOp, element: ElementType) -> Combine {
    let size = element.storage_bytes();
    let run = numeric::binary_fn(op, element);
    let f = move |to: &mut [u8], a: &[u8]| {
        run(op, element, Word::read(element, to), Word::read(element, a)).write(element, to);
    };
    Combine {
        map: binary_words(op, element),
        fold: Box::new(move |to, values| values.chunks_exact(size).for_each(|value| f(to, value))),
        scatter: Box::new(move |target, offsets, counts, values| {
            for ((&offset, &counts), value) in
                i64::lanes(offsets).iter().zip(counts).zip(values.chunks_exact(size))
            {
                if counts == 0 {
                    continue;
                }
                let at = usize::try_from(i64::get(offset)).ok().and_then(|at| at.checked_mul(size));
                let Some(place) = at.and_then(|at| target.get_mut(at..at + size)) else { return false };
                f(place, value);
            }
            true
        }),
    }
}

fn binary_words(op: BinaryOp, element: ElementType) -> Binary {
    let size = element.storage_bytes();
    let run = numeric::binary_fn(op, element);
    Box::new(move |to, a, b| {
        let lanes = a.chunks_exact(size).zip(b.chunks_exact(size));
        // A complex number is as wide as its type, whatever the operands are.
        let to_size = if op == BinaryOp::Complex { 2 * size } else { size };
        let result = if op == BinaryOp::Complex { complex_of(element) } else { element };
        for (to, (a, b)) in to.chunks_exact_mut(to_size).zip(lanes) {
            run(op, element, Word::read(element, a), Word::read(element, b)).write(result, to);
        }
    })
}

fn complex_of(part: ElementType) -> ElementType {
    if part == F64 { Complex64 } else { Complex32 }
}

fn map_words(from: ElementType, to: ElementType, f: impl Fn(Word) -> Word + Send + Sync + 'static) -> Unary {
    let (from_size, to_size) = (from.storage_bytes(), to.storage_bytes());
    Box::new(move |target, a| {
        for (target, a) in target.chunks_exact_mut(to_size).zip(a.chunks_exact(from_size)) {
            f(Word::read(from, a)).write(to, target);
        }
    })
}

/// A function of one value of type `from`; its value has type `to`.
pub(super) fn unary(op: UnaryOp, from: ElementType, to: ElementType) -> Unary {
    match (op, from) {
        (UnaryOp::Neg, F32) => map(|a: f32| -a),
        (UnaryOp::Neg, F64) => map(|a: f64| -a),
        (UnaryOp::Abs, F32) => map(f32::abs),
        (UnaryOp::Abs, F64) => map(f64::abs),
        (UnaryOp::Sqrt, F32) => map(f32::sqrt),
        (UnaryOp::Sqrt, F64) => map(f64::sqrt),
        (UnaryOp::Not, I1) => map(|a: u8| a ^ 1),
        (UnaryOp::Neg, _) => {
            with_integer!(from, L => map(L::wrapping_neg_of), _ => unary_words(op, from, to))
        }
        _ => unary_words(op, from, to),
    }
}

fn unary_words(op: UnaryOp, from: ElementType, to: ElementType) -> Unary {
    let run = numeric::unary_fn(from);
    map_words(from, to, move |a| run(op, from, a))
}

/// Arithmetic that wraps, for every integer lane.
trait Wrapping: Sized {
    fn wrapping_neg_of(self) -> Self;
}

macro_rules! wrapping {
    ($($lane:ident)*) => {$(
        impl Wrapping for $lane {
            fn wrapping_neg_of(self) -> Self {
                self.wrapping_neg()
            }
        }
    )*};
}

wrapping!(i8 i16 i32 i64 u8 u16 u32 u64);

/// A function of two values of one type.
pub(super) fn binary(op: BinaryOp, element: ElementType) -> Binary {
    match (op, element) {
        (BinaryOp::Complex, _) => binary_words(op, element),
        _ => combine(op, element).map,
    }
}

/// A function of two values that gives a third of their type.
pub(super) fn combine(op: BinaryOp, element: ElementType) -> Combine {
    use BinaryOp::*;
    macro_rules! float {
        ($lane:ident) => {
            match op {
                Add => combine_lanes(|a: $lane, b| a + b),
                Sub => combine_lanes(|a: $lane, b| a - b),
                Mul => combine_lanes(|a: $lane, b| a * b),
                Div => combine_lanes(|a: $lane, b| a / b),
                Max => combine_lanes(|a: $lane, b: $lane| {
                    let greater = if a > b || (a == b && b.is_sign_negative()) { a } else { b };
                    if a.is_nan() || b.is_nan() { $lane::NAN } else { greater }
                }),
                Min => combine_lanes(|a: $lane, b: $lane| {
                    let less = if a < b || (a == b && a.is_sign_negative()) { a } else { b };
                    if a.is_nan() || b.is_nan() { $lane::NAN } else { less }
                }),
                _ => combine_words(op, element),
            }
        };
    }
    match element {
        F32 => float!(f32),
        F64 => float!(f64),
        I1 => match op {
            Add | Or | Max => combine_lanes(|a: u8, b| a | b),
            Mul | And | Min => combine_lanes(|a: u8, b| a & b),
            _ => combine_words(op, element),
        },
        _ => with_integer!(element, L => match op {
            Add => combine_lanes(L::wrapping_add),
            Sub => combine_lanes(L::wrapping_sub),
            Mul => combine_lanes(L::wrapping_mul),
            Max => combine_lanes(<L as Ord>::max),
            Min => combine_lanes(<L as Ord>::min),
            And => combine_lanes(|a: L, b| a & b),
            Or => combine_lanes(|a: L, b| a | b),
            Xor => combine_lanes(|a: L, b| a ^ b),
            _ => combine_words(op, element),
        }, _ => combine_words(op, element)),
    }
}

/// A comparison; it gives booleans.
pub(super) fn compare(comparison: Comparison, element: ElementType) -> Binary {
    fn lanes<L: Lane + PartialOrd>(comparison: Comparison) -> Binary {
        match comparison {
            Comparison::Eq => map2(|a: L, b| u8::from(a == b)),
            Comparison::Ne => map2(|a: L, b| u8::from(a != b)),
            Comparison::Lt => map2(|a: L, b| u8::from(a < b)),
            Comparison::Le => map2(|a: L, b| u8::from(a <= b)),
            Comparison::Gt => map2(|a: L, b| u8::from(a > b)),
            Comparison::Ge => map2(|a: L, b| u8::from(a >= b)),
        }
    }
    let words = || -> Binary {
        let size = element.storage_bytes();
        Box::new(move |to, a, b| {
            let lanes = a.chunks_exact(size).zip(b.chunks_exact(size));
            for (to, (a, b)) in to.iter_mut().zip(lanes) {
                let (a, b) = (Word::read(element, a), Word::read(element, b));
                *to = u8::from(numeric::compare(comparison, element, a, b));
            }
        })
    };
    with_number!(element, L => lanes::<L>(comparison), _ => words())
}

/// The value in another type.
pub(super) fn convert(from: ElementType, to: ElementType) -> Unary {
    match (from, to) {
        (F32, F64) => map(|a: f32| f64::from(a)),
        (F64, F32) => map(|a: f64| a as f32),
        (BF16, F32) => map(|a: u16| u32::from(a) << 16),
        (I1, F32) => map(|a: u8| f32::from(a)),
        (I1, I32 | Ui32) => map(|a: u8| u32::from(a)),
        (I32, F32) => map(|a: i32| a as f32),
        (I32, F64) => map(|a: i32| f64::from(a)),
        (I32, I64 | Index) => map(|a: i32| i64::from(a)),
        (Ui32, I64 | Index) => map(|a: u32| i64::from(a)),
        (I64 | Index, I32 | Ui32) => map(|a: i64| a as i32),
        (I64 | Index, F32) => map(|a: i64| a as f32),
        (I64 | Index | Ui64, I64 | Index | Ui64) => map(|a: i64| a),
        _ => map_words(from, to, move |a| numeric::convert(from, to, a)),
    }
}

/// The same bits as another type.
pub(super) fn bitcast(from: ElementType, to: ElementType) -> Unary {
    map_words(from, to, move |a| numeric::bitcast(from, to, a))
}

/// An integer as an index; what does not fit becomes the greatest index.
pub(super) fn to_index(from: ElementType) -> Unary {
    match from {
        Ui64 => map_words(from, Index, move |a| Word::int(numeric::to_index(from, a))),
        _ => convert(from, Index),
    }
}

/// Whether an index lies in `0..extent`.
pub(super) fn within(extent: i64) -> Unary {
    map(move |a: i64| u8::from(a >= 0 && a < extent))
}

/// An index divided by a positive number, rounded down.
pub(super) fn quotient(by: i64) -> Unary {
    map(move |a: i64| a.div_euclid(by))
}

/// Runs `$body` with a constant as wide as an element.
macro_rules! with_size {
    ($size:expr, $n:ident => $body:expr) => {
        match $size {
            1 => {
                const $n: usize = 1;
                $body
            }
            2 => {
                const $n: usize = 2;
                $body
            }
            4 => {
                const $n: usize = 4;
                $body
            }
            8 => {
                const $n: usize = 8;
                $body
            }
            _ => {
                const $n: usize = 16;
                $body
            }
        }
    };
}
pub(super) use with_size;

/// Of two columns the elements that a condition chooses.
pub(super) fn select(size: usize, to: &mut [u8], condition: &[u8], then: &[u8], otherwise: &[u8]) {
    with_size!(size, N => {
        let lanes = then.as_chunks::<N>().0.iter().zip(otherwise.as_chunks::<N>().0);
        for ((to, &condition), (then, otherwise)) in
            to.as_chunks_mut::<N>().0.iter_mut().zip(condition).zip(lanes)
        {
            *to = if condition != 0 { *then } else { *otherwise };
        }
    });
}

/// Fills a column with one element.
pub(super) fn fill(column: &mut [u8], element: &[u8]) {
    column.chunks_exact_mut(element.len()).for_each(|lane| lane.copy_from_slice(element));
}
