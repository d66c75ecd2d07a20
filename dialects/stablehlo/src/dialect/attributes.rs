//! StableHLO's own attributes: what an op of ours has no attribute of its own for is kept as what it is.
//!
//! An enumeration reads `#stablehlo.precision<HIGHEST>` here and `#stablehlo<precision HIGHEST>` in StableHLO; its
//! parameter is the word, a string. A structure reads `#stablehlo.channel_handle<handle = 1, type = 0>` in both; its
//! parameter is a dictionary, in which a bare word is a string. `#stablehlo.conv<…>`, whose text is like nothing else,
//! and texts that nothing here knows are strings.

use tofu_diagnostics::Diagnostic;
use tofu_ir::{Attr, AttrData, Module, ParameterReader, ParameterWriter, ParametricDef};

macro_rules! attributes {
    ($parse:ident, $print:ident: $(
        $constant:ident = $name:literal, $summary:literal, $example:literal $(, $verify:ident: $known:expr)?;
    )*) => {$(
        #[doc = $summary]
        pub static $constant: ParametricDef = ParametricDef {
            summary: $summary,
            example: $example,
            $(verify: |module, params| $verify(module, params, &$known),)?
            ..ParametricDef::new(concat!("stablehlo.", $name)).text($parse, $print)
        };
    )*};
}

attributes! {
    parse_word, print_word:
    COMPARISON_DIRECTION = "comparison_direction", "How two values are compared.", "#stablehlo.comparison_direction<LT>",
        known_word: ["EQ", "NE", "GE", "GT", "LE", "LT"];
    COMPARISON_TYPE = "comparison_type", "As what two values are compared.", "#stablehlo.comparison_type<TOTALORDER>",
        known_word: ["NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"];
    FFT_TYPE = "fft_type", "Which Fourier transform.", "#stablehlo.fft_type<RFFT>",
        known_word: ["FFT", "IFFT", "RFFT", "IRFFT"];
    PRECISION = "precision", "How exact a product has to be.", "#stablehlo.precision<HIGHEST>",
        known_word: ["DEFAULT", "HIGH", "HIGHEST"];
    RESULT_ACCURACY_MODE = "result_accuracy_mode", "How exact a result has to be.", "#stablehlo.result_accuracy_mode<TOLERANCE>",
        known_word: ["DEFAULT", "HIGHEST", "TOLERANCE"];
    RNG_ALGORITHM = "rng_algorithm", "How random bits are made.", "#stablehlo.rng_algorithm<THREE_FRY>",
        known_word: ["DEFAULT", "THREE_FRY", "PHILOX"];
    RNG_DISTRIBUTION = "rng_distribution", "How random numbers are distributed.", "#stablehlo.rng_distribution<UNIFORM>",
        known_word: ["UNIFORM", "NORMAL"];
    TRANSPOSE = "transpose", "Whether a matrix is transposed.", "#stablehlo.transpose<ADJOINT>",
        known_word: ["TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"];
}

attributes! {
    parse_fields, print_fields:
    CHANNEL_HANDLE = "channel_handle", "Which channel a collective uses.", "#stablehlo.channel_handle<handle = 1, type = 0>",
        known_fields: ["handle", "type"];
    DOT = "dot", "Which dimensions a product joins.", "#stablehlo.dot<lhs_contracting_dimensions = [1]>",
        known_fields: ["lhs_batching_dimensions", "rhs_batching_dimensions", "lhs_contracting_dimensions", "rhs_contracting_dimensions"];
    DOT_ALGORITHM = "dot_algorithm", "How a product is computed.", "#stablehlo.dot_algorithm<accumulation_type = f32>",
        known_fields: ["lhs_precision_type", "rhs_precision_type", "accumulation_type", "lhs_component_count", "rhs_component_count", "num_primitive_operations", "allow_imprecise_accumulation"];
    GATHER = "gather", "What the dimensions of a gather mean.", "#stablehlo.gather<offset_dims = [1]>",
        known_fields: ["offset_dims", "collapsed_slice_dims", "operand_batching_dims", "start_indices_batching_dims", "start_index_map", "index_vector_dim"];
    OUTPUT_OPERAND_ALIAS = "output_operand_alias", "Which result shares the buffer of which operand.", "#stablehlo.output_operand_alias<operand_index = 0>",
        known_fields: ["output_tuple_indices", "operand_index", "operand_tuple_indices"];
    RESULT_ACCURACY = "result_accuracy", "How exact a result has to be, in numbers.", "#stablehlo.result_accuracy<ulps = 1>",
        known_fields: ["atol", "rtol", "ulps", "mode"];
    SCATTER = "scatter", "What the dimensions of a scatter mean.", "#stablehlo.scatter<index_vector_dim = 1>",
        known_fields: ["update_window_dims", "inserted_window_dims", "input_batching_dims", "scatter_indices_batching_dims", "scatter_dims_to_operand_dims", "index_vector_dim"];
}

