//! Operations on tensors.
