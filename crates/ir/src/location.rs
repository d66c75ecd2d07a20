//! Where ops come from.
//!
//! Two things are kept apart. A [`Span`](tofu_diagnostics::Span) says where the text in front of us stands; a
//! [`Location`] is what a framework said about the source of an op (`loc("jit(step)/dot_general")`), or where the op
//! stood in a file that was read before. Locations are part of the program and are printed on request; spans are not.

use crate::{Attr, Name};

crate::entity_ids! {
    /// An interned location of a module.
    Location = "loc";
}

/// What a [`Location`] stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum LocationData {
    /// `loc(unknown)`.
    Unknown,
    /// `loc("file.py":10:5)`, line and column from 1.
    File {
        /// The file's name.
        file: Name,
        /// The line.
        line: u32,
        /// The column.
        column: u32,
    },
    /// `loc("name")` or `loc("name"(child))`.
    Named {
        /// The framework's name for it.
        name: Name,
        /// Where that is.
        child: Location,
    },
    /// `loc(fused[a, b])` or `loc(fused<metadata>[a, b])`: joined from several.
    Fused {
        /// What they were.
        parts: Box<[Location]>,
        /// What whoever joined them says about it.
        metadata: Option<Attr>,
    },
    /// `loc(callsite(callee at caller))`.
    Call {
        /// Where the called code is.
        callee: Location,
        /// Where it was called.
        caller: Location,
    },
}

impl LocationData {
    /// Several locations as one.
    pub fn fused(parts: impl IntoIterator<Item = Location>) -> LocationData {
        LocationData::Fused { parts: parts.into_iter().collect(), metadata: None }
    }
}
