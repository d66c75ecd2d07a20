//! How the ops of StableHLO are written, where that does not follow from ours.
//!
//! `stablehlo.add` and `chlo.erf` are `tensor.add` and `tensor.erf`, and most attributes have the same names in both.
//! This table lists the rest: pretty forms, other names, and forms of attributes that our ops do not tell. Reader and
//! writer both go by it. What an op means is said with our ops, not here.

use tofu_ir::{ElementType, ParametricDef};

use crate::dialect::{
    ALL_TO_ALL_PARAMS, AXES, AXES_PER_DIMENSION, CHANNEL_HANDLE, COMPARISON_DIRECTION, COMPARISON_TYPE,
    DOT_ALGORITHM, FFT_TYPE, GATHER, PRECISION, RNG_ALGORITHM, RNG_DISTRIBUTION, SCATTER, TRANSPOSE,
};

/// How an op is written.
#[derive(Debug)]
pub(crate) struct OpSyntax {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) attributes: &'static [AttributeSyntax],
}

/// The pretty form of an op.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// `op %x, %y, key = value {attributes} : (types) -> types`, or with one type that all operands and results have.
    Plain,
    /// The same, always with the types of operands and results.
    Functional,
    /// The same, with the result's type only.
    Result,
    /// The same, with the types of the results, one for each operand.
    Each,
    /// The same, with the operands' types only, since there are no results.
    NoResult,
    /// The same, with one type that all operands have.
    Alike,
    /// The same, with the types without parentheses: `type, type -> type`.
    Chlo,
    /// Only as `"op"(%x) <{…}> ({…}) : (types) -> types`.
    Generic,
    Call,
    Compare,
    Composite,
    Constant,
    Convolution,
    CustomCall,
    /// As a convolution, which some versions print and others do not read: it is written in the generic form.
    DynamicConvolution,
    /// `op %x, value {attributes}`, where the value has the operand's type.
    Expect,
    Function,
    /// `op axes %x out_sharding=<sharding> : type`.
    Collective,
    ManualComputation,
    Mesh,
    Module,
    NamedComputation,
    Reduce,
    ReducePrecision,
    /// `op %x, %y, %shape, distribution = UNIFORM : (types) -> type`. Our op has no operand for the shape.
    Rng,
    /// `op %x, %y, %z : predicate, type`, or with the types of operands and results.
    Select,
    Slice,
    /// `op %x <sharding> : type`.
    Sharding,
    TopK,
    TupleElement,
    While,
}

/// How an attribute is written.
#[derive(Debug)]
pub(crate) struct AttributeSyntax {
    /// What stands before it in the pretty form: `dims` of `, dims = [1]`. Empty if it does not stand there.
    pub(crate) key: &'static str,
    /// Its name in the generic form. Empty if it is a part of another attribute there.
    pub(crate) name: &'static str,
    /// Its name in our op.
    pub(crate) ours: &'static str,
    pub(crate) kind: Kind,
    /// What it is in StableHLO where our op leaves it out.
    pub(crate) default: Default,
}

/// What an attribute of StableHLO is that our op does not have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Default {
    /// It is not there either.
    Absent,
    /// 1.
    One,
    /// A zero for each dimension of the first operand.
    Zeros,
}

