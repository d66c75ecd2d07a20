//! From shardings to a program for each device, in which devices exchange what they need.
//!
//! Every op does its share, as its description says; there is no table of ops. How an op is done, and what is exchanged for it, is what the
//! plans of `tofu-partition` price, by the same code.
//!
//! | file | holds |
//! |---|---|
//! | `insert` | the pass |
//! | `check` | the pass that runs a function split and unsplit |
//! | `planned` | what the shardings of a function mean: a plan |
//! | `rewrite` | the walk through the function, which makes it one for each device |
//! | `convert` | conversions of values between layouts |
//! | `share` | the op that all devices run in place of one |
//! | `tidy` | what is inserted twice, and what can be sent earlier |
//! | `bucket` | collectives put together |
//! | `mask` | operands whose padding counts nothing, and those that count once |

mod bucket;
mod check;
mod convert;
mod insert;
mod mask;
mod planned;
mod rewrite;
mod share;
mod tidy;

pub use check::CheckEquivalence;
pub use insert::{InsertCommunication, Inserting, insert, sent_in_program};
pub use planned::Exchanges;
