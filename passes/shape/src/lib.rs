//! Inference of extents.
//!
//! | file | holds |
//! |---|---|
//! | `infer_shapes` | the pass: functions, their signatures, and how their types are written back |
//! | `function` | what the ops of a function say of the extents of its values |
//! | `classes` | extents that are known to be equal |
//! | `fixed` | which values must keep their types, and which must have one type |

mod classes;
mod fixed;
mod function;
mod infer_shapes;

pub use infer_shapes::InferShapes;
