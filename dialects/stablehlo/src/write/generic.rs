//! The generic form: `"op"(%x) <{attributes}> ({ regions }) : (types) -> types`.

use std::fmt::Write as _;

use tofu_ir::TypeData;

use super::{Foreign, Writer};
use crate::syntax::Form;

impl Writer<'_> {
    pub(super) fn generic(&mut self, foreign: &Foreign, shape: Option<&str>) {
        let module = self.module;
        let op = foreign.op;
        let _ = write!(self.out, "\"{}\"(", foreign.name);
        self.values(module.operands(op));
        if let Some(shape) = shape {
            let _ = write!(self.out, ", {shape}");
        }
        self.out.push(')');
        // What an op knows stands apart from what others say about it.
        let (own, others) = self.attributes(foreign, &[]);
        if !own.is_empty() {
            self.out.push_str(" <");
            self.braced(&own);
            self.out.push('>');
        }
        for (index, region) in module.regions(op).enumerate() {
            self.out.push_str(if index == 0 { " (" } else { ", " });
            self.region(region, false);
        }
        if module.region_count(op) > 0 {
            self.out.push(')');
        }
        if !others.is_empty() {
            self.out.push(' ');
            self.braced(&others);
        }
        self.out.push_str(" : ");
        self.functional_type(op, shape);
    }

    /// `{name = value, flag}`.
    pub(super) fn braced(&mut self, attributes: &[(String, String)]) {
        self.out.push('{');
        for (index, (name, value)) in attributes.iter().enumerate() {
            self.separate(index);
            tofu_ir::write_word(&mut self.out, name);
            if value != "unit" {
                self.out.push_str(" = ");
                self.out.push_str(value);
            }
        }
        self.out.push('}');
    }

    /// `stablehlo.rng` takes the shape of its result as an operand, which our op does not: a constant that is written
    /// before it. Its name, with `%`.
    pub(super) fn shape_operand(&mut self, foreign: &Foreign) -> Option<String> {
        if foreign.syntax.form != Form::Rng || foreign.def.is_none() {
            return None;
        }
        let TypeData::Tensor(tensor) = self.module.value_type(self.module.result(foreign.op, 0)) else {
            return None;
        };
        let Some(dims) = tensor.static_dims() else {
            self.refuse("a random tensor must have a known shape to be written in StableHLO".to_owned());
            return None;
        };
        // A name that no value of ours can have.
        let name = format!("%$shape{}", self.shapes);
        self.shapes += 1;
        self.line();
        let list = dims.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        let body = if dims.is_empty() { String::new() } else { format!("[{list}]") };
        let _ = writeln!(self.out, "{name} = stablehlo.constant dense<{body}> : tensor<{}xi64>", dims.len());
        Some(name)
    }
}
