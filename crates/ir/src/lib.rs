//! The intermediate representation of Tofu.
//!
//! A program is a [`Module`]: ops in blocks, blocks in regions, regions in ops. Ops use and define [values](ValueId) in
//! static single assignment form. What an op is called, takes and gives is said once, in its [`OpDef`]; dialects group
//! definitions, and a [`Registry`] lists the dialects a tool knows. This crate knows none but [`builtin`].
//!
//! | file | holds |
//! |---|---|
//! | `entity` | ids, arenas, side tables |
//! | `element`, `float`, `types`, `attributes`, `location`, `interner` | the interned parts of a program |
//! | `op_def`, `spec`, `parametric`, `registry`, `builtin` | what ops, types and attributes dialects define |
//! | `instance` | types of a function, as a use of it sees them |
//! | `module`, `edit`, `order`, `builder`, `copy` | programs: reading, changing, building, copying |
//! | `display` | types, attributes and locations as text |
//! | `control` | how control passes through ops with regions |
//! | `symbols`, `graph`, `digest`, `profile` | views: named ops, data and control flow, structural equality |
//! | `memo` | what dialects have made of attributes |
//! | `verify` | the rules that every program keeps |

mod attributes;
mod builder;
pub mod builtin;
mod control;
mod copy;
mod digest;
mod display;
mod edit;
mod element;
mod entity;
mod float;
mod graph;
mod instance;
mod interner;
mod location;
mod memo;
mod module;
mod op_def;
mod order;
mod parametric;
mod profile;
mod registry;
mod spec;
mod symbols;
#[cfg(test)]
mod testing;
mod types;
mod verify;

pub use attributes::{Attr, AttrData, DenseConstant, DenseData, DialectAttr, SymbolRef};
pub use builder::{Builder, OpBuilder};
pub use control::Control;
pub use copy::{ValueMap, copy_head_from, copy_op, copy_op_from};
pub use digest::{Compared, Digest, digest};
pub use display::{
    AttrDisplay, DisplayOptions, write_attr, write_dense, write_dict, write_location, write_location_with,
    write_parameters, write_string, write_type, write_word,
};
pub use edit::OpState;
pub use element::{ElementKind, ElementType};
#[doc(hidden)]
pub use entity::id_number;
pub use entity::{Arena, EntityId, SecondaryMap};
pub use float::{decode_float, encode_float};
pub use graph::{BlockGraph, DataflowGraph, Dominance, DominatorTree};
pub use instance::Extents;
pub use interner::{Interner, Name};
pub use location::{Location, LocationData};
pub use module::{BlockId, Definition, Module, OpId, RegionId, Successor, UseId, ValueId};
pub use op_def::*;
pub use parametric::{AttrTarget, AttrUse, ParameterReader, ParameterWriter, ParametricDef, VerifyUse};
pub use profile::Profile;
pub use registry::{ConstantOp, Dialect, Registry, RegistryError};
pub use spec::*;
pub use symbols::SymbolTable;
pub use types::{DialectType, Dim, FunctionType, MAX_TENSOR_BYTES, TensorType, Type, TypeData};
pub use verify::{Damage, MAX_REGION_DEPTH, verify, verify_damaged};
