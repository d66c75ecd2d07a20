// RUN: tofu-opt %s --allow-unregistered --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --allow-unregistered --emit=stablehlo | filecheck --check-prefix=OUT %s
// RUN: tofu-opt %s --allow-unregistered --emit=stablehlo | tofu-opt - --allow-unregistered | filecheck %s

// White space behind a name's meaning is no part of it.
#map = affine_map<(d0) -> (d0)>
#thing = #other.thing<"x">

// CHECK: module attributes {stablehlo.other.map = #stablehlo.opaque<"affine_map<(d0) -> (d0)>">, stablehlo.other.signed = #stablehlo.opaque<"-3 : si8">, stablehlo.other.thing = #stablehlo.opaque<"#other.thing<\"x\">">} {
// OUT: module attributes {other.map = affine_map<(d0) -> (d0)>, other.signed = -3 : si8, other.thing = #other.thing<"x">} {
module attributes {other.map = #map, other.signed = -3 : si8, other.thing = #thing} {
  // CHECK-NEXT: func @f(%x: tensor<4xf32> {other.note}, %q: stablehlo.opaque<"!quant.uniform<i8:f32, 0.1>">)
  // OUT-NEXT: func.func @f(%x: tensor<4xf32> {other.note}, %q: !quant.uniform<i8:f32, 0.1>)
  func.func @f(%x: tensor<4xf32> {other.note}, %q: !quant.uniform<i8:f32, 0.1>) -> tensor<4xf32> {
    // CHECK-NEXT: %0, %1 = stablehlo.opaque %x, %q {attributes = {sizes = [1, 2]}, name = "other.op", properties = {axis = #stablehlo.array<dense<[1, 2]> : tensor<2xi64>>, kind = #stablehlo.opaque<"#other<kind x>">}} ({
    // OUT-NEXT: %0, %1 = "other.op"(%x, %q) <{axis = array<i64: 1, 2>, kind = #other<kind x>}> ({
    %0:2 = "other.op"(%x, %q) <{axis = array<i64: 1, 2>, kind = #other<kind x>}> ({
    // CHECK-NEXT: ^bb0(%a: stablehlo.opaque<"!other.handle">):
    // OUT-NEXT: ^bb0(%a: !other.handle):
    ^bb0(%a: !other.handle):
      // CHECK-NEXT: stablehlo.opaque %a {name = "other.end"}
      // OUT-NEXT: "other.end"(%a) : (!other.handle) -> ()
      "other.end"(%a) : (!other.handle) -> ()
    // CHECK-NEXT: }, {
    // OUT-NEXT: }, {
    // OUT-NEXT: "other.nothing"() : () -> ()
    // OUT-NEXT: }) {sizes = [1, 2]} : (tensor<4xf32>, !quant.uniform<i8:f32, 0.1>) -> (tensor<4xf32>, tensor<*xf32>)
    }, {
      // CHECK-NEXT: stablehlo.opaque {name = "other.nothing"}
      "other.nothing"() : () -> ()
    }) {sizes = [1, 2]} : (tensor<4xf32>, !quant.uniform<i8:f32, 0.1>) -> (tensor<4xf32>, tensor<*xf32>)
    // CHECK: tensor.add %0, %0 {stablehlo.mode = "fast", stablehlo.other.mode = 1}
    // OUT: stablehlo.add %0, %0 {mode = "fast", other.mode = 1 : i64} : tensor<4xf32>
    %1 = stablehlo.add %0#0, %0#0 {mode = "fast", other.mode = 1} : tensor<4xf32>
    return %1 : tensor<4xf32>
  }
}