/// What an attribute is in StableHLO, and so with us unless something else is said.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// The same as with us.
    Same,
    /// A list of integers: `array<i64: 1, 2>`, pretty `[1, 2]`.
    Ints,
    /// A list of booleans, `array<i1: true>`; a list of 0 and 1 with us.
    Bools,
    /// `dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>`, a row for each dimension; a pair of lists with us.
    Padding,
    /// `true`.
    Bool,
    /// A float of 64 bits, pretty without its type.
    Float,
    /// An integer of this type; of 64 bits with us.
    Int(ElementType),
    /// `#stablehlo<precision HIGH>`, pretty `HIGH`; a string with us.
    Word(&'static ParametricDef),
    /// A list of such words, pretty `[HIGH, HIGH]`, which is the same with us.
    Words(&'static ParametricDef),
    /// `#stablehlo.dot_algorithm<…>`, pretty `<…>`, which is the same with us.
    Fields(&'static ParametricDef),
    /// `<…>`, a sharding.
    Sharding,
    /// `{"x"}` or lists of such: axes, in front of the operand.
    Axes(&'static ParametricDef),
    /// A word for one of these numbers, pretty only.
    Choice(&'static [&'static str]),
    /// A pair of lists with us, and two fields of `#stablehlo.dot<…>`; pretty `[1] x [0]`.
    Pair(&'static str, &'static str),
    /// `#stablehlo.dot<…>`; the pairs above with us.
    Dot,
    /// `#stablehlo.conv<…>`; a string with us.
    Conv,
    /// A structure, whose fields are attributes with us: the names of both.
    Flat(&'static ParametricDef, &'static [(&'static str, &'static str)]),
}

const fn op(name: &'static str, form: Form, attributes: &'static [AttributeSyntax]) -> OpSyntax {
    OpSyntax { name, form, attributes }
}

const fn attr(key: &'static str, name: &'static str, ours: &'static str, kind: Kind) -> AttributeSyntax {
    AttributeSyntax { key, name, ours, kind, default: Default::Absent }
}

impl AttributeSyntax {
    const fn default(mut self, default: Default) -> AttributeSyntax {
        self.default = default;
        self
    }
}

/// Under one name everywhere but before the `=` of the pretty form.
const fn keyed(key: &'static str, name: &'static str, kind: Kind) -> AttributeSyntax {
    attr(key, name, name, kind)
}

/// Not in the pretty form.
const fn plain(name: &'static str, kind: Kind) -> AttributeSyntax {
    attr("", name, name, kind)
}

use Kind::{
    Axes, Bool, Bools, Choice, Conv, Dot, Fields, Flat, Float, Int, Ints, Padding, Pair, Word, Words,
};

const I32: Kind = Int(ElementType::I32);
const I64: Kind = Int(ElementType::I64);

/// The fields of `#stablehlo.gather<…>`.
const GATHER_FIELDS: Kind = Flat(
    &GATHER,
    &[
        ("offset_dims", "offset_dims"),
        ("collapsed_slice_dims", "collapsed_slice_dims"),
        ("operand_batching_dims", "operand_batching_dims"),
        ("start_indices_batching_dims", "start_indices_batching_dims"),
        ("start_index_map", "start_index_map"),
        ("index_vector_dim", "index_vector_dim"),
    ],
);

/// The fields of `#stablehlo.scatter<…>`.
const SCATTER_FIELDS: Kind = Flat(
    &SCATTER,
    &[
        ("update_window_dims", "update_window_dims"),
        ("inserted_window_dims", "inserted_window_dims"),
        ("input_batching_dims", "input_batching_dims"),
        ("scatter_indices_batching_dims", "scatter_indices_batching_dims"),
        ("scatter_dims_to_operand_dims", "scatter_dims_to_operand_dims"),
        ("index_vector_dim", "index_vector_dim"),
    ],
);

const CHANNEL: AttributeSyntax = attr(
    "",
    "channel_handle",
    "",
    Flat(&CHANNEL_HANDLE, &[("handle", "channel_id"), ("type", "channel_type")]),
);

const FEATURE_GROUPS: AttributeSyntax = plain("feature_group_count", I64).default(Default::One);
const BATCH_GROUPS: AttributeSyntax = plain("batch_group_count", I64).default(Default::One);

const PRECISION_CONFIG: AttributeSyntax =
    attr("precision", "precision_config", "stablehlo.precision_config", Words(&PRECISION));

const BROADCAST_DIMENSIONS: AttributeSyntax = plain("broadcast_dimensions", Ints);

const DIRECTION: AttributeSyntax = attr("", "comparison_direction", "direction", Word(&COMPARISON_DIRECTION));
const COMPARE_TYPE: AttributeSyntax = plain("compare_type", Word(&COMPARISON_TYPE));

const EINSUM: &[AttributeSyntax] = &[keyed("config", "einsum_config", Kind::Same), PRECISION_CONFIG];

/// By name.
static OPS: &[OpSyntax] = &[
    op("builtin.module", Form::Module, &[]),
    op("check.expect_almost_eq", Form::Alike, &[keyed("tolerance", "tolerance", Float)]),
    op("check.expect_almost_eq_const", Form::Expect, &[attr("", "value", "value", Kind::Same)]),
    op(
        "check.expect_close",
        Form::NoResult,
        &[
            keyed("max_ulp_difference", "max_ulp_difference", I64),
            keyed("min_ulp_difference", "min_ulp_difference", I64),
        ],
    ),
    op("check.expect_eq", Form::Alike, &[]),
    op("check.expect_eq_const", Form::Expect, &[attr("", "value", "value", Kind::Same)]),
    op("chlo.broadcast_compare", Form::Chlo, &[DIRECTION, COMPARE_TYPE, BROADCAST_DIMENSIONS]),
    op("chlo.constant", Form::Constant, &[]),
    op("chlo.top_k", Form::TopK, &[keyed("k", "k", I64)]),
    op("func.call", Form::Call, &[]),
    op("func.func", Form::Function, &[attr("", "sym_visibility", "visibility", Kind::Same)]),
    op("func.return", Form::NoResult, &[]),
    op("sdy.all_gather", Form::Collective, &[plain("gathering_axes", Axes(&AXES_PER_DIMENSION))]),
    op("sdy.all_reduce", Form::Collective, &[plain("reduction_axes", Axes(&AXES))]),
    op("sdy.all_slice", Form::Collective, &[plain("slicing_axes", Axes(&AXES_PER_DIMENSION))]),
    op("sdy.all_to_all", Form::Collective, &[plain("params", Axes(&ALL_TO_ALL_PARAMS))]),
    op("sdy.collective_permute", Form::Collective, &[]),
    op("sdy.data_flow_edge", Form::Plain, &[keyed("sharding", "sharding", Kind::Sharding)]),
    op("sdy.manual_computation", Form::ManualComputation, &[]),
    op("sdy.mesh", Form::Mesh, &[]),
    op("sdy.named_computation", Form::NamedComputation, &[]),
    op(
        "sdy.propagation_barrier",
        Form::Plain,
        &[keyed("allowed_direction", "allowed_direction", Choice(&["NONE", "FORWARD", "BACKWARD", "BOTH"]))],
    ),
    op("sdy.reduce_scatter", Form::Collective, &[plain("reduce_scatter_axes", Axes(&AXES_PER_DIMENSION))]),
    op("sdy.replicated_to_unreduced", Form::Collective, &[plain("axes", Axes(&AXES))]),
    op("sdy.reshard", Form::Sharding, &[]),
    op("sdy.return", Form::NoResult, &[]),
    op("sdy.sharded_to_unreduced", Form::Collective, &[plain("axes", Axes(&AXES_PER_DIMENSION))]),
    op("sdy.sharding_constraint", Form::Sharding, &[]),
    op("sdy.sharding_group", Form::NoResult, &[keyed("group_id", "group_id", I64)]),
    op("stablehlo.after_all", Form::Result, &[]),
    op("stablehlo.all_gather", Form::Generic, &[CHANNEL]),
    op("stablehlo.all_reduce", Form::Generic, &[CHANNEL]),
    op("stablehlo.all_to_all", Form::Generic, &[CHANNEL]),
    op("stablehlo.batch_norm_grad", Form::Generic, &[]),
    op("stablehlo.batch_norm_inference", Form::Generic, &[]),
    op("stablehlo.batch_norm_training", Form::Generic, &[]),
    op("stablehlo.bitcast_convert", Form::Functional, &[]),
    op("stablehlo.broadcast", Form::Functional, &[keyed("sizes", "broadcast_sizes", Ints)]),
    op(
        "stablehlo.broadcast_in_dim",
        Form::Functional,
        &[attr("dims", "broadcast_dimensions", "dimensions", Ints)],
    ),
    op("stablehlo.case", Form::Generic, &[]),
    op("stablehlo.cholesky", Form::Plain, &[keyed("lower", "lower", Bool)]),
    op("stablehlo.collective_broadcast", Form::Generic, &[CHANNEL]),
    op("stablehlo.collective_permute", Form::Generic, &[CHANNEL]),
    op("stablehlo.compare", Form::Compare, &[DIRECTION, COMPARE_TYPE]),
    op("stablehlo.composite", Form::Composite, &[plain("version", I32)]),
    op("stablehlo.concatenate", Form::Functional, &[keyed("dim", "dimension", I64)]),
    op("stablehlo.constant", Form::Constant, &[]),
    op(
        "stablehlo.convolution",
        Form::Convolution,
        &[
            attr("", "dimension_numbers", "dimensions", Conv),
            keyed("stride", "window_strides", Ints),
            keyed("pad", "padding", Padding),
            keyed("lhs_dilate", "lhs_dilation", Ints),
            keyed("rhs_dilate", "rhs_dilation", Ints),
            keyed("reverse", "window_reversal", Bools),
            FEATURE_GROUPS,
            BATCH_GROUPS,
            attr("", "precision_config", "stablehlo.precision_config", Words(&PRECISION)),
        ],
    ),
    op("stablehlo.create_token", Form::Result, &[]),
    op("stablehlo.custom_call", Form::CustomCall, &[plain("api_version", I32)]),
    op("stablehlo.dot", Form::Functional, &[PRECISION_CONFIG]),
    op(
        "stablehlo.dot_general",
        Form::Functional,
        &[
            attr("", "dot_dimension_numbers", "", Dot),
            attr("batching_dims", "", "batch", Pair("lhs_batching_dimensions", "rhs_batching_dimensions")),
            attr(
                "contracting_dims",
                "",
                "contracting",
                Pair("lhs_contracting_dimensions", "rhs_contracting_dimensions"),
            ),
            PRECISION_CONFIG,
            attr("algorithm", "algorithm", "stablehlo.algorithm", Fields(&DOT_ALGORITHM)),
        ],
    ),
    op(
        "stablehlo.dynamic_broadcast_in_dim",
        Form::Functional,
        &[keyed("dims", "broadcast_dimensions", Ints)],
    ),
    op(
        "stablehlo.dynamic_conv",
        Form::DynamicConvolution,
        &[
            attr("", "dimension_numbers", "dimensions", Conv),
            keyed("stride", "window_strides", Ints),
            keyed("lhs_dilate", "lhs_dilation", Ints),
            keyed("rhs_dilate", "rhs_dilation", Ints),
            keyed("reverse", "window_reversal", Bools),
            FEATURE_GROUPS,
            BATCH_GROUPS,
            attr("", "precision_config", "stablehlo.precision_config", Words(&PRECISION)),
        ],
    ),
    op("stablehlo.dynamic_gather", Form::Generic, &[attr("", "dimension_numbers", "", GATHER_FIELDS)]),
    op("stablehlo.dynamic_iota", Form::Functional, &[keyed("dim", "iota_dimension", I64)]),
    op("stablehlo.dynamic_pad", Form::Functional, &[]),
    op("stablehlo.dynamic_reshape", Form::Functional, &[]),
    op("stablehlo.dynamic_slice", Form::Functional, &[keyed("sizes", "slice_sizes", Ints)]),
    op("stablehlo.dynamic_update_slice", Form::Functional, &[]),
    op("stablehlo.einsum", Form::Functional, EINSUM),
    op(
        "stablehlo.fft",
        Form::Functional,
        &[keyed("type", "fft_type", Word(&FFT_TYPE)), keyed("length", "fft_length", Ints)],
    ),
    op("stablehlo.gather", Form::Generic, &[attr("", "dimension_numbers", "", GATHER_FIELDS)]),
    op("stablehlo.get_dimension_size", Form::Functional, &[keyed("dim", "dimension", I64)]),
    op("stablehlo.get_tuple_element", Form::TupleElement, &[plain("index", I32)]),
    op("stablehlo.if", Form::Generic, &[]),
    op("stablehlo.infeed", Form::Generic, &[]),
    op("stablehlo.iota", Form::Result, &[attr("dim", "iota_dimension", "dimension", I64)]),
    op("stablehlo.is_finite", Form::Functional, &[]),
    op("stablehlo.map", Form::Generic, &[]),
    op("stablehlo.optimization_barrier", Form::Each, &[]),
    op("stablehlo.outfeed", Form::Generic, &[]),
    op(
        "stablehlo.pad",
        Form::Functional,
        &[
            keyed("low", "edge_padding_low", Ints),
            keyed("high", "edge_padding_high", Ints),
            keyed("interior", "interior_padding", Ints).default(Default::Zeros),
        ],
    ),
    op("stablehlo.partition_id", Form::Result, &[]),
    op("stablehlo.real_dynamic_slice", Form::Functional, &[]),
    op("stablehlo.recv", Form::Generic, &[CHANNEL]),
    op("stablehlo.reduce", Form::Reduce, &[plain("dimensions", Ints)]),
    op(
        "stablehlo.reduce_precision",
        Form::ReducePrecision,
        &[plain("exponent_bits", I32), plain("mantissa_bits", I32)],
    ),
    op("stablehlo.reduce_scatter", Form::Generic, &[CHANNEL]),
    op("stablehlo.reduce_window", Form::Generic, &[plain("padding", Padding)]),
    op("stablehlo.replica_id", Form::Result, &[]),
    op("stablehlo.reshape", Form::Functional, &[]),
    op("stablehlo.return", Form::NoResult, &[]),
    op("stablehlo.reverse", Form::Plain, &[keyed("dims", "dimensions", Ints)]),
    op("stablehlo.rng", Form::Rng, &[keyed("distribution", "rng_distribution", Word(&RNG_DISTRIBUTION))]),
    op(
        "stablehlo.rng_bit_generator",
        Form::Functional,
        &[keyed("algorithm", "rng_algorithm", Word(&RNG_ALGORITHM))],
    ),
    op("stablehlo.scatter", Form::Generic, &[attr("", "scatter_dimension_numbers", "", SCATTER_FIELDS)]),
    op("stablehlo.select", Form::Select, &[]),
    op("stablehlo.select_and_scatter", Form::Generic, &[plain("padding", Padding)]),
    op("stablehlo.send", Form::Generic, &[CHANNEL]),
    op("stablehlo.set_dimension_size", Form::Functional, &[keyed("dim", "dimension", I64)]),
    op(
        "stablehlo.slice",
        Form::Slice,
        &[
            attr("", "start_indices", "start", Ints),
            attr("", "limit_indices", "limit", Ints),
            attr("", "strides", "stride", Ints),
        ],
    ),
    op("stablehlo.sort", Form::Generic, &[]),
    op(
        "stablehlo.torch_index_select",
        Form::Functional,
        &[keyed("dim", "dim", I64), keyed("batch_dims", "batch_dims", I64)],
    ),
    op("stablehlo.transpose", Form::Functional, &[keyed("dims", "permutation", Ints)]),
    op("stablehlo.triangular_solve", Form::Generic, &[plain("transpose_a", Word(&TRANSPOSE))]),
    op("stablehlo.tuple", Form::Result, &[]),
    op("stablehlo.unary_einsum", Form::Functional, EINSUM),
    op("stablehlo.while", Form::While, &[]),
];

/// The type of a comparison that says no more than if none is given.
pub(crate) const NO_TYPE: &str = "NOTYPE";

static PLAIN: OpSyntax = op("", Form::Plain, &[]);

static CHLO_PLAIN: OpSyntax = op("", Form::Chlo, &[]);

static CHLO_BROADCASTING: OpSyntax = op("", Form::Chlo, &[BROADCAST_DIMENSIONS]);

/// How the op `name` of StableHLO is written.
pub(crate) fn syntax(name: &str) -> &'static OpSyntax {
    let other = match name.split_once('.') {
        Some(("chlo", name)) if name.starts_with("broadcast_") => &CHLO_BROADCASTING,
        Some(("chlo", _)) => &CHLO_PLAIN,
        _ => &PLAIN,
    };
    OPS.binary_search_by(|syntax| syntax.name.cmp(name)).map_or(other, |at| &OPS[at])
}

impl OpSyntax {
    /// The attribute that the generic form calls `name`.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'static AttributeSyntax> {
        self.attributes.iter().find(|attribute| attribute.name == name)
    }

    /// The attribute that our op calls `ours`.
    pub(crate) fn of_ours(&self, ours: &str) -> Option<&'static AttributeSyntax> {
        self.attributes.iter().find(|attribute| attribute.ours == ours)
    }

    /// The attribute that the pretty form calls `key`.
    pub(crate) fn keyed(&self, key: &str) -> Option<&'static AttributeSyntax> {
        self.attributes.iter().find(|attribute| !key.is_empty() && attribute.key == key)
    }
}

