// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - | filecheck %s

// Ops of earlier versions are read as those that say the same, and keep what else is said of them.
// CHECK-LABEL: func @f(
func.func @f(%x: tensor<4x3xf32>, %y: tensor<3x4xf32>, %v: tensor<3xf32>) {
  // CHECK: tensor.dot_general %x, %y {contracting = [1] x [0], mhlo.note = 1, stablehlo.precision_config = [#stablehlo.precision<HIGH>, #stablehlo.precision<HIGH>]}
  %0 = stablehlo.dot %x, %y, precision = [HIGH, HIGH] {mhlo.note = 1} : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  // CHECK: %[[PRODUCT:.*]] = tensor.dot_general %x, %y {batch = [0] x [1], contracting = [1] x [0]} : tensor<4xf32>
  // CHECK-NEXT: tensor.transpose %[[PRODUCT]] {permutation = [0]} : tensor<4xf32>
  %1 = stablehlo.einsum %x, %y, config = "ab,ba->a" : (tensor<4x3xf32>, tensor<3x4xf32>) -> tensor<4xf32>
  // CHECK: %[[WIDE:.*]] = tensor.broadcast_in_dim %v {dimensions = [1]} : tensor<4x3xf32>
  // CHECK-NEXT: tensor.power %x, %[[WIDE]]
  %2 = chlo.broadcast_power %x, %v : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32>
  // Operands of one shape need nothing, whatever the shape.
  // CHECK-NEXT: tensor.add %x, %x : tensor<4x3xf32>
  %3 = "chlo.broadcast_add"(%x, %x) : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  // CHECK: tensor.all_reduce %x {replica_groups = dense<{{.*}}> : tensor<1x2xi64>}
  // CHECK: tensor.add %{{.*}}, %{{.*}} : tensor<f32>
  %4 = "stablehlo.cross-replica-sum"(%x) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
