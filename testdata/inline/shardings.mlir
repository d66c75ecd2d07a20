// RUN: tofu-opt %s --inline --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --inline --emit=stablehlo | filecheck --check-prefix=OUT %s

// How the results of a call lie is said of what stands for them, of each one: of a value made in the body, and of an
// argument that is handed back.
sdy.mesh @mesh = <["x"=2]>
// CHECK-LABEL: func @main(
// CHECK-NEXT: %[[SUM:.*]] = tensor.add %x, %x
// CHECK-NEXT: %[[FIRST:.*]] = sdy.sharding_constraint %[[SUM]] {sharding = #sdy.sharding<@mesh, [{"x"}]>}
// CHECK-NEXT: %[[SECOND:.*]] = sdy.sharding_constraint %x {sharding = #sdy.sharding<@mesh, [{}]>}
// CHECK-NEXT: %[[PRODUCT:.*]] = tensor.multiply %[[FIRST]], %[[SECOND]]
// CHECK-NEXT: tensor.add %[[PRODUCT]], %[[PRODUCT]]
// CHECK-NEXT: return
// OUT: sdy.sharding_constraint %{{.*}} <@mesh, [{"x"}]> : tensor<4xf32>
// OUT-NEXT: sdy.sharding_constraint %x <@mesh, [{}]> : tensor<4xf32>
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0:2 = call @both(%x) {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}]>, <@mesh, [{}]>]>} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  %1 = stablehlo.multiply %0#0, %0#1 : tensor<4xf32>
  // A call that says nothing leaves nothing.
  %2:2 = call @both(%1) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %2#1 : tensor<4xf32>
}
func.func private @both(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = stablehlo.add %x, %x : tensor<4xf32>
  return %0, %x : tensor<4xf32>, tensor<4xf32>
}
