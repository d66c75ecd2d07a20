//! `convolution`: sums of products of a kernel with the elements in each position of a window of its size.

use smallvec::SmallVec;
use tofu_diagnostics::Diagnostic;
use tofu_ir::{
    AttrData, Builder, Dim, INT, INTS, INTS_PAIR, Module, OpDef, OpId, STRING, Trait, ValueId, op, optional,
    required, tensor,
};
use tofu_tdl::{Describe, Description, IndexId, Reducer, infer_types};

use crate::classes::NUMBERS;
use crate::describe::{all, element, start};
use crate::dot_general::{accumulator, result_element};
use crate::shapes::{
    operand_type, optional_integer, optional_string, per_dimension_or, wrong_attribute, wrong_operand,
};
use crate::windows::{Window, padding};

/// `tensor.convolution`: sums of products of a kernel with the elements in each position of a window of its size.
///
/// `dimensions` says what the dimensions of both operands and the result are, as `b01f_01io->b01f`: `b` is the batch,
/// `f` the features, `i` and `o` the kernel's input and output features, digits the spatial dimensions. The features may
/// be in groups, each with kernels of its own; or the batch, each group of it making other features of the result. The
/// result's elements may be written as a wider type; the operands' are converted to that then. Floats of less than
/// 32 bits are summed up as `f32`.
pub static CONVOLUTION: OpDef = op("tensor.convolution")
    .summary("Sums of products of the kernel `rhs` with the elements of `lhs` in each position of a window of its size.")
    .example(
        "%image = tensor.reshape %x : tensor<1x4x8x1xf32>\n\
         %kernel = tensor.reshape %y : tensor<4x4x1x2xf32>\n\
         %r = tensor.convolution %image, %kernel {dimensions = \"b01f_01io->b01f\", padding = [1, 2] x [2, 1], \
         window_strides = [1, 2]}",
    )
    .operands(&[tensor("lhs").class(NUMBERS), tensor("rhs").class(NUMBERS)])
    .results(&[tensor("result").class(NUMBERS)])
    .attributes(&[
        optional("batch_group_count", INT),
        required("dimensions", STRING),
        optional("feature_group_count", INT),
        optional("lhs_dilation", INTS),
        optional("padding", INTS_PAIR),
        optional("rhs_dilation", INTS),
        optional("window_reversal", INTS),
        optional("window_strides", INTS),
    ])
    .traits(&[Trait::Local, Trait::Pure])
    .infer_types(infer_types)
    .interfaces(&[&Describe(describe_convolution)]);

/// What the dimensions of the tensors of a [`CONVOLUTION`] are.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are StableHLO's")]
pub struct ConvolutionDimensions {
    pub input_batch: usize,
    pub input_feature: usize,
    pub input_spatial: SmallVec<[usize; 3]>,
    pub kernel_input_feature: usize,
    pub kernel_output_feature: usize,
    pub kernel_spatial: SmallVec<[usize; 3]>,
    pub output_batch: usize,
    pub output_feature: usize,
    pub output_spatial: SmallVec<[usize; 3]>,
}

impl ConvolutionDimensions {
    /// Reads a text such as `b01f_01io->b01f`.
    pub fn parse(text: &str) -> Option<ConvolutionDimensions> {
        let (input, rest) = text.split_once('_')?;
        let (kernel, output) = rest.split_once("->")?;
        let (input_batch, input_feature, input_spatial) = places(input, ['b', 'f'])?;
        let (kernel_input_feature, kernel_output_feature, kernel_spatial) = places(kernel, ['i', 'o'])?;
        let (output_batch, output_feature, output_spatial) = places(output, ['b', 'f'])?;
        let count = input_spatial.len();
        (kernel_spatial.len() == count && output_spatial.len() == count).then_some(ConvolutionDimensions {
            input_batch,
            input_feature,
            input_spatial,
            kernel_input_feature,
            kernel_output_feature,
            kernel_spatial,
            output_batch,
            output_feature,
            output_spatial,
        })
    }
}

impl std::fmt::Display for ConvolutionDimensions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let text = |letters: [(char, usize); 2], spatial: &[usize]| -> String {
            let letter = |dim: usize| {
                let named = letters.iter().find(|letter| letter.1 == dim).map(|letter| letter.0);
                let number = || spatial.iter().position(|&other| other == dim);
                named.or_else(|| char::from_digit(number()? as u32, 10)).unwrap_or('?')
            };
            (0..spatial.len() + 2).map(letter).collect()
        };
        let input = text([('b', self.input_batch), ('f', self.input_feature)], &self.input_spatial);
        let kernel =
            text([('i', self.kernel_input_feature), ('o', self.kernel_output_feature)], &self.kernel_spatial);
        let output = text([('b', self.output_batch), ('f', self.output_feature)], &self.output_spatial);
        write!(f, "{input}_{kernel}->{output}")
    }
}

