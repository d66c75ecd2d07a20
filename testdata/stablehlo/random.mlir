// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | filecheck --check-prefix=OUT %s

// StableHLO says the shape of random numbers in an operand, too. It follows from the result, and a
// constant that was nothing else is gone.
// CHECK-LABEL: func @f(
func.func @f(%low: tensor<f32>, %high: tensor<f32>, %shape: tensor<2xi64>) -> tensor<4x6xf32> {
  // CHECK-NEXT: %0 = tensor.rng %low, %high {rng_distribution = "UNIFORM"} : tensor<4x6xf32>
  // OUT: %[[SHAPE:.*]] = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
  // OUT-NEXT: %0 = stablehlo.rng %low, %high, %[[SHAPE]], distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  return %0 : tensor<4x6xf32>
}

// CHECK-LABEL: func @g(
func.func @g(%low: tensor<f32>, %high: tensor<f32>) -> (tensor<4x6xf32>, tensor<2xi64>) {
  // CHECK-NEXT: %[[KEPT:.*]] = tensor.constant dense<[4, 6]> : tensor<2xi64>
  %shape = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
  %only = stablehlo.constant dense<[4, 6]> : tensor<2xi64>
  // CHECK-NEXT: tensor.rng
  %0 = stablehlo.rng %low, %high, %shape, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  // CHECK-NEXT: tensor.rng
  %1 = stablehlo.rng %low, %high, %only, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  // CHECK-NEXT: tensor.rng
  %2 = stablehlo.rng %low, %high, %only, distribution = UNIFORM : (tensor<f32>, tensor<f32>, tensor<2xi64>) -> tensor<4x6xf32>
  // CHECK-NEXT: return {{.*}}, %[[KEPT]]
  return %2, %shape : tensor<4x6xf32>, tensor<2xi64>
}