/// Ops of `tensor` that belong to CHLO, by name.
static CHLO: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bessel_i1e",
    "conj",
    "cosh",
    "digamma",
    "erf",
    "erf_inv",
    "erfc",
    "is_inf",
    "is_neg_inf",
    "is_pos_inf",
    "lgamma",
    "mulhi",
    "next_after",
    "polygamma",
    "sinh",
    "square",
    "top_k",
    "zeta",
];

/// The name in StableHLO of an op of ours, if it has one.
pub(crate) fn foreign_name(ours: &str) -> Option<String> {
    match ours.split_once('.')? {
        ("tensor", "yield") => Some("stablehlo.return".to_owned()),
        ("tensor", name) if CHLO.binary_search(&name).is_ok() => Some(format!("chlo.{name}")),
        ("tensor", name) => Some(format!("stablehlo.{name}")),
        ("builtin" | "check" | "func" | "sdy", _) => Some(ours.to_owned()),
        _ => None,
    }
}

/// The name that an op of StableHLO has with us, if it is one that we may have.
pub(crate) fn own_name(foreign: &str) -> Option<String> {
    let foreign = full_name(foreign);
    match foreign.split_once('.')? {
        ("stablehlo", "return") => Some("tensor.yield".to_owned()),
        ("stablehlo" | "chlo", name) => Some(format!("tensor.{name}")),
        ("builtin" | "check" | "func" | "sdy", _) => Some(foreign.to_owned()),
        _ => None,
    }
}