/// Where in a text two letters and the digits 0, 1, … stand, each once and nothing else.
fn places(text: &str, letters: [char; 2]) -> Option<(usize, usize, SmallVec<[usize; 3]>)> {
    let rank = text.len();
    let spatial = (0..rank.checked_sub(2)?).map(|number| text.find(char::from_digit(number as u32, 10)?));
    let [first, second] = letters.map(|letter| text.find(letter));
    Some((first?, second?, spatial.collect::<Option<_>>()?))
}

/// The attributes of a [`CONVOLUTION`] beside its dimensions. What is left empty is 1 for each spatial dimension; the
/// padding and the reversal then are 0.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "the names are those of the attributes")]
pub struct ConvolutionWindow<'a> {
    pub window_strides: &'a [i64],
    pub padding_low: &'a [i64],
    pub padding_high: &'a [i64],
    pub lhs_dilation: &'a [i64],
    pub rhs_dilation: &'a [i64],
    pub window_reversal: &'a [i64],
    pub feature_group_count: i64,
    pub batch_group_count: i64,
}

impl Default for ConvolutionWindow<'_> {
    fn default() -> Self {
        ConvolutionWindow {
            window_strides: &[],
            padding_low: &[],
            padding_high: &[],
            lhs_dilation: &[],
            rhs_dilation: &[],
            window_reversal: &[],
            feature_group_count: 1,
            batch_group_count: 1,
        }
    }
}

/// Adds a [`CONVOLUTION`]; its elements are those of the operands.
///
/// # Errors
/// When shapes, dimensions and window do not fit.
pub fn convolution(
    builder: &mut Builder<'_>,
    lhs: ValueId,
    rhs: ValueId,
    dimensions: &ConvolutionDimensions,
    window: ConvolutionWindow<'_>,
) -> Result<ValueId, Diagnostic> {
    let interner = &mut builder.module.interner;
    let mut attributes = vec![("dimensions", interner.string(&dimensions.to_string()))];
    for (name, list) in [
        ("window_strides", window.window_strides),
        ("lhs_dilation", window.lhs_dilation),
        ("rhs_dilation", window.rhs_dilation),
        ("window_reversal", window.window_reversal),
    ] {
        if !list.is_empty() {
            attributes.push((name, interner.ints(list.iter().copied())));
        }
    }
    if !window.padding_low.is_empty() || !window.padding_high.is_empty() {
        let sides = [window.padding_low, window.padding_high].map(|side| interner.ints(side.iter().copied()));
        attributes.push(("padding", interner.attr(AttrData::Pair(sides[0], sides[1]))));
    }
    for (name, count) in
        [("feature_group_count", window.feature_group_count), ("batch_group_count", window.batch_group_count)]
    {
        if count != 1 {
            attributes.push((name, interner.int(count)));
        }
    }
    let op = builder.op(&CONVOLUTION).operands([lhs, rhs]);
    let op = attributes.into_iter().fold(op, |op, (name, attr)| op.attr(name, attr)).infer()?;
    Ok(builder.module.result(op, 0))
}

