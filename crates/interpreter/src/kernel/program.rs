//! Programs over columns.
//!
//! A definition is compiled into steps, each of which computes a column: one element for each point of a block of the
//! box that the definition ranges over. A register holds one column.

use tofu_ir::ElementType;
use tofu_tdl::Comparison;

use super::column;
use super::rows::Rows;

/// The number of a register.
pub(super) type Reg = usize;

/// A tensor that programs read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Tensor {
    /// An operand of the op.
    Operand(usize),
    /// What an earlier stage has computed.
    Temporary(usize),
}

/// Steps that run one after the other.
pub(super) type Block = Vec<Step>;

pub(super) enum Step {
    /// Indices: an affine form, plus factors times columns of indices.
    Index { to: Reg, affine: Rows, columns: Vec<(Reg, i64)> },
    /// Whether an affine form compares with zero.
    Condition { to: Reg, form: Rows, comparison: Comparison },
    /// Elements at affine offsets; of the rows, the first form is the offset, and each further one an index that may leave
    /// its dimension, of this extent. What lies outside is never used and reads as zero.
    Load { to: Reg, tensor: Tensor, size: usize, rows: Rows, extents: Vec<i64> },
    /// Elements at any offsets.
    Gather(Box<Gather>),
    /// A function of one column.
    Unary { to: Reg, a: Reg, run: column::Unary },
    /// A function of two columns.
    Binary { to: Reg, a: Reg, b: Reg, run: column::Binary },
    /// One of two columns, point by point. A branch that no point takes does not run.
    Select { to: Reg, condition: Reg, then: (Block, Reg), otherwise: (Block, Reg) },
    /// A reduction, of all points of the block at once.
    Reduce(Box<Reduce>),
}

pub(super) struct Gather {
    pub(super) to: Reg,
    pub(super) tensor: Tensor,
    /// The tensor's name, for messages.
    pub(super) name: Box<str>,
    pub(super) size: usize,
    pub(super) offset: Reg,
    pub(super) checks: Vec<Check>,
    /// The points that use what is read; all, if there is none.
    pub(super) counts: Option<Reg>,
}

/// An index that may leave its dimension.
pub(super) struct Check {
    pub(super) index: Reg,
    pub(super) extent: i64,
    pub(super) dimension: usize,
    /// Only then may it leave its dimension at a point that uses the element.
    pub(super) depends_on_elements: bool,
}

pub(super) struct Reduce {
    /// Where the carried values end up, and what they start as.
    pub(super) carried: Vec<Reg>,
    pub(super) identities: (Block, Vec<Reg>),
    /// The extents of the variables, whose values are points from this number on.
    pub(super) first_point: usize,
    pub(super) extents: Vec<i64>,
    /// What is combined in.
    pub(super) bodies: (Block, Vec<Reg>),
    pub(super) combine: Combine,
}

pub(super) enum Combine {
    /// Into this register, which then is exchanged with the carried one.
    Binary(column::Binary, Reg),
    /// Reads the carried values from the first registers, what is combined in from the second.
    Custom { left: Vec<Reg>, right: Vec<Reg>, block: Block, results: Vec<Reg> },
}

/// A compiled expression, or several.
pub(super) struct Program {
    /// The types of the registers.
    pub(super) registers: Vec<ElementType>,
    /// Registers that hold the same element everywhere, and that element.
    pub(super) constants: Vec<(Reg, Vec<u8>)>,
    pub(super) block: Block,
    pub(super) results: Vec<Reg>,
    /// The number of points' variables.
    pub(super) points: usize,
    /// The number of points of the box.
    pub(super) count: usize,
}
