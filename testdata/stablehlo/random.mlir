// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | filecheck --check-prefix=OUT %s

// StableHLO says the shape of random numbers in an operand, too. It follows from the result.
// CHECK-LABEL: func @f(
func.func @f(%low: tensor<f32>, %high: tensor<f32>, %shape: tensor<2xi64>) -> tensor<4x6xf32> {
  // CHECK: %0 = tensor.rng %low, %high {rng_distribution = "UNIFORM"} : tensor<4x6xf32>
  // OUT: %[[SHAPE:.*]] = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
  // OUT-NEXT: %0 = stablehlo.rng %low, %high, %[[SHAPE]], distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}
