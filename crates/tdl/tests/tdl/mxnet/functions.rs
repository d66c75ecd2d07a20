//! Opaque functions that only MXNet's operators need.

use tofu_tdl::OpaqueRegistry;

/// The built-in functions and those of this file.
pub(super) fn registry() -> OpaqueRegistry {
    OpaqueRegistry::builtin()
}
