//! Batch normalization: elements are brought to mean 0 and variance 1 within each feature, then scaled and shifted.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Builder, FLOAT, INT, Module, OpDef, OpId, Trait, ValueId, decode_float, op, required, tensor};
use tofu_tdl::{
    self as tdl, Describe, Description, IndexId, Reducer, ScalarId, Source, TypeRef, UnaryOp, VarId,
    infer_types,
};

use crate::classes::FLOATS;
use crate::describe::{element, extents, indices, product, start, variables};
use crate::shapes::{dimension, operand_type, wrong_attribute};

macro_rules! batch_norm {
    ($(
        $DEFINITION:ident $build:ident[$operands:literal]($($operand:ident),+) -> $count:literal [$($result:literal),+] $summary:literal
        $example:literal $describe:ident;
    )*) => {$(
        #[doc = concat!("`tensor.", stringify!($build), "`: ", $summary)]
        pub static $DEFINITION: OpDef = op(concat!("tensor.", stringify!($build)))
            .summary($summary)
            .example($example)
            .operands(&[$(tensor(stringify!($operand)).class(FLOATS)),+])
            .results(&[$(tensor($result)),+])
            .attributes(&[required("epsilon", FLOAT), required("feature_index", INT)])
            .traits(&[Trait::Local, Trait::Pure])
            .infer_types(infer_types)
            .interfaces(&[&Describe($describe)]);

        #[doc = concat!("Adds a [`", stringify!($DEFINITION), "`]; gives its results.")]
        ///
        /// # Errors
        /// When the operands do not fit.
        pub fn $build(
            builder: &mut Builder<'_>,
            [$($operand),+]: [ValueId; $operands],
            epsilon: f32,
            feature_index: i64,
        ) -> Result<[ValueId; $count], Diagnostic> {
            let interner = &mut builder.module.interner;
            let epsilon = interner.attr(tofu_ir::AttrData::Float(epsilon.to_bits().into(), tofu_ir::ElementType::F32));
            let feature_index = interner.int(feature_index);
            let op = builder
                .op(&$DEFINITION)
                .operands([$($operand),+])
                .attr("epsilon", epsilon)
                .attr("feature_index", feature_index)
                .infer()?;
            Ok(std::array::from_fn(|number| builder.module.result(op, number)))
        }
    )*};
}

batch_norm! {
    BATCH_NORM_GRAD batch_norm_grad[5](operand, scale, mean, variance, grad_output) -> 3
        ["grad_operand", "grad_scale", "grad_offset"]
        "The gradients of `batch_norm_training` with respect to its operands."
        "%w = tensor.constant dense<1.0> : tensor<8xf32>\n\
         %r, %scale, %offset = tensor.batch_norm_grad %x, %w, %w, %w, %y {epsilon = 0.001 : f32, feature_index = 1}"
        describe_grad;
    BATCH_NORM_INFERENCE batch_norm_inference[5](operand, scale, offset, mean, variance) -> 1 ["result"]
        "Normalizes with means and variances that are given, then scales and shifts, for each feature."
        "%w = tensor.constant dense<1.0> : tensor<8xf32>\n\
         %r = tensor.batch_norm_inference %x, %w, %w, %w, %w {epsilon = 0.001 : f32, feature_index = 1}"
        describe_inference;
    BATCH_NORM_TRAINING batch_norm_training[3](operand, scale, offset) -> 3 ["output", "batch_mean", "batch_var"]
        "Normalizes with the means and variances of the operand, then scales and shifts, for each feature."
        "%w = tensor.constant dense<1.0> : tensor<8xf32>\n\
         %r, %mean, %var = tensor.batch_norm_training %x, %w, %w {epsilon = 0.001 : f32, feature_index = 1}"
        describe_training;
}

/// What all of them begin with.
struct Norm {
    b: tdl::Builder,
    t: TypeRef,
    dims: Vec<IndexId>,
    vars: Vec<VarId>,
    at: Vec<IndexId>,
    feature: usize,
    epsilon: f64,
}

impl Norm {
    fn new(module: &Module, op: OpId) -> Result<Norm, Diagnostic> {
        let ty = operand_type(module, op, 0)?;
        let feature = dimension(module, op, "feature_index", ty.rank())?;
        let epsilon = match module.attr_value(op, "epsilon") {
            Some(&tofu_ir::AttrData::Float(bits, element)) => decode_float(element, bits),
            _ => return Err(wrong_attribute(module, op, "epsilon", "`epsilon` must be a float".to_owned())),
        };
        let mut b = start(module, op);
        let t = element(&mut b, "T", ty.element);
        let dims = extents(&mut b, "N", ty.rank());
        let vars = variables(&mut b, "i", &dims);
        let at = indices(&mut b, &vars);
        Ok(Norm { b, t, dims, vars, at, feature, epsilon })
    }

    fn tensor(&mut self, name: &str) -> ScalarId {
        let source = self.b.operand(name, self.t, &self.dims);
        self.b.read(source, &self.at)
    }

