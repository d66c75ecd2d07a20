//! Calls replaced by the bodies of what they call.
//!
//! | pass | does | file |
//! |---|---|---|
//! | [`Inline`] | replaces calls and erases what is no longer called | `inline` |
//!
//! It is a function first: [`inline_calls`].

mod inline;

pub use inline::{Counts, Inline, TooLarge, inline_calls};
