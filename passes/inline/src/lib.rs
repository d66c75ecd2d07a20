//! Calls replaced by the bodies of what they call.
//!
//! | pass | does | file |
//! |---|---|---|
//! | [`Inline`] | replaces calls and erases what is no longer called | `inline` |
//!
//! What it does is a function, for whoever needs a program without calls: [`inline_calls_keeping`](tofu_dialect_func::inline_calls_keeping).

mod inline;

pub use inline::Inline;