attributes! {
    parse_one, print_one:
    ARRAY = "array", "A list of numbers of one type, MLIR's `array<…>`, which is not the same as a list of attributes.",
        "#stablehlo.array<dense<[1, 2]> : tensor<2xi32>>";
    CONV = "conv", "What the dimensions of a convolution mean.", "#stablehlo.conv<\"b01f_01io->b01f\">";
    OPAQUE_ATTR = "opaque", "An attribute that nothing here knows, as it was written.", "#stablehlo.opaque<\"#other.note<x>\">";
    OPAQUE_TYPE = "opaque", "A type that nothing here knows, as it was written.", "stablehlo.opaque<\"!other.handle\">";
}

fn known_word(module: &Module, params: Attr, known: &[&str]) -> Result<(), String> {
    match module.attr_data(params) {
        AttrData::String(word) => known_name(word, "value", known),
        _ => Err("expected a word".to_owned()),
    }
}

fn known_fields(module: &Module, params: Attr, known: &[&str]) -> Result<(), String> {
    module.dict(params).iter().try_for_each(|&(key, _)| known_name(module.text(key), "field", known))
}

fn known_name(name: &str, what: &str, known: &[&str]) -> Result<(), String> {
    if known.contains(&name) {
        return Ok(());
    }
    Err(format!("there is no {what} `{name}`, only {}", known.join(", ")))
}

fn parse_one(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    reader.attribute()
}

fn print_one(_: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    writer.attribute(params);
}

fn parse_word(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    let word = reader.word()?;
    Ok(reader.module().interner.string(&word))
}

fn print_word(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    if let AttrData::String(word) = module.attr_data(params) {
        // Here and below: writing into the printer's buffer cannot fail.
        let _ = writer.write_str(word);
    }
}

fn parse_fields(reader: &mut dyn ParameterReader) -> Result<Attr, Diagnostic> {
    let mut fields = Vec::new();
    while !reader.at_end() {
        if !fields.is_empty() {
            reader.expect(",")?;
        }
        let key = reader.word()?;
        reader.expect("=")?;
        let value = match reader.word() {
            Ok(word) if word == "true" || word == "false" => AttrData::Bool(word == "true"),
            Ok(word) => AttrData::String(word.into()),
            Err(_) => {
                let value = reader.attribute()?;
                fields.push((reader.module().interner.name(&key), value));
                continue;
            }
        };
        let interner = &mut reader.module().interner;
        fields.push((interner.name(&key), interner.attr(value)));
    }
    Ok(reader.module().interner.dict(&fields))
}

/// Fields in the order that StableHLO's parser asks for. Those that are not listed may stand in any.
const FIELD_ORDER: [&str; 14] = [
    "output_tuple_indices",
    "operand_index",
    "operand_tuple_indices",
    "atol",
    "rtol",
    "ulps",
    "mode",
    "lhs_precision_type",
    "rhs_precision_type",
    "accumulation_type",
    "lhs_component_count",
    "rhs_component_count",
    "num_primitive_operations",
    "allow_imprecise_accumulation",
];

fn print_fields(module: &Module, params: Attr, writer: &mut dyn ParameterWriter) {
    let mut fields = module.dict(params).to_vec();
    fields.sort_by_key(|&(key, _)| FIELD_ORDER.iter().position(|&field| field == module.text(key)));
    for (index, (key, value)) in fields.into_iter().enumerate() {
        let separator = if index > 0 { ", " } else { "" };
        let _ = write!(writer, "{separator}{} = ", module.text(key));
        match module.attr_data(value) {
            AttrData::String(word) => {
                let _ = writer.write_str(word);
            }
            _ => writer.attribute(value),
        }
    }
}
