//! Strategies as text, for reports and tests.

use super::{Combine, DimLayout, Strategy};
use crate::description::*;
use crate::parse::REDUCERS;

impl Strategy {
    /// One line: `x: data [whole, whole, halo(0, DX - 1)], filter [whole, whole, whole] -> concat 2`.
    pub fn text(&self, description: &Description) -> String {
        let data = description.data();
        let mut out = self.variable.to_string();
        if !self.block.is(1) {
            out.push_str(&format!(" by {}", self.block.text(data)));
        }
        for (number, (operand, parameter)) in self.operands.iter().zip(&data.parameters).enumerate() {
            let dims: Vec<String> = operand.dims.iter().map(|dim| dim_text(dim, data)).collect();
            let separator = if number == 0 { ":" } else { "," };
            out.push_str(&format!("{separator} {} [{}]", parameter.name, dims.join(", ")));
        }
        let outputs: Vec<String> = self.outputs.iter().map(|output| combine_text(output, data)).collect();
        out.push_str(&format!(" -> {}", outputs.join(", ")));
        out
    }
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
