//! How control passes through the ops whose results come from regions or functions, or that only hand values on.
//!
//! It is all that an interpreter, a cost model or a lowering has to know of such an op; a dialect says it with this
//! interface, so that none of them lists ops by name.

use crate::Interface;

/// Where the results of an op come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Control {
    /// It ends a region; its operands are what the region gives.
    Yield,
    /// They are the results of the function that this attribute names, called with the operands.
    Call(&'static str),
    /// The operands are given to region 0, which says whether to go on; if so, to region 1, which gives the next
    /// operands. The last ones are the results.
    While,
    /// They are what one region gives: that of the number in operand 0, or the last one where there is no such region.
    Case,
    /// They are what region 0 gives if operand 0 is true, and what region 1 gives otherwise.
    If,
    /// Each is the operand of its place.
    Forward,
    /// It is the tuple of the operands.
    Tuple,
    /// It is the element of the tuple in operand 0 that the integer in this attribute counts to, from zero.
    Element(&'static str),
    /// It is a token: it orders effects and holds nothing.
    Token,
}

impl Interface for Control {}