fn describe_convolution(module: &Module, op: OpId) -> Result<Description, Diagnostic> {
    let (left, right) = (operand_type(module, op, 0)?, operand_type(module, op, 1)?);
    let text = optional_string(module, op, "dimensions").unwrap_or_default();
    let Some(dimensions) = ConvolutionDimensions::parse(text) else {
        let message = format!("`{text}` does not say what the dimensions are");
        return Err(wrong_attribute(module, op, "dimensions", message)
            .help("write it like `b01f_01io->b01f`: batch, spatial dimensions and features of input, kernel and result"));
    };
    let spatial = dimensions.input_spatial.len();
    for (index, ty) in [left, right].into_iter().enumerate() {
        if ty.rank() != spatial + 2 {
            let message = format!("`{text}` is of tensors of rank {}", spatial + 2);
            return Err(wrong_operand(module, op, index, message));
        }
    }
    let windows = windows(module, op, &dimensions, &right.dims)?;
    let [feature_groups, batch_groups] =
        [group_count(module, op, "feature_group_count")?, group_count(module, op, "batch_group_count")?];
    if feature_groups > 1 && batch_groups > 1 {
        let message = "there are groups of features and of the batch as well".to_owned();
        return Err(wrong_attribute(module, op, "batch_group_count", message));
    }
    let groups = feature_groups.max(batch_groups);
    let mut b = start(module, op);
    let t = element(&mut b, "T", left.element);
    // The features and the batch of one group.
    let [batch, inner, outer] = ["B", "I", "O"].map(|name| b.extent(name));
    let mut left_dims = vec![batch; left.rank()];
    left_dims[dimensions.input_batch] = b.affine(batch_groups, batch, 0);
    left_dims[dimensions.input_feature] = b.affine(feature_groups, inner, 0);
    let mut right_dims = vec![inner; right.rank()];
    right_dims[dimensions.kernel_output_feature] = b.affine(groups, outer, 0);
    let mut tracks = Vec::new();
    for (number, window) in windows.iter().enumerate() {
        let dim = dimensions.input_spatial[number];
        let track = window.track(&mut b, &format!("X{number}"), left.dims[dim]);
        left_dims[dim] = track.extent;
        right_dims[dimensions.kernel_spatial[number]] = b.constant(window.size);
        tracks.push(track);
    }
    let lhs = b.operand("lhs", t, &left_dims);
    let rhs = b.operand("rhs", t, &right_dims);
    let (batch_var, inner_var) = (b.var("b", batch), b.var("i", inner));
    let outer_var = b.var("o", right_dims[dimensions.kernel_output_feature]);
    let [batch_at, inner_at, outer_at] = [batch_var, inner_var, outer_var].map(|var| b.index(var));
    let mut vars = vec![batch_var; left.rank()];
    vars[dimensions.output_feature] = outer_var;
    let group = b.index_floordiv(outer_at, outer);
    let mut left_at = vec![batch_at; left.rank()];
    let mut right_at = vec![inner_at; right.rank()];
    let of_group = |b: &mut tofu_tdl::Builder, count: i64, size: IndexId, index: IndexId| {
        if count == 1 {
            return index;
        }
        let first = b.index_mul(group, size);
        b.index_add(first, index)
    };
    left_at[dimensions.input_batch] = of_group(&mut b, batch_groups, batch, batch_at);
    left_at[dimensions.input_feature] = of_group(&mut b, feature_groups, inner, inner_at);
    right_at[dimensions.kernel_output_feature] = outer_at;
    let reversal = per_dimension_or(module, op, "window_reversal", spatial, 0, 0)?;
    let (mut over, mut conditions) = (Vec::new(), Vec::new());
    for (number, (track, window)) in tracks.iter().zip(&windows).enumerate() {
        let var = b.var(&format!("x{number}"), track.positions);
        vars[dimensions.output_spatial[number]] = var;
        let position = b.index(var);
        let offset = track.offset(&mut b, &format!("k{number}"));
        let (index, own) = track.element(&mut b, position, offset);
        conditions.extend(own);
        left_at[dimensions.input_spatial[number]] = index;
        let weight = match offset {
            None => b.constant(0),
            Some(offset) => {
                over.push(offset);
                let offset = b.index(offset);
                if reversal[number] == 0 { offset } else { b.affine(-1, offset, window.size - 1) }
            }
        };
        right_at[dimensions.kernel_spatial[number]] = weight;
    }
    over.push(inner_var);
    let result = result_element(module, op, left.element, t)?;
    let wide = accumulator(left.element, result);
    let zero = b.int(0, t);
    let mut value = b.read(lhs, &left_at);
    if let Some(inside) = all(&mut b, conditions) {
        value = b.select(inside, value, zero);
    }
    let weight = b.read(rhs, &right_at);
    let (value, weight) = (b.convert(value, wide), b.convert(weight, wide));
    let product = b.mul(value, weight);
    let sum = b.reduce(Reducer::Sum, &over, product);
    let sum = b.convert(sum, result);
    b.output("result", result, &vars, sum);
    b.finish_for(module, op)
}

/// The windows along the spatial dimensions.
fn windows(
    module: &Module,
    op: OpId,
    dimensions: &ConvolutionDimensions,
    kernel: &[Dim],
) -> Result<Vec<Window>, Diagnostic> {
    let spatial = dimensions.kernel_spatial.len();
    let list = |name: &str| per_dimension_or(module, op, name, spatial, 1, 1);
    let (strides, base_dilations, dilations) =
        (list("window_strides")?, list("lhs_dilation")?, list("rhs_dilation")?);
    let [low, high] = padding(module, op, spatial)?;
    (0..spatial)
        .map(|number| {
            let size =
                kernel[dimensions.kernel_spatial[number]].size().and_then(|size| i64::try_from(size).ok());
            let Some(size) = size else {
                let message = format!("spatial dimension {number} of the kernel has no known extent");
                return Err(wrong_operand(module, op, 1, message));
            };
            Ok(Window {
                size,
                stride: strides[number],
                low: low[number],
                high: high[number],
                base_dilation: base_dilations[number],
                dilation: dilations[number],
            })
        })
        .collect()
}

fn group_count(module: &Module, op: OpId, name: &str) -> Result<i64, Diagnostic> {
    let count = optional_integer(module, op, name)?.unwrap_or(1);
    if count < 1 {
        return Err(wrong_attribute(module, op, name, format!("`{name}` is {count}, but must be positive")));
    }
    Ok(count)
}
