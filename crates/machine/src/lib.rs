//! The machine that a program is planned for.
//!
//! A [`Machine`] is [devices](Device) in a hierarchy of [levels](Level), slowest links first, and a [`Host`] with memory of
//! its own. It answers how long things take, in whole picoseconds ([`Time`]):
//!
//! | what | how |
//! |---|---|
//! | a kernel | [`Machine::kernel_time`]: the launch, then the roofline of operations and memory traffic |
//! | a collective over axes of a mesh | [`Machine::collective_time`]: rings and trees, level by level |
//! | a copy between a device and the host | [`Machine::copy_time`] |
//!
//! Measured times override these where the machine has them. Machines come from [presets] and from TOML files
//! ([`Machine::parse`]); [`reference()`] describes both, [`resolve`] tells which is meant. A machine is shared and cheap to clone.
//!
//! ```
//! use tofu_machine::{Axis, Collective, Machine, Time};
//!
//! let machine = Machine::preset("dgx-a100").unwrap();
//! // Devices are numbered along the hierarchy; a mesh of 2 × 4 over them has axes of these strides.
//! let (x, y) = (Axis { size: 2, stride: 4 }, Axis { size: 4, stride: 1 });
//! let each = [x, y].map(|axis| machine.collective_time(Collective::AllReduce, &[axis], 1 << 30));
//! let both = machine.collective_time(Collective::AllReduce, &[x, y], 1 << 30);
//! assert!(each[0] < both && both < each[0] + each[1]);
//! ```
//!
//! | file | holds |
//! |---|---|
//! | `time` | [`Time`] |
//! | `machine` | [`Machine`] and its parts; kernels and copies |
//! | `hierarchy` | how devices stand along the levels, and which levels a group spans |
//! | `collective` | the times of collectives |
//! | `calibration` | measured times |
//! | `quantity`, `document`, `read` | numbers with units, TOML with places, machine files |
//! | `preset`, `reference` | the machines that come with Tofu, and the document about them |

mod calibration;
mod collective;
mod document;
mod hierarchy;
mod machine;
mod preset;
mod quantity;
mod read;
mod reference;
mod resolve;
mod time;

pub use collective::Collective;
pub use hierarchy::{Axis, Factor};
pub use machine::{Device, Direction, Host, Kernel, Level, MAX_DEVICES, Machine, Sharing};
pub use preset::{DEFAULT_PRESET, presets};
pub use reference::reference;
pub use resolve::{Machines, resolve};
pub use time::Time;
