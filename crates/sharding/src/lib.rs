//! Meshes of devices, and how tensors lie on them.
//!
//! A [`Mesh`] is named axes over the devices. A [`Sharding`] says of a tensor which axes split which dimension, and over
//! which axes its values are [partial](Partial) and still to be reduced; over all other axes the tensor is replicated. From
//! it follow the [shape](Sharding::local_shape) that a device holds, [which part](Sharding::region) of the tensor that
//! is, and what the sharding looks like [on one axis](Sharding::on).
//!
//! ```
//! use tofu_sharding::{Layout, Mesh, Reducer, Sharding};
//!
//! let mesh = Mesh::new([("x", 2), ("y", 4)]).unwrap();
//! let (x, y) = (mesh.axis("x").unwrap(), mesh.axis("y").unwrap());
//! let sharding = Sharding::replicated(2).split(0, x).with_partial(Reducer::Sum, y);
//! assert_eq!(sharding.display(&mesh).to_string(), "[{x}, {}], partial = sum {y}");
//! assert_eq!(sharding.local_shape(&[512, 1024])[..], [256, 1024]);
//! assert_eq!(sharding.on(x), Some(Layout::Split(0)));
//! ```
//!
//! # Shares
//!
//! A dimension that k devices split, by one axis or by several, has shares of ⌈extent/k⌉: the first devices have full ones, and
//! what is left for the last ones may be less or nothing. The axes of a dimension are ordered, and the first one is the major
//! one. Devices hold buffers of the full share; a dimension whose extent is no multiple of k is [padded](DimSharding::padded), which
//! is declared, so that nobody overlooks it.
//!
//! # Shardy
//!
//! The model is that of Shardy, so that a plan translates one to one:
//!
//! | here | in Shardy |
//! |---|---|
//! | `dist.mesh @m = [x = 2, y = 4]` | `sdy.mesh @m = <["x"=2, "y"=4]>` |
//! | `#dist.sharding<@m, [{x}, {}]>` | `#sdy.sharding<@m, [{"x"}, {}]>` |
//! | `{x, y}`, the major axis first | `{"x", "y"}` |
//! | `{x, ?}`, may be split further | `{"x", ?}` |
//! | `x:(1)2`, a part of an axis | `"x":(1)2` |
//! | `replicated = {y}` | `replicated={"y"}` |
//! | `partial = sum {y}` | `unreduced={"y"}` |
//! | `partial = max {y}` and other reducers, `{x} padded` | only here: gone once communication is inserted |
//! | a list, one for each result of an op | `#sdy.sharding_per_value<[…]>` |
//!
//! Not taken over are orders of devices other than along the mesh (`device_ids`), meshes of a single device out of several,
//! and priorities, which steer a propagation that is not made here.

mod axis;
mod check;
mod communicate;
mod conversion;
mod layouts;
mod mesh;
mod place;
mod sharding;
mod spmd;
mod text;

pub use axis::AxisRef;
pub use check::ShardingError;
pub use communicate::{Communicate, Communication, Kind};
pub use conversion::{Action, Axes, Means, Move, Step, conversion, moves};
pub use layouts::Layouts;
pub use mesh::{Mesh, MeshAxis};
pub use place::share;
pub use sharding::{DimSharding, Layout, Partial, Reducer, Sharding};
pub use spmd::{Lying, Spmd};
