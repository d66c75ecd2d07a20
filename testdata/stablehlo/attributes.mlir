// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | filecheck --check-prefix=OUT %s

// CHECK: module attributes {
// CHECK-SAME: mhlo.array = #stablehlo.array<dense<[1, 2]> : tensor<2xi32>>
// CHECK-SAME: mhlo.booleans = #stablehlo.array<dense<[true, false]> : tensor<2xi1>>
// CHECK-SAME: mhlo.dictionary = {"a key" = "x", flag, type = (f32) -> tensor<4xf32>}
// CHECK-SAME: mhlo.empty = #stablehlo.array<dense<> : tensor<0xi64>>
// CHECK-SAME: mhlo.floats = [1.0, 2.5 : f32, 0x7FC0 : bf16]
// CHECK-SAME: mhlo.list = [1, 2, 3]
// CHECK-SAME: mhlo.marks = "{-# // }"
// CHECK-SAME: mhlo.text = "quote \" tab \t line \n"
// OUT: mhlo.array = array<i32: 1, 2>
// OUT-SAME: mhlo.booleans = array<i1: true, false>
// OUT-SAME: mhlo.empty = array<i64>
// OUT-SAME: mhlo.floats = [1.0 : f64, 2.5 : f32, 0x7FC0 : bf16]
// OUT-SAME: mhlo.list = [1, 2, 3]
module attributes {
  mhlo.array = array<i32: 1, 2>,
  mhlo.booleans = array<i1: true, false>,
  mhlo.dictionary = {"a key" = "x", flag, type = (f32) -> tensor<4xf32>},
  mhlo.empty = array<i64>,
  mhlo.floats = [1.0, 2.500000e+00 : f32, 0x7FC0 : bf16],
  mhlo.list = [1, 2, 3],
  mhlo.marks = "{-# // }",
  mhlo.text = "quote \" tab \t line \0A"
} {
  // CHECK-LABEL: func @lists(
  func.func @lists(%x: tensor<4x6xf32>, %s: tensor<f32>) {
    // Older programs have lists as constants.
    // CHECK-NEXT: tensor.transpose %x {permutation = [1, 0]}
    %0 = "stablehlo.transpose"(%x) {permutation = dense<[1, 0]> : tensor<2xi64>} : (tensor<4x6xf32>) -> tensor<6x4xf32>
    // CHECK-NEXT: tensor.broadcast_in_dim %s {dimensions = []}
    %1 = "stablehlo.broadcast_in_dim"(%s) {broadcast_dimensions = dense<> : tensor<0xi64>} : (tensor<f32>) -> tensor<4xf32>
    // CHECK-NEXT: tensor.pad %x, %s {edge_padding_high = [1, 0], edge_padding_low = [0, -1], interior_padding = [0, 2]}
    %2 = stablehlo.pad %x, %s, low = [0, -1], high = [1, 0], interior = [0, 2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x15xf32>
    // What only XLA understands is kept for it.
    // CHECK-NEXT: tensor.exponential %x {stablehlo.result_accuracy = #stablehlo.result_accuracy<atol = 1e-5, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}
    // OUT: stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-5, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x6xf32>
    %3 = stablehlo.exponential %x {result_accuracy = #stablehlo.result_accuracy<atol = 1.0e-05, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4x6xf32>
    // JAX writes this where the sizes of a shape are not known.
    // CHECK-NEXT: tensor.custom_call {api_version = 2, call_target_name = "shape_assertion", has_side_effect = true, stablehlo.error_message = "too small"}
    stablehlo.custom_call @shape_assertion() {api_version = 2 : i32, error_message = "too small", has_side_effect = true} : () -> ()
    return
  }
}
