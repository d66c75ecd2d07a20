//! The small register programs into which definitions are compiled.

use smallvec::SmallVec;
use tofu_ir::ElementType;

use crate::numeric::{BinaryFn, UnaryFn, Word};
use crate::opaque::OpaqueFunction;
use crate::scalar::{BinaryOp, Comparison, UnaryOp};

/// The number of a register that holds an element.
pub(super) type Reg = u32;
/// The number of a register that holds an index.
pub(super) type IntReg = u32;

/// `constant + Σ factor · register`.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Linear {
    pub(super) constant: i64,
    pub(super) terms: SmallVec<[(IntReg, i64); 3]>,
}

impl Linear {
    pub(super) fn value(&self, ints: &[i64]) -> i64 {
        self.terms.iter().fold(self.constant, |sum, &(register, factor)| {
            sum.wrapping_add(factor.wrapping_mul(ints[register as usize]))
        })
    }

    pub(super) fn add(&mut self, other: &Linear, factor: i64) {
        self.constant = self.constant.wrapping_add(other.constant.wrapping_mul(factor));
        for &(register, own) in &other.terms {
            let own = own.wrapping_mul(factor);
            match self.terms.iter_mut().find(|(known, _)| *known == register) {
                Some((_, known)) => *known = known.wrapping_add(own),
                None => self.terms.push((register, own)),
            }
        }
        self.terms.retain(|term| term.1 != 0);
    }
}

/// A tensor that a program reads: an operand or an intermediate tensor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Buffer {
    Operand(usize),
    Let(usize),
}

/// Steps that run one after the other.
pub(super) type Block = Vec<Step>;

pub(super) enum Step {
    Constant { to: Reg, value: Word },
    Floor { to: IntReg, a: Linear, b: i64 },
    Modulo { to: IntReg, a: Linear, b: i64 },
    FromIndex { to: Reg, a: Linear },
    ToIndex { to: IntReg, a: Reg, element: ElementType },
    Load(Box<Load>),
    Unary { to: Reg, a: Reg, op: UnaryOp, element: ElementType, run: UnaryFn },
    Binary { to: Reg, a: Reg, b: Reg, op: BinaryOp, element: ElementType, run: BinaryFn },
    Compare { to: Reg, a: Reg, b: Reg, comparison: Comparison, element: ElementType },
    Convert { to: Reg, a: Reg, from: ElementType, into: ElementType },
    Bitcast { to: Reg, a: Reg, from: ElementType, into: ElementType },
    If { to: Reg, condition: Reg, then: (Block, Reg), otherwise: (Block, Reg) },
    Reduce(Box<Reduce>),
    Opaque(Box<Opaque>),
}

pub(super) struct Load {
    pub(super) to: Reg,
    pub(super) buffer: Buffer,
    /// The tensor's name, for messages.
    pub(super) name: Box<str>,
    pub(super) offset: Linear,
    pub(super) checks: Vec<Check>,
}

/// An index that must be less than an extent.
pub(super) struct Check {
    pub(super) value: Linear,
    pub(super) extent: i64,
    pub(super) dimension: usize,
}

/// The first value and the number of values of a variable, and the register that holds it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    pub(super) register: IntReg,
    pub(super) start: i64,
    pub(super) length: i64,
}

pub(super) struct Reduce {
    /// Where the carried values end up, and what they start as.
    pub(super) carried: Vec<Reg>,
    pub(super) identities: (Block, Vec<Reg>),
    pub(super) ranges: Vec<Range>,
    /// What is combined in.
    pub(super) bodies: (Block, Vec<Reg>),
    pub(super) combine: Combine,
    /// Set where only one point gives anything but the identity: the values of the variables there.
    pub(super) only: Option<(Block, Vec<IntReg>)>,
}

pub(super) enum Combine {
    Binary(BinaryOp, ElementType, BinaryFn),
    /// Reads the carried values from the first registers, what is combined in from the second.
    Custom {
        left: Vec<Reg>,
        right: Vec<Reg>,
        block: Block,
        results: Vec<Reg>,
    },
}

pub(super) struct Opaque {
    pub(super) to: Reg,
    /// Where the result of the last call is kept.
    pub(super) cache: usize,
    pub(super) function: OpaqueFunction,
    pub(super) constants: Vec<i64>,
    /// How it compares elements.
    pub(super) comparator: Option<Combine>,
    pub(super) arguments: Vec<Argument>,
    pub(super) result: usize,
    pub(super) indices: Vec<Linear>,
}

pub(super) struct Argument {
    pub(super) buffer: Buffer,
    /// For each dimension its extent, and the index where one is taken.
    pub(super) dims: Vec<(i64, Option<Linear>)>,
}

/// A compiled definition.
pub(super) struct Program {
    pub(super) ranges: Vec<Range>,
    pub(super) block: Block,
    pub(super) result: Reg,
    pub(super) element: ElementType,
    pub(super) registers: usize,
    pub(super) int_registers: usize,
    pub(super) caches: usize,
}
