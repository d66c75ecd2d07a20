// RUN: tofu-opt %s --from=stablehlo --split-input-file --verify-diagnostics

// What is not known is named where it stands, and the rest is read on.
// expected-error@+1 {{there is no attribute `#other.thing`}}
module attributes {mhlo.x = #other.thing<1 -> 2>} {
  // expected-error@+1 {{there is no type `tensor<4xf31>`}}
  func.func @types(%x: tensor<4xf31>, %y: tensor<4xf32>) {
    %0 = stablehlo.tanh %x : tensor<4xf31> // expected-error {{there is no type `tensor<4xf31>`}}
    // expected-error@+1 {{there is no type `!other.handle<"a>b">`}}
    %1 = stablehlo.custom_call @f(%y) : (tensor<4xf32>) -> !other.handle<"a>b">
    return
  }
  func.func @ops(%x: tensor<4xf32>) {
    // expected-error@+1 {{there is no dialect `other`}}
    %0 = "other.op"(%x) ({
      // expected-error@+1 {{there is no op `stablehlo.tahn`}}
      %1 = stablehlo.tahn %x : tensor<4xf32>
      "stablehlo.return"(%1) : (tensor<4xf32>) -> ()
    }) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = stablehlo.add %0, %x : tensor<4xf32>
    // expected-error@+1 {{there is no op `chlo.nothing`}}
    %2 = chlo.nothing %x : tensor<4xf32> -> tensor<4xf32>
    // expected-error@+1 {{there is no dialect `other`}}
    other.statement %x as it likes {
    }
    // Our own dialect for tensors is none of theirs.
    // expected-error@+1 {{there is no dialect `tensor`}}
    %4 = "tensor.cast"(%x) : (tensor<4xf32>) -> tensor<?xf32>
    // expected-error@+1 {{there is no dialect `tensor`}}
    %5 = "tensor.add"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    // expected-error@+1 {{there is no op `func.nothing`}}
    %3 = func.nothing %x
    return
  }
  // expected-error@+1 {{there is no dialect `other`}}
  func.func @attributes(%x: tensor<4xf32> {other.note = 1}) {
    // expected-error@+1 {{`stablehlo.add` has no attribute `fast`}}
    %0 = stablehlo.add %x, %x {fast} : tensor<4xf32>
    // expected-error@+1 {{there is no dialect `other`}}
    %1 = stablehlo.add %0, %x {other.mode = 1} : tensor<4xf32>
    // expected-error@+1 {{there is no attribute `#stablehlo.precison`}}
    %2 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0] {precision_config = [#stablehlo<precison HIGH>]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
    return
  }
}

// -----

func.func @values(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{`%y` is not defined before it is used}}
  %0 = stablehlo.add %x, %y : tensor<4xf32>
  // It is reported once.
  %1 = stablehlo.add %x, %y : tensor<4xf32>
  %2:2 = stablehlo.optimization_barrier %x, %x : tensor<4xf32>, tensor<4xf32>
  // expected-error@+1 {{`%2` has no result 2: it stands for 2 values}}
  %3 = stablehlo.negate %2#2 : tensor<4xf32>
  // expected-error@+1 {{`%x` is defined twice}}
  %x = stablehlo.negate %2#0 : tensor<4xf32>
  // expected-error@+1 {{3 results named, but 2 types written}}
  %4:3 = stablehlo.optimization_barrier %x, %x : tensor<4xf32>, tensor<4xf32>
  // expected-error@+1 {{`%x` is a `tensor<4xf32>`, but is used as a `tensor<5xf32>`}}
  %5 = stablehlo.slice %x [0:2] : (tensor<5xf32>) -> tensor<2xf32>
  // expected-error@+1 {{the op has one operand, but 2 types written for them}}
  %6 = stablehlo.reshape %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x2xf32>
  // expected-error@+1 {{result 0 of `stablehlo.negate` is written as `tensor<4xf64>`, but `stablehlo.negate` gives `tensor<4xf32>`}}
  %7 = "stablehlo.negate"(%x) : (tensor<4xf32>) -> tensor<4xf64>
  return %x : tensor<4xf32>
}

// -----

