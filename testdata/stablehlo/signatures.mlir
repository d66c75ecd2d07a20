// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | filecheck --check-prefix=OUT %s

// What JAX says about a program is kept, donated buffers too.

// CHECK: module @jit_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
// OUT: module @jit_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
module @jit_step attributes {jax.uses_shape_polymorphism = false, mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  // CHECK-NEXT: func @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<?x4xf32> {jax.buffer_donor = true}, %arg2: token)
  // CHECK-SAME: -> (tensor<4xf32> {jax.result_info = "result[0]['w']"}, token) attributes {visibility = "public"} {
  // OUT-NEXT: func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<?x4xf32> {jax.buffer_donor = true}, %arg2: !stablehlo.token)
  // OUT-SAME: -> (tensor<4xf32> {jax.result_info = "result[0]['w']"}, !stablehlo.token) {
  func.func public @main(%arg0: tensor<4xf32> {tf.aliasing_output = 0 : i32}, %arg1: tensor<?x4xf32> {jax.buffer_donor = true}, %arg2: !stablehlo.token) -> (tensor<4xf32> {jax.result_info = "result[0]['w']"}, !stablehlo.token) {
    // CHECK-NEXT: %0, %1 = call @two(%arg0) : tensor<4xf32>, tensor<4xf32>
    // OUT-NEXT: %0, %1 = func.call @two(%arg0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %0:2 = call @two(%arg0) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    // CHECK-NEXT: tensor.add %1, %0
    %1 = stablehlo.add %0#1, %0#0 {mhlo.frontend_attributes = {kind = "x"}} : tensor<4xf32>
    return %1, %arg2 : tensor<4xf32>, !stablehlo.token
  }
  // CHECK: func @two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {visibility = "private"} {
  func.func private @two(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %both:2 = func.call @"a name"(%x, %x) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    // CHECK: return %both_1, %both_0
    func.return %both#1, %both#0 : tensor<4xf32>, tensor<4xf32>
  }
  // A declaration.
  // CHECK: func @"a name"(%0: tensor<4xf32>, %1: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {visibility = "private"}
  func.func private @"a name"(tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
}
