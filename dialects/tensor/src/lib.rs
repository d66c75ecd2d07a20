//! Operations on tensors, named and defined as in StableHLO.
//!
//! What an op computes is said once, by its [description](tofu_tdl::Describe): types, verification, strategies, costs and
//! reference execution follow from that. Ops that hand control on say how ([`Control`](tofu_ir::Control)), and the few
//! that have neither say why ([`Undescribed`](tofu_tdl::Undescribed)).
//!
//! Where a result's type follows from the operands it may be left away; `convert`, `iota`, `reshape`, `broadcast_in_dim`
//! and others whose shape or element type is free need it written. Shapes are never extended silently: operands of an
//! element-wise op have one shape. Extents may be unknown (`?`) or symbolic (`{batch}`); of two that must be equal, the
//! result takes the one that is known better.
//!
//! Attributes have StableHLO's names, those of its structures one by one, and are optional where StableHLO has a default.
//!
//! For each op there is its definition ([`TANH`]) and a function that adds one ([`tanh()`]):
//!
//! ```
//! # use std::sync::Arc;
//! # use tofu_ir::{Builder, ElementType, Module, Registry};
//! use tofu_dialect_tensor as tensor;
//!
//! # let mut module = Module::new(Arc::new(Registry::new(&[&tensor::DIALECT]).unwrap()));
//! # let ty = module.interner.tensor(&[4, 8], ElementType::F32);
//! # let block = module.body();
//! let zero = tensor::splat(&mut Builder::at_end(&mut module, block), ty, 0.0)?;
//! let result = tensor::tanh(&mut Builder::at_end(&mut module, block), zero)?;
//! assert_eq!(module.ty(result), ty);
//! # Ok::<(), tofu_diagnostics::Diagnostic>(())
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `classes`, `shapes`, `regions` | what operands, attributes and regions may be, and what is said where they do not fit |
//! | `describe` | what the descriptions of several ops have in common |
//! | `elementwise`, `choose`, `bitcast` | element-wise ops: the table; those with attributes or mixed types; bits |
//! | `constants`, `random` | tensors that are made |
//! | `layout`, `reshape`, `dynamic`, `dynamic_shapes` | elements that are moved, by attributes or by data |
//! | `gather_scatter` | slices at many places |
//! | `dot_general`, `convolution` | sums of products |
//! | `reduce`, `windows`, `normalization` | reductions and what is made of them |
//! | `sort`, `linalg` | algorithms that descriptions do not say |
//! | `control` | loops, branches, tuples, tokens |
//! | `distributed`, `external` | what depends on other processes or on the world outside |
//! | `fold` | computing ops at compile time |
//! | `express` | ordinary ops for what a description says |

mod bitcast;
mod choose;
mod classes;
mod constants;
mod control;
mod convolution;
mod describe;
mod distributed;
mod dot_general;
mod dynamic;
mod dynamic_shapes;
mod elementwise;
mod express;
mod external;
mod fold;
mod gather_scatter;
mod layout;
mod linalg;
mod normalization;
mod random;
mod reduce;
mod regions;
mod reshape;
mod shapes;
mod sort;
mod windows;

pub use bitcast::*;
pub use choose::*;
pub use constants::*;
pub use control::*;
pub use convolution::{CONVOLUTION, ConvolutionDimensions, ConvolutionWindow, convolution};
pub use distributed::{
    ALL_GATHER, ALL_REDUCE, ALL_TO_ALL, COLLECTIVE_BROADCAST, COLLECTIVE_PERMUTE, PARTITION_ID,
    REDUCE_SCATTER, REPLICA_ID,
};
pub use dot_general::{DOT_GENERAL, dot_general};
pub use dynamic::{DYNAMIC_SLICE, DYNAMIC_UPDATE_SLICE, dynamic_slice, dynamic_update_slice};
pub use dynamic_shapes::*;
pub use elementwise::*;
pub use express::express;
pub use external::*;
pub use gather_scatter::{GATHER, PlaceDimensions, SCATTER, gather, scatter};
pub use layout::*;
pub use linalg::*;
pub use normalization::*;
pub use random::*;
pub use reduce::{MAP, REDUCE, map, reduce};
pub use regions::YIELD;
pub use reshape::{RESHAPE, reshape};
pub use sort::{SORT, TOP_K, sort, top_k};
pub use windows::{REDUCE_WINDOW, SELECT_AND_SCATTER, WindowDimensions, reduce_window, select_and_scatter};

