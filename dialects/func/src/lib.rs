//! Functions, calls and returns.
