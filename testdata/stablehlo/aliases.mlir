// RUN: tofu-opt %s --verify-roundtrip --print-locations | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo --print-locations | tofu-opt - --print-locations | filecheck %s

// Names for attributes, types and locations may be used before they are defined.

#precisions = [#stablehlo<precision HIGH>, #high]
#high = #stablehlo<precision HIGH>
!vector = tensor<4xf32>

// CHECK: func @f(%arg0: tensor<4xf32>)
func.func @f(%arg0: !vector loc("x")) -> !vector {
  // CHECK-NEXT: %0 = tensor.dot_general %arg0, %arg0 {contracting = [0] x [0], stablehlo.precision_config = [#stablehlo.precision<HIGH>, #stablehlo.precision<HIGH>]}
  // CHECK-SAME: : tensor<f32> loc("jit(f)/dot_general"("model.py":10:7))
  %0 = "stablehlo.dot_general"(%arg0, %arg0) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>, precision_config = #precisions}> : (!vector, !vector) -> tensor<f32> loc(#dot)
  // Of a range the beginning is kept.
  // CHECK-NEXT: tensor.tanh %arg0 : tensor<4xf32> loc(callsite("tanh" at "model.py":3:1))
  %1 = stablehlo.tanh %arg0 : !vector loc(callsite("tanh" at "model.py":3:1 to 4:5))
  // What says how a location was joined stays.
  // CHECK-NEXT: tensor.negate %1 : tensor<4xf32> loc(fused<"why">["a", "model.py":10:7])
  %2 = stablehlo.negate %1 : !vector loc(fused<"why">["a", #file])
  // CHECK-NEXT: tensor.negate %1 : tensor<4xf32> loc("outer"(fused<{note = "x", sizes = [1, 2], step = 3 : i32, word = #stablehlo.precision<HIGH>}>[unknown, fused<tensor<2xf32>>["b"]]))
  %3 = stablehlo.negate %1 : !vector loc("outer"(fused<{note = #note, step = 3 : i32, sizes = [1, 2], word = #high}>[unknown, fused<tensor<2xf32>>["b"]]))
  // CHECK-NEXT: return %2 loc("end")
  return %2 : !vector loc("end")
// CHECK-NEXT: } loc("model.py":10:7)
} loc(#file)

// CHECK-LABEL: func @g(%arg0: tensor<4xf32>)
func.func @g(%arg0: !vector) attributes {mhlo.note = #note} {
  return
}

  // White space may stand before a definition, and one may follow an op without a location.
  #note = "x"
#dot = loc("jit(f)/dot_general"(#file))
#file = loc("model.py":10:7)
