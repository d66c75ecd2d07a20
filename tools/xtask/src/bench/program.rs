//! A generated program of any size, in two languages.
//!
//! It is a training step of a deep multi-layer perceptron: for each layer a matrix product, a bias, an activation and
//! what their gradients and updates need, constants and a reduction with a region among them. Written as `.tir`, and as
//! MLIR's generic form with the same ops under StableHLO's names, which `mlir-opt` takes as unregistered ones (so it
//! checks less about them than `tofu-opt` does).

use std::fmt::Write;

/// One of the two languages.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Tir,
    Mlir,
}

/// A program of at least `ops` ops, and of at most one layer's more.
pub(crate) fn program(ops: usize, language: Language) -> String {
    let mut writer = Writer { out: String::new(), language, ops: 0 };
    writer.function(ops);
    writer.out
}

const ACTIVATION: &str = "tensor<512x1024xf32>";
const WEIGHT: &str = "tensor<1024x1024xf32>";
const BIAS: &str = "tensor<1024xf32>";
const SCALAR: &str = "tensor<f32>";

struct Writer {
    out: String,
    language: Language,
    ops: usize,
}

impl Writer {
    fn function(&mut self, ops: usize) {
        let arguments = [("x", ACTIVATION), ("w", WEIGHT), ("b", BIAS)];
        match self.language {
            Language::Tir => {
                self.out.push_str("module @bench {\n  func @step(");
                for (index, (name, ty)) in arguments.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    self.push(format_args!("{separator}%{name}: {ty}"));
                }
                self.push(format_args!(") -> {ACTIVATION} {{\n"));
            }
            Language::Mlir => {
                let types = arguments.map(|(_, ty)| ty).join(", ");
                self.push(format_args!(
                    "\"builtin.module\"() <{{sym_name = \"bench\"}}> ({{\n  \"func.func\"() <{{function_type = \
                     ({types}) -> {ACTIVATION}, sym_name = \"step\"}}> ({{\n  ^bb0("
                ));
                for (index, (name, ty)) in arguments.iter().enumerate() {
                    let separator = if index > 0 { ", " } else { "" };
                    self.push(format_args!("{separator}%{name}: {ty}"));
                }
                self.out.push_str("):\n");
            }
        }
        let mut input = "x".to_owned();
        let mut layer = 0;
        while self.ops < ops {
            input = self.layer(layer, &input);
            layer += 1;
        }
        match self.language {
            Language::Tir => self.push(format_args!("    return %{input}\n  }}\n}}\n")),
            Language::Mlir => self.push(format_args!(
                "    \"func.return\"(%{input}) : ({ACTIVATION}) -> ()\n  }}) : () -> ()\n}}) : () -> ()\n"
            )),
        }
    }

    /// The ops of one layer; the name of its output.
    fn layer(&mut self, layer: usize, input: &str) -> String {
        let name = |value: &str| format!("{value}{layer}");
        let (h, bias, sum, out) = (name("h"), name("bias"), name("sum"), name("out"));
        self.dot(&h, [(input, ACTIVATION), ("w", WEIGHT)], [1, 0], ACTIVATION);
        self.broadcast(&bias, "b", BIAS, "[1]", ACTIVATION);
        self.op(&sum, "add", &[(&h, ACTIVATION), (&bias, ACTIVATION)], ACTIVATION);
        self.op(&out, "tanh", &[(&sum, ACTIVATION)], ACTIVATION);
        let (one, ones, square, slope, grad) =
            (name("one"), name("ones"), name("square"), name("slope"), name("grad"));
        self.constant(&one, "1.0", SCALAR);
        self.broadcast(&ones, &one, SCALAR, "[]", ACTIVATION);
        self.op(&square, "multiply", &[(&out, ACTIVATION), (&out, ACTIVATION)], ACTIVATION);
        self.op(&slope, "subtract", &[(&ones, ACTIVATION), (&square, ACTIVATION)], ACTIVATION);
        self.op(&grad, "multiply", &[(&slope, ACTIVATION), (&h, ACTIVATION)], ACTIVATION);
        let (zero, column, weight_grad, turned) =
            (name("zero"), name("column"), name("weight_grad"), name("turned"));
        self.constant(&zero, "0.0", SCALAR);
        self.reduce(&column, &grad, &zero);
        self.dot(&weight_grad, [(input, ACTIVATION), (&grad, ACTIVATION)], [0, 0], WEIGHT);
        self.transpose(&turned, &weight_grad);
        let (rate, rates, step, update) = (name("rate"), name("rates"), name("step"), name("update"));
        self.constant(&rate, "0.01", SCALAR);
        self.broadcast(&rates, &rate, SCALAR, "[]", WEIGHT);
        self.op(&step, "multiply", &[(&turned, WEIGHT), (&rates, WEIGHT)], WEIGHT);
        self.op(&update, "subtract", &[("w", WEIGHT), (&step, WEIGHT)], WEIGHT);
        out
    }

    fn op(&mut self, result: &str, op: &str, operands: &[(&str, &str)], ty: &str) {
        self.with_attributes(result, op, operands, "", "", ty);
    }

    fn dot(&mut self, result: &str, operands: [(&str, &str); 2], contracting: [u32; 2], ty: &str) {
        let [left, right] = contracting;
        let tir = format!("contracting = [{left}] x [{right}]");
        let mlir = format!("lhs_contracting = array<i64: {left}>, rhs_contracting = array<i64: {right}>");
        self.with_attributes(result, "dot_general", &operands, &tir, &mlir, ty);
    }

    fn broadcast(&mut self, result: &str, operand: &str, from: &str, dimensions: &str, ty: &str) {
        let tir = format!("dimensions = {dimensions}");
        let list = dimensions.trim_matches(['[', ']']);
        let list = if list.is_empty() { String::new() } else { format!(": {list}") };
        let mlir = format!("broadcast_dimensions = array<i64{list}>");
        self.with_attributes(result, "broadcast_in_dim", &[(operand, from)], &tir, &mlir, ty);
    }

    fn transpose(&mut self, result: &str, operand: &str) {
        let (tir, mlir) = ("permutation = [1, 0]", "permutation = array<i64: 1, 0>");
        self.with_attributes(result, "transpose", &[(operand, WEIGHT)], tir, mlir, WEIGHT);
    }

    fn constant(&mut self, result: &str, value: &str, ty: &str) {
        self.ops += 1;
        match self.language {
            Language::Tir => {
                self.push(format_args!("    %{result} = tensor.constant dense<{value}> : {ty}\n"))
            }
            Language::Mlir => self.push(format_args!(
                "    %{result} = \"stablehlo.constant\"() <{{value = dense<{value}> : {ty}}}> : () -> {ty}\n"
            )),
        }
    }

    fn reduce(&mut self, result: &str, operand: &str, init: &str) {
        self.ops += 3;
        match self.language {
            Language::Tir => self.push(format_args!(
                "    %{result} = tensor.reduce %{operand}, %{init} {{dimensions = [0]}} ({{\n    ^body(%p: {SCALAR}, \
                 %q: {SCALAR}):\n      %r = tensor.add %p, %q : {SCALAR}\n      tensor.yield %r\n    }}) : {BIAS}\n"
            )),
            Language::Mlir => self.push(format_args!(
                "    %{result} = \"stablehlo.reduce\"(%{operand}, %{init}) <{{dimensions = array<i64: 0>}}> ({{\n    \
                 ^bb0(%p: {SCALAR}, %q: {SCALAR}):\n      %r = \"stablehlo.add\"(%p, %q) : ({SCALAR}, {SCALAR}) -> \
                 {SCALAR}\n      \"stablehlo.return\"(%r) : ({SCALAR}) -> ()\n    }}) : ({ACTIVATION}, {SCALAR}) -> \
                 {BIAS}\n"
            )),
        }
    }

    fn with_attributes(
        &mut self,
        result: &str,
        op: &str,
        operands: &[(&str, &str)],
        tir: &str,
        mlir: &str,
        ty: &str,
    ) {
        self.ops += 1;
        let names: Vec<String> = operands.iter().map(|(name, _)| format!("%{name}")).collect();
        let names = names.join(", ");
        match self.language {
            Language::Tir => {
                let attributes = if tir.is_empty() { String::new() } else { format!(" {{{tir}}}") };
                self.push(format_args!("    %{result} = tensor.{op} {names}{attributes} : {ty}\n"));
            }
            Language::Mlir => {
                let attributes = if mlir.is_empty() { String::new() } else { format!(" <{{{mlir}}}>") };
                let types: Vec<&str> = operands.iter().map(|&(_, ty)| ty).collect();
                let types = types.join(", ");
                self.push(format_args!(
                    "    %{result} = \"stablehlo.{op}\"({names}){attributes} : ({types}) -> {ty}\n"
                ));
            }
        }
    }

    fn push(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
        let _ = self.out.write_fmt(text);
    }
}
