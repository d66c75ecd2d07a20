//! Builds, tests, benchmarks and documents the Tofu workspace.
