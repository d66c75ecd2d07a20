//! Meshes of devices, how values lie on them, and what devices do together.
//!
//! ```text
//! dist.mesh @m = [x = 2, y = 4]
//! func @f(%x: tensor<512x1024xf32> {dist.sharding = #dist.sharding<@m, [{x}, {}]>}) -> tensor<512x1024xf32> {
//!   %y = tensor.tanh %x {dist.sharding = #dist.sharding<@m, [{x}, {y}]>}
//!   return %y
//! }
//! ```
//!
//! The sharding of a value stands in the attribute [`SHARDING`] of the op or of the argument of a function that defines
//! it; for an op of several results it is a list with an entry for each, `unit` where nothing is said. Results of
//! functions have one, too. [`sharding_of`] and [`set_sharding`] find the place. What the attributes mean, and how they
//! correspond to Shardy's, is said in [`tofu_sharding`].
//!
//! | file | holds |
//! |---|---|
//! | `mesh` | [`MESH`] and the attribute of its axes |
//! | `sharding` | the attribute of a sharding: its text, and what it means on its mesh |
//! | `collectives` | what devices do together in a program that is written for each device |
//! | `bucket` | several of them by one collective |
//! | `spmd` | functions that are, with what their arguments and results are parts of |
//! | `place` | where the shardings of values stand, and the check that they fit them |

mod bucket;
mod collectives;
mod mesh;
mod place;
mod sharding;
mod spmd;

pub use bucket::{BUCKET, build_bucket, can_be_together};
pub use collectives::{
    ALL_GATHER, ALL_REDUCE, ALL_SLICE, ALL_TO_ALL, AXIS_INDEX, FETCH, FROM, HALO_EXCHANGE, OF, PERMUTE,
    REDUCE_SCATTER, Range, TO, TO_PARTIAL, build_axis_index, build_fetch, build_move,
};
pub use mesh::{AXES, MESH, build_mesh, mesh};
pub use place::{
    Entry, SHARDING, result_sharding, set_result_sharding, set_result_shardings, set_sharding, set_shardings,
    sharding_of,
};
pub use sharding::{SHARDING_ATTR, read_sharding, sharding_attr};
pub use spmd::{GLOBAL, mark_spmd, spmd};

use tofu_ir::{Attr, AttrData, Dialect, Module};

/// The dialect.
pub static DIALECT: Dialect = Dialect {
    name: "dist",
    summary: "Meshes of devices, how values lie on them, and what devices do together.",
    ops: &[
        &ALL_GATHER,
        &ALL_REDUCE,
        &ALL_SLICE,
        &ALL_TO_ALL,
        &AXIS_INDEX,
        &BUCKET,
        &FETCH,
        &HALO_EXCHANGE,
        &MESH,
        &PERMUTE,
        &REDUCE_SCATTER,
        &TO_PARTIAL,
    ],
    types: &[],
    attributes: &[&mesh::AXES_ATTR, &SHARDING_ATTR],
    constant: None,
};

/// The items of a list; none for what is no list of attributes.
fn items(module: &Module, attr: Attr) -> &[Attr] {
    match module.attr_data(attr) {
        AttrData::Array(items) => items,
        _ => &[],
    }
}
