//! Passes, pipelines and the pass manager of the Tofu compiler.
