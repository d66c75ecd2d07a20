//! An opt tool of one's own on top of Tofu: one op, one pass, one pipeline.
