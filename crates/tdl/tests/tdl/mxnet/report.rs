//! `docs/mxnet.md`.

/// Compares the document with what follows from the descriptions.
pub(super) fn check() {}
