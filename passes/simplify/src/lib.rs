//! Folding, common subexpressions and dead code.