use tofu_ir::{AttrData, Dialect};

/// The dialect of tensor operations.
pub static DIALECT: Dialect = Dialect {
    name: "tensor",
    summary: "Operations on tensors.",
    ops: &[
        &ABS,
        &ACOS,
        &ACOSH,
        &ADD,
        &AFTER_ALL,
        &ALL_GATHER,
        &ALL_REDUCE,
        &ALL_TO_ALL,
        &AND,
        &ASIN,
        &ASINH,
        &ATAN,
        &ATAN2,
        &ATANH,
        &BATCH_NORM_GRAD,
        &BATCH_NORM_INFERENCE,
        &BATCH_NORM_TRAINING,
        &BESSEL_I1E,
        &BITCAST_CONVERT,
        &BROADCAST_IN_DIM,
        &CASE,
        &CBRT,
        &CEIL,
        &CHOLESKY,
        &CLAMP,
        &COLLECTIVE_BROADCAST,
        &COLLECTIVE_PERMUTE,
        &COMPARE,
        &COMPLEX,
        &COMPOSITE,
        &CONCATENATE,
        &CONJ,
        &CONSTANT,
        &CONVERT,
        &CONVOLUTION,
        &COSH,
        &COSINE,
        &COUNT_LEADING_ZEROS,
        &CREATE_TOKEN,
        &CUSTOM_CALL,
        &DIGAMMA,
        &DIVIDE,
        &DOT_GENERAL,
        &DYNAMIC_BROADCAST_IN_DIM,
        &DYNAMIC_CONV,
        &DYNAMIC_GATHER,
        &DYNAMIC_IOTA,
        &DYNAMIC_PAD,
        &DYNAMIC_RESHAPE,
        &DYNAMIC_SLICE,
        &DYNAMIC_UPDATE_SLICE,
        &ERF,
        &ERF_INV,
        &ERFC,
        &EXPONENTIAL,
        &EXPONENTIAL_MINUS_ONE,
        &FFT,
        &FLOOR,
        &GATHER,
        &GET_DIMENSION_SIZE,
        &GET_TUPLE_ELEMENT,
        &IF,
        &IMAG,
        &INFEED,
        &IOTA,
        &IS_FINITE,
        &IS_INF,
        &IS_NEG_INF,
        &IS_POS_INF,
        &LGAMMA,
        &LOG,
        &LOG_PLUS_ONE,
        &LOGISTIC,
        &MAP,
        &MAXIMUM,
        &MINIMUM,
        &MULHI,
        &MULTIPLY,
        &NEGATE,
        &NEXT_AFTER,
        &NOT,
        &OPTIMIZATION_BARRIER,
        &OR,
        &OUTFEED,
        &PAD,
        &PARTITION_ID,
        &POLYGAMMA,
        &POPCNT,
        &POWER,
        &REAL,
        &REAL_DYNAMIC_SLICE,
        &RECV,
        &REDUCE,
        &REDUCE_PRECISION,
        &REDUCE_SCATTER,
        &REDUCE_WINDOW,
        &REMAINDER,
        &REPLICA_ID,
        &RESHAPE,
        &REVERSE,
        &RNG,
        &RNG_BIT_GENERATOR,
        &ROUND_NEAREST_AFZ,
        &ROUND_NEAREST_EVEN,
        &RSQRT,
        &SCATTER,
        &SELECT,
        &SELECT_AND_SCATTER,
        &SEND,
        &SET_DIMENSION_SIZE,
        &SHIFT_LEFT,
        &SHIFT_RIGHT_ARITHMETIC,
        &SHIFT_RIGHT_LOGICAL,
        &SIGN,
        &SINE,
        &SINH,
        &SLICE,
        &SORT,
        &SQRT,
        &SQUARE,
        &SUBTRACT,
        &TAN,
        &TANH,
        &TOP_K,
        &TRANSPOSE,
        &TRIANGULAR_SOLVE,
        &TUPLE,
        &UNIFORM_DEQUANTIZE,
        &UNIFORM_QUANTIZE,
        &WHILE,
        &XOR,
        &YIELD,
        &ZETA,
    ],
    types: &[],
    attributes: &[],
    constant: Some(|module, value, ty| match module.attr_data(value) {
        AttrData::Dense(dense) if dense.ty == ty => Some(&CONSTANT),
        _ => None,
    }),
};
