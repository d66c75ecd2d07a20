//! What is to be placed, as its user states it, and what can be wrong with that.

use std::fmt;
use std::ops::Range;

/// Something that needs a place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Buffer {
    /// When it is needed, half-open. One that is never needed, or has no bytes, is in nobody's way.
    pub live: Range<u64>,
    /// Bytes.
    pub bytes: u64,
    /// Its offset is a multiple of this many bytes; 0 counts as 1.
    pub alignment: u64,
    /// Where it must lie, if that is given.
    pub offset: Option<u64>,
    /// The number of the pool that it lies in.
    pub pool: usize,
}

/// A space of addresses from 0 up.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Pool {
    /// How many bytes there are, if that is given: any placement within is good enough then. Without one, the smallest arena is
    /// looked for.
    pub capacity: Option<u64>,
}

/// Buffers, the pools they lie in, and which of them lie together.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    /// What is to be placed.
    pub buffers: Vec<Buffer>,
    /// Where.
    pub pools: Vec<Pool>,
    /// Groups of numbers of buffers that begin at one offset and share their bytes, also while several of them are alive. Groups
    /// that have a buffer in common are one.
    pub together: Vec<Vec<usize>>,
}

/// What is wrong with a problem.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Invalid {
    /// A buffer names a pool that is not there.
    NoSuchPool {
        /// The buffer.
        buffer: usize,
        /// The pool that it names.
        pool: usize,
    },
    /// A group names a buffer that is not there.
    NoSuchBuffer {
        /// The group.
        group: usize,
        /// The buffer that it names.
        buffer: usize,
    },
    /// The offset that a buffer must have is not a multiple of its alignment, or of that of one that lies with it.
    Misaligned {
        /// The buffer.
        buffer: usize,
    },
    /// Two buffers that lie together are in different pools, or must lie at different offsets.
    Apart(usize, usize),
    /// Two buffers share bytes at the offsets that they must have, while both are alive.
    Overlap(usize, usize),
    /// Sizes, alignments or offsets are so large that sums of them do not fit into 63 bits.
    TooLarge,
}

impl Buffer {
    /// A buffer in the first pool, at any offset.
    pub fn new(live: Range<u64>, bytes: u64) -> Buffer {
        Buffer { live, bytes, alignment: 1, offset: None, pool: 0 }
    }

    /// Whether it takes any place.
    pub fn is_needed(&self) -> bool {
        self.bytes > 0 && self.live.start < self.live.end
    }
}

impl Problem {
    /// Buffers in one pool.
    pub fn new(buffers: Vec<Buffer>, capacity: Option<u64>) -> Problem {
        Problem { buffers, pools: vec![Pool { capacity }], together: Vec::new() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Invalid::NoSuchPool { buffer, pool } => {
                write!(f, "buffer {buffer} is in pool {pool}, which is not there")
            }
            Invalid::NoSuchBuffer { group, buffer } => {
                write!(f, "group {group} names buffer {buffer}, which is not there")
            }
            Invalid::Misaligned { buffer } => {
                write!(f, "the offset that buffer {buffer} must have is not a multiple of its alignment")
            }
            Invalid::Apart(a, b) => {
                write!(
                    f,
                    "buffers {a} and {b} lie together, but their pools or the offsets they must have differ"
                )
            }
            Invalid::Overlap(a, b) => {
                write!(f, "buffers {a} and {b} overlap at the offsets that they must have")
            }
            Invalid::TooLarge => write!(f, "the sizes, alignments and offsets are too large to be added up"),
        }
    }
}

impl std::error::Error for Invalid {}
