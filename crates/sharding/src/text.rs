//! Shardings as text.

use std::fmt::{Display, Formatter, Result};

use crate::{AxisRef, Mesh, Partial, Sharding};

/// A sharding as text, with the names of its mesh: `[{x}, {}], partial = sum {y}`.
#[derive(Clone, Copy, Debug)]
pub struct ShardingDisplay<'s> {
    sharding: &'s Sharding,
    mesh: &'s Mesh,
}

/// An axis as text: `x`, or `x:(2)4`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AxisDisplay<'m> {
    axis: AxisRef,
    mesh: &'m Mesh,
}

impl Sharding {
    /// As text.
    pub fn display<'s>(&'s self, mesh: &'s Mesh) -> ShardingDisplay<'s> {
        ShardingDisplay { sharding: self, mesh }
    }
}

impl AxisRef {
    pub(crate) fn display(self, mesh: &Mesh) -> AxisDisplay<'_> {
        AxisDisplay { axis: self, mesh }
    }
}

impl Display for ShardingDisplay<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let ShardingDisplay { sharding, mesh } = self;
        f.write_str("[")?;
        for (index, dim) in sharding.dims.iter().enumerate() {
            f.write_str(if index > 0 { ", {" } else { "{" })?;
            write_axes(f, mesh, &dim.axes)?;
            if dim.open {
                f.write_str(if dim.axes.is_empty() { "?" } else { ", ?" })?;
            }
            f.write_str(if dim.padded { "} padded" } else { "}" })?;
        }
        f.write_str("]")?;
        if !sharding.replicated.is_empty() {
            f.write_str(", replicated = {")?;
            write_axes(f, mesh, &sharding.replicated)?;
            f.write_str("}")?;
        }
        if let Some(Partial { reducer, axes }) = &sharding.partial {
            write!(f, ", partial = {} {{", reducer.name())?;
            write_axes(f, mesh, axes)?;
            f.write_str("}")?;
        }
        Ok(())
    }
}

fn write_axes(f: &mut Formatter<'_>, mesh: &Mesh, axes: &[AxisRef]) -> Result {
    for (index, axis) in axes.iter().enumerate() {
        f.write_str(if index > 0 { ", " } else { "" })?;
        axis.display(mesh).fmt(f)?;
    }
    Ok(())
}

impl Display for AxisDisplay<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let AxisRef { axis, pre, size } = self.axis;
        match self.mesh.axes().get(axis) {
            Some(of) => {
                let mut name = String::new();
                tofu_ir::write_word(&mut name, &of.name);
                f.write_str(&name)?;
                if self.axis == self.mesh.whole(axis) { Ok(()) } else { write!(f, ":({pre}){size}") }
            }
            None => write!(f, "{axis}:({pre}){size}"),
        }
    }
}
