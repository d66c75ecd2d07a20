//! Shardings as text.

use std::fmt::{Display, Formatter, Result};

use crate::{AxisRef, Mesh, Partial, Sharding};

impl Sharding {
    /// As text, with the names of its mesh: `[{x}, {}], partial = sum {y}`.
    pub fn display<'s>(&'s self, mesh: &'s Mesh) -> impl Display + 's {
        self.display_with(|axis| axis.text(mesh))
    }

    /// As text, with axes as `axis` writes them.
    pub fn display_with<'s>(&'s self, axis: impl Fn(AxisRef) -> String + 's) -> impl Display + 's {
        Shown { sharding: self, axis }
    }
}

impl AxisRef {
    /// As text, with the name in its mesh: `x`, or `x:(2)4`.
    pub fn text(self, mesh: &Mesh) -> String {
        let AxisRef { axis, pre, size } = self;
        let Some(of) = mesh.axes().get(axis) else { return format!("{axis}:({pre}){size}") };
        let mut text = String::new();
        tofu_ir::write_word(&mut text, &of.name);
        if self == mesh.whole(axis) { text } else { format!("{text}:({pre}){size}") }
    }
}

struct Shown<'s, F> {
    sharding: &'s Sharding,
    axis: F,
}

impl<F: Fn(AxisRef) -> String> Display for Shown<'_, F> {
    fn fmt(&self, f: &mut Formatter<'_>) -> Result {
        let Shown { sharding, axis } = self;
        let list = |axes: &[AxisRef]| axes.iter().map(|&of| axis(of)).collect::<Vec<_>>().join(", ");
        f.write_str("[")?;
        for (index, dim) in sharding.dims.iter().enumerate() {
            f.write_str(if index > 0 { ", {" } else { "{" })?;
            f.write_str(&list(&dim.axes))?;
            if dim.open {
                f.write_str(if dim.axes.is_empty() { "?" } else { ", ?" })?;
            }
            f.write_str(if dim.padded { "} padded" } else { "}" })?;
        }
        f.write_str("]")?;
        if !sharding.replicated.is_empty() {
            write!(f, ", replicated = {{{}}}", list(&sharding.replicated))?;
        }
        if let Some(Partial { reducer, axes }) = &sharding.partial {
            write!(f, ", partial = {} {{{}}}", reducer.name(), list(axes))?;
        }
        Ok(())
    }
}