    fn per_feature(&mut self, name: &str) -> ScalarId {
        let source = self.b.operand(name, self.t, &[self.dims[self.feature]]);
        self.b.read(source, &[self.at[self.feature]])
    }

    /// An intermediate tensor of one value for each feature; its element.
    fn define(&mut self, name: &str, value: ScalarId) -> ScalarId {
        let source: Source = self.b.define(name, &[self.vars[self.feature]], value);
        self.b.read(source, &[self.at[self.feature]])
    }

    /// The sum over all elements of a feature.
    fn sum(&mut self, value: ScalarId) -> ScalarId {
        let over: Vec<VarId> =
            (0..self.vars.len()).filter(|&dim| dim != self.feature).map(|dim| self.vars[dim]).collect();
        if over.is_empty() { value } else { self.b.reduce(Reducer::Sum, &over, value) }
    }

    /// How many elements a feature has.
    fn count(&mut self) -> ScalarId {
        let feature = self.feature;
        let others =
            self.dims.iter().enumerate().filter(|&(dim, _)| dim != feature).map(|(_, &extent)| extent);
        let others: Vec<IndexId> = others.collect();
        let count = product(&mut self.b, others);
        let count = self.b.index_value(count);
        self.b.convert(count, self.t)
    }

    /// `sqrt(variance + epsilon)`
    fn deviation(&mut self, variance: ScalarId) -> ScalarId {
        let raised = self.raised(variance);
        self.b.unary(UnaryOp::Sqrt, raised)
    }

    fn raised(&mut self, variance: ScalarId) -> ScalarId {
        let epsilon = self.b.float(self.epsilon, self.t);
        self.b.add(variance, epsilon)
    }

    /// `(x - mean) / deviation * scale + offset`
    fn normalized(
        &mut self,
        x: ScalarId,
        mean: ScalarId,
        variance: ScalarId,
        scale: ScalarId,
        offset: ScalarId,
    ) -> ScalarId {
        let deviation = self.deviation(variance);
        let centered = self.b.sub(x, mean);
        let normalized = self.b.div(centered, deviation);
        let scaled = self.b.mul(normalized, scale);
        self.b.add(scaled, offset)
    }

    fn output(&mut self, name: &str, value: ScalarId) {
        self.b.output(name, self.t, &self.vars, value);
    }

    fn feature_output(&mut self, name: &str, value: ScalarId) {
        self.b.output(name, self.t, &[self.vars[self.feature]], value);
    }
}

fn describe_inference(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let mut norm = Norm::new(module, op)?;
    let x = norm.tensor("operand");
    let [scale, offset, mean, variance] =
        ["scale", "offset", "mean", "variance"].map(|name| norm.per_feature(name));
    let value = norm.normalized(x, mean, variance, scale, offset);
    norm.output("result", value);
    norm.b.finish_for(module, op)
}

fn describe_training(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let mut norm = Norm::new(module, op)?;
    let x = norm.tensor("operand");
    let [scale, offset] = ["scale", "offset"].map(|name| norm.per_feature(name));
    let count = norm.count();
    let sum = norm.sum(x);
    let mean = norm.b.div(sum, count);
    let mean = norm.define("mean", mean);
    let centered = norm.b.sub(x, mean);
    let square = norm.b.mul(centered, centered);
    let sum = norm.sum(square);
    let variance = norm.b.div(sum, count);
    let variance = norm.define("variance", variance);
    let value = norm.normalized(x, mean, variance, scale, offset);
    norm.output("output", value);
    norm.feature_output("batch_mean", mean);
    norm.feature_output("batch_var", variance);
    norm.b.finish_for(module, op)
}

fn describe_grad(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let mut norm = Norm::new(module, op)?;
    let x = norm.tensor("operand");
    let [scale, mean, variance] = ["scale", "mean", "variance"].map(|name| norm.per_feature(name));
    let gradient = norm.tensor("grad_output");
    let centered = norm.b.sub(x, mean);
    let deviation = norm.deviation(variance);
    let count = norm.count();
    let total = norm.sum(gradient);
    let total = norm.define("total", total);
    let weighted = norm.b.mul(gradient, centered);
    let weighted = norm.sum(weighted);
    let weighted = norm.define("weighted", weighted);
    // scale / deviation / count * (gradient * count - total - weighted * centered / (variance + epsilon))
    let all = norm.b.mul(gradient, count);
    let shifted = norm.b.sub(all, total);
    let along = norm.b.mul(weighted, centered);
    let raised = norm.raised(variance);
    let along = norm.b.div(along, raised);
    let rest = norm.b.sub(shifted, along);
    let factor = norm.b.div(scale, deviation);
    let factor = norm.b.div(factor, count);
    let value = norm.b.mul(factor, rest);
    norm.output("grad_operand", value);
    let normalized = norm.b.div(centered, deviation);
    let scaled = norm.b.mul(gradient, normalized);
    let scaled = norm.sum(scaled);
    norm.feature_output("grad_scale", scaled);
    norm.feature_output("grad_offset", total);
    norm.b.finish_for(module, op)
}
