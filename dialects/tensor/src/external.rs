//! Ops whose meaning stands outside of the program: in a library, in a queue, in a function of another dialect's making,
//! or in element types that Tofu does not have.

use tofu_ir::{
    ANY_ATTR, BOOL, Control, DICT, INT, OpDef, STRING, SYMBOL, TOKEN, Trait, any, op, optional, required,
    tensor,
};
use tofu_tdl::Undescribed;

/// `tensor.custom_call`: a function of a library.
pub static CUSTOM_CALL: OpDef = op("tensor.custom_call")
    .summary("Calls the function `call_target_name` of a library.")
    .example("%r = tensor.custom_call %x, %y {call_target_name = \"gemm\"} : tensor<4x4xf32>")
    .operands(&[any("inputs").variadic()])
    .results(&[any("results").variadic()])
    .attributes(&[
        optional("api_version", INT),
        optional("backend_config", ANY_ATTR),
        required("call_target_name", STRING),
        optional("called_computations", ANY_ATTR),
        optional("has_side_effect", BOOL),
        optional("operand_layouts", ANY_ATTR),
        optional("output_operand_aliases", ANY_ATTR),
        optional("result_layouts", ANY_ATTR),
    ])
    .interfaces(&[&Undescribed("only the library knows what it computes; a `tdl.call` says it")]);

/// The attribute of a [`COMPOSITE`] that names the function it stands for.
const DECOMPOSITION: &str = "decomposition";

/// `tensor.composite`: an operation made of others, with a name by which back ends may know it.
pub static COMPOSITE: OpDef = op("tensor.composite")
    .summary("An operation of this name, which computes what the function `decomposition` does.")
    .example(
        "func @square(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n  %y = tensor.multiply %x, %x\n  return %y\n}\n\
         func @f(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {\n  \
         %y = tensor.composite %x {decomposition = @square, name = \"my.square\"} : tensor<4x8xf32>\n  return %y\n}",
    )
    .operands(&[any("inputs").variadic()])
    .results(&[any("results").variadic()])
    .attributes(&[
        optional("composite_attributes", DICT),
        required(DECOMPOSITION, SYMBOL),
        required("name", STRING),
        optional("version", INT),
    ])
    .interfaces(&[&Control::Call(DECOMPOSITION)]);

/// `tensor.infeed`: values that come from outside.
pub static INFEED: OpDef = op("tensor.infeed")
    .summary("Values that come from outside of the program, and a token that comes after them.")
    .example("%t = tensor.create_token\n%r, %after = tensor.infeed %t {infeed_config = \"\"} : tensor<4xf32>, token")
    .operands(&[any("token").class(TOKEN)])
    .results(&[any("results").variadic()])
    .attributes(&[optional("infeed_config", STRING), optional("layout", ANY_ATTR)])
    .traits(&[Trait::Local])
    .interfaces(&[&Undescribed("its results come from outside of the program")]);

/// `tensor.outfeed`: gives values to the outside.
pub static OUTFEED: OpDef = op("tensor.outfeed")
    .summary("Gives values to the outside of the program; the result comes after that.")
    .example("%t = tensor.create_token\n%r = tensor.outfeed %x, %t {outfeed_config = \"\"} : token")
    .operands(&[any("inputs").variadic(), any("token").class(TOKEN)])
    .results(&[any("result").class(TOKEN)])
    .attributes(&[optional("outfeed_config", STRING)])
    .traits(&[Trait::Local])
    .infer_types(|_, _| Ok(vec![tofu_ir::TypeData::Token]))
    .interfaces(&[&Undescribed("it computes nothing; it has an effect")]);

/// `tensor.send`: gives values to a channel.
pub static SEND: OpDef = op("tensor.send")
    .summary("Gives values to a channel; the result comes after that.")
    .example("%t = tensor.create_token\n%r = tensor.send %x, %t {channel_id = 1, channel_type = 1} : token")
    .operands(&[any("inputs").variadic(), any("token").class(TOKEN)])
    .results(&[any("result").class(TOKEN)])
    .attributes(&[
        required("channel_id", INT),
        optional("channel_type", INT),
        optional("is_host_transfer", BOOL),
        optional("source_target_pairs", ANY_ATTR),
    ])
    .traits(&[Trait::Local])
    .infer_types(|_, _| Ok(vec![tofu_ir::TypeData::Token]))
    .interfaces(&[&Undescribed("it computes nothing; it has an effect")]);

/// `tensor.recv`: values that come through a channel.
pub static RECV: OpDef = op("tensor.recv")
    .summary("Values that come through a channel, and a token that comes after them.")
    .example(
        "%t = tensor.create_token\n%r, %after = tensor.recv %t {channel_id = 1, channel_type = 1} : tensor<4xf32>, token",
    )
    .operands(&[any("token").class(TOKEN)])
    .results(&[any("results").variadic()])
    .attributes(&[
        required("channel_id", INT),
        optional("channel_type", INT),
        optional("is_host_transfer", BOOL),
        optional("source_target_pairs", ANY_ATTR),
    ])
    .traits(&[Trait::Local])
    .interfaces(&[&Undescribed("its results come from another process")]);

const QUANTIZED: Undescribed = Undescribed("quantized element types are not among Tofu's");

/// `tensor.uniform_quantize`: numbers as multiples of a step.
pub static UNIFORM_QUANTIZE: OpDef = op("tensor.uniform_quantize")
    .summary("Numbers as multiples of a step that the result's type says.")
    .example("%r = tensor.uniform_quantize %x : tensor<4x8xi8>")
    .operands(&[tensor("operand")])
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .interfaces(&[&QUANTIZED]);

/// `tensor.uniform_dequantize`: the numbers that multiples of a step are.
pub static UNIFORM_DEQUANTIZE: OpDef = op("tensor.uniform_dequantize")
    .summary("The numbers that multiples of a step are.")
    .example("%r = tensor.uniform_dequantize %i : tensor<4x8xf32>")
    .operands(&[tensor("operand")])
    .results(&[tensor("result")])
    .traits(&[Trait::Local, Trait::Pure])
    .interfaces(&[&QUANTIZED]);
