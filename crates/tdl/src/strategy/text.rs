//! Strategies as text, for reports and tests.

use tofu_ir::ElementType;

use super::{Combine, DimLayout, Strategy};
use crate::cost::cost;
use crate::description::*;
use crate::evaluate::Carried;
use crate::opaque::OpaqueRegistry;
use crate::parse::REDUCERS;
use crate::region::Region;

impl Strategy {
    /// One line: `x: data [whole, whole, halo(0, DX - 1)], filter [whole, whole, whole] -> concat 2`. An operand of
    /// which only worker 0 reads anything is `first`: `i: data [whole, split], bias [whole] first -> sum`. What is
    /// carried along stands last: `m: data [whole, split] -> best 1, carrying best 0`.
    pub fn text(&self, description: &Description) -> String {
        let data = description.data();
        let mut out = self.variable.to_string();
        if !self.block.is(1) {
            out.push_str(&format!(" by {}", self.block.text(data)));
        }
        for (number, (operand, parameter)) in self.operands.iter().zip(&data.parameters).enumerate() {
            let dims: Vec<String> = operand.dims.iter().map(|dim| dim_text(dim, data)).collect();
            let separator = if number == 0 { ":" } else { "," };
            let first = if operand.first_only { " first" } else { "" };
            out.push_str(&format!("{separator} {} [{}]{first}", parameter.name, dims.join(", ")));
        }
        let outputs: Vec<String> = self.outputs.iter().map(|output| combine_text(output, data)).collect();
        out.push_str(&format!(" -> {}", outputs.join(", ")));
        for &Carried { reduction, component, .. } in &self.carried {
            let reducer = data.reduction(reduction).reducer;
            out.push_str(&format!(
                ", carrying {}",
                combine_text(&Combine::Partial { reducer, component }, data)
            ));
        }
        out
    }

    /// One line for each of so many workers, for actual extents and types (those of the description, in its order):
    /// `worker 1: data [4..8, 0..6], filter [0..6, 0..2]; reads 192 bytes, writes 32 bytes`.
    pub fn workers_text(
        &self,
        description: &Description,
        extents: &[u64],
        types: &[ElementType],
        workers: u64,
    ) -> Vec<String> {
        let names = || description.parameters().iter().map(|parameter| &*parameter.name);
        // Only operations depend on opaque functions, bytes do not.
        let registry = OpaqueRegistry::new();
        (0..workers)
            .map(|worker| {
                let part = self.part(description, extents, workers, worker);
                if self.share(description, extents, workers, worker).1 == 0 {
                    return format!("worker {worker}: nothing");
                }
                let regions = self.regions(description, extents, workers, worker);
                let read: Vec<String> =
                    names().zip(&regions).map(|(name, region)| region_text(name, region)).collect();
                let cost = cost(description, extents, types, &part, &registry);
                format!(
                    "worker {worker}: {}; reads {} bytes, writes {} bytes",
                    read.join(", "),
                    cost.bytes_read,
                    cost.bytes_written
                )
            })
            .collect()
    }
}

/// `data [4..8, 0..9 step 2]`
fn region_text(name: &str, region: &Region) -> String {
    if region.is_empty() {
        return format!("nothing of {name}");
    }
    let dims = region.dims.iter().map(|dim| {
        let end = dim.start + (dim.size - 1) * dim.stride + 1;
        let step = if dim.stride > 1 { format!(" step {}", dim.stride) } else { String::new() };
        format!("{}..{end}{step}", dim.start)
    });
    format!("{name} [{}]", dims.collect::<Vec<_>>().join(", "))
}

fn dim_text(dim: &DimLayout, data: &Data) -> String {
    match dim {
        DimLayout::Unread => "unread".to_owned(),
        DimLayout::Whole => "whole".to_owned(),
        DimLayout::Split => "split".to_owned(),
        DimLayout::Blocks(size) => format!("blocks({})", size.text(data)),
        DimLayout::Halo { scale, low, high, stride } => {
            let mut out = format!("halo({}, {}", low.text(data), high.text(data));
            if !scale.is(1) {
                out.push_str(&format!(", scale {}", scale.text(data)));
            }
            if *stride > 1 {
                out.push_str(&format!(", stride {stride}"));
            }
            out.push(')');
            out
        }
        DimLayout::Reversed => "reversed".to_owned(),
        DimLayout::Masked => "masked".to_owned(),
        DimLayout::Irregular => "irregular".to_owned(),
    }
}

fn combine_text(output: &Combine, data: &Data) -> String {
    match output {
        Combine::Concat { dim } => format!("concat {dim}"),
        Combine::Partial { reducer: Reducer::Custom(id), component } => {
            format!("{} {component}", data.combiner(*id).name)
        }
        Combine::Partial { reducer, .. } => {
            REDUCERS.iter().find(|(_, known)| known == reducer).map_or("?", |(name, _)| name).to_string()
        }
        Combine::Replicated => "replicated".to_owned(),
    }
}
