//! Listings of what is known of ops by their descriptions. They change nothing.
//!
//! | pass | shows of each op | file |
//! |---|---|---|
//! | [`PrintDescriptions`] | its description | `descriptions` |
//! | [`PrintStrategies`] | the ways of splitting it over workers | `strategies` |
//! | [`PrintCosts`] | operations and bytes | `costs` |
//!
//! `listing` holds what they share: which ops there are to show, and that ops that are alike are worked out once.

mod costs;
mod descriptions;
mod listing;
mod strategies;

pub use costs::PrintCosts;
pub use descriptions::PrintDescriptions;
pub use strategies::PrintStrategies;