/// The full name of an op that may be written by a keyword.
pub(crate) fn full_name(foreign: &str) -> &str {
    match foreign {
        "call" => "func.call",
        "module" => "builtin.module",
        "return" => "func.return",
        full => full,
    }
}

/// Attributes that StableHLO knows on its ops, or XLA on any, and ours do not have. They are kept under the dialect's
/// prefix.
static KEPT: &[&str] = &[
    "algorithm",
    "api_version",
    "backend_config",
    "called_computations",
    "channel_handle",
    "channel_id",
    "composite_attributes",
    "decomposition",
    "has_side_effect",
    "infeed_config",
    "is_host_transfer",
    "known_expanding_dimensions",
    "known_non_expanding_dimensions",
    "known_nonexpanding_dimensions",
    "layout",
    "name",
    "no_inline",
    "operand_layouts",
    "outfeed_config",
    "output_operand_aliases",
    "precision_config",
    "replica_groups",
    "result_accuracy",
    "result_layouts",
    "slice_sizes",
    "source_target_pairs",
    "use_global_device_ids",
    "version",
    "xla_shape",
];

/// Whether StableHLO knows an attribute of this name that ours do not have.
pub(crate) fn is_kept(name: &str) -> bool {
    KEPT.binary_search(&name).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted() {
        assert!(OPS.is_sorted_by_key(|syntax| syntax.name));
        assert!(CHLO.is_sorted() && KEPT.is_sorted());
    }

    #[test]
    fn names_lead_both_ways() {
        for name in
            ["stablehlo.add", "chlo.erf", "stablehlo.return", "func.call", "sdy.mesh", "builtin.module"]
        {
            let own = own_name(name).unwrap();
            assert_eq!(foreign_name(&own).as_deref(), Some(name));
        }
        assert_eq!((own_name("mhlo.add"), foreign_name("dist.all_gather")), (None, None));
    }
}