// A statement that cannot be read does not hide those after it, and its results are not missed.
func.func @syntax(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a value (`%name`) or an attribute after `,`, found `:`}}
  %0 = stablehlo.add %x, : tensor<4xf32>
  // expected-error@+1 {{expected `:` and the types, found `dim`}}
  %1 = stablehlo.broadcast_in_dim %0 dim = [0] : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{expected `,` or `]`, found `:`}}
  %2 = stablehlo.broadcast_in_dim %1, dims = [0 : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{the string is not closed on its line}}
  %3 = stablehlo.custom_call @f(%2) {backend_config = "x} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{expected `->` and the result types, found the end of the line}}
  %4 = "stablehlo.negate"(%3) : (tensor<4xf32>)
  %5 = stablehlo.add %4, %3 : tensor<4xf32>
  // expected-error@+1 {{expected `reducer`, found the end of the line}}
  %6 = stablehlo.reduce(%x init: %s) across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %7 = stablehlo.negate %6 : tensor<f32>
  // expected-error@+1 {{expected the rest of this op or the end of the line, found `junk`}}
  %8 = stablehlo.negate %7 : tensor<f32> junk
  return
}

// expected-error@+1 {{expected `:`, found `tensor`}}
func.func @head(%x tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{there is no op `stablehlo.tahn`}}
  %0 = stablehlo.tahn %x : tensor<4xf32>
  return %x : tensor<4xf32>
}

func.func @caller(%x: tensor<4xf32>) {
  %0 = call @head(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @constants() {
  // expected-error@+1 {{this list has 2 items, but dimension 0 of the type is 3}}
  %0 = stablehlo.constant dense<[1, 2]> : tensor<3xi32>
  // expected-error@+1 {{300 is out of the range of i8, -128 to 127}}
  %1 = stablehlo.constant dense<300> : tensor<i8>
  // expected-error@+1 {{there is no resource `weights`}}
  %2 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
  // expected-error@+1 {{the value of this constant was left out when it was printed}}
  %3 = stablehlo.constant dense_resource<__elided__> : tensor<2xf32>
  // expected-error@+1 {{the value of a constant must be `dense<…>` of a tensor type}}
  %4 = stablehlo.constant 3 : i32
  return
}

// -----

// expected-error@+2 {{`#a` is defined by itself}}
#a = [#b]
#b = [#a]
// expected-error@+2 {{`#c` is defined twice}}
#c = 1
#c = 2
// expected-error@+1 {{there is no attribute `#unknown`}}
module attributes {mhlo.x = #unknown} {
  func.func @f(%x: f32) {
    // expected-error@+1 {{there is no location `#nowhere`}}
    return loc(#nowhere)
  }
}

// -----

func.func @words(%x: tensor<4xf32>, %y: tensor<3x3xf32>) {
  // expected-error@+1 {{there is no value `HIGHER`, only DEFAULT, HIGH, HIGHEST}}
  %0 = stablehlo.dot_general %x, %x, contracting_dims = [0] x [0], precision = [HIGH, HIGHER] : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  // expected-error@+1 {{there is no field `lhs_contracting`, only}}
  %1 = "stablehlo.dot_general"(%x, %x) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting = [0]>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<f32>
  // expected-error@+1 {{expected `true` or `false`, found `maybe`}}
  %2 = stablehlo.cholesky %y, lower = maybe : tensor<3x3xf32>
  return
}

// -----

// Attributes are called what they are called in StableHLO.
func.func @attributes(%x: tensor<4xf32>) {
  // expected-error@+1 {{`stablehlo.slice` needs the attribute `limit_indices`}}
  %0 = "stablehlo.slice"(%x) {start_indices = array<i64: 0>, strides = array<i64: 1>} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{attribute `comparison_direction` of `stablehlo.compare` must be "EQ", "NE", "LT", "LE", "GT" or "GE"}}
  %1 = stablehlo.compare LTT, %x, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
  // expected-error@+1 {{`stablehlo.iota` needs the attribute `iota_dimension`}}
  %2 = "stablehlo.iota"() : () -> tensor<4xf32>
  return
}

// -----

// What of StableHLO's types is not read is named where it stands.
// expected-error@+1 {{bounds of extents that are not known (`#stablehlo.bounds`) are not read}}
func.func @bounded(%x: tensor<?x4xf32, #stablehlo.bounds<8, ?>>) {
  return
}
// expected-error@+1 {{quantized elements (`!quant.uniform`) are not read}}
func.func @quantized(%x: tensor<4x!quant.uniform<i8<-128:127>:f32:0, {2.0:15, 1.0}>>) {
  // expected-error@+2 {{quantized elements (`!quant.uniform`) are not read}}
  // expected-error@+1 {{quantized elements (`!quant.uniform`) are not read}}
  %0 = stablehlo.custom_call @f(%x) : (tensor<4x!quant.uniform<i8<-128:127>:f32:0, {2.0:15, 1.0}>>) -> !quant.uniform<i8:f32, 2.0>
  return
}
// expected-error@+1 {{there is no type `tensor<4xsi32>`}}
func.func @signed(%x: tensor<4xsi32>) {
  return
}

// -----

func.func @never_closed() {
  return
// expected-error@+1 {{expected `}`, found the end of the text}}
