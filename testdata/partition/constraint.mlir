// What JAX prints for arguments with shardings and for `with_sharding_constraint`. The constraint makes %0 whole although %arg0 is
// split: a gather; so the sum is done whole on every device.
// RUN: tofu-opt %s --quiet --partition | filecheck %s
// RUN: tofu-opt %s --quiet --partition --emit=stablehlo | filecheck %s --check-prefix=OUT
// RUN: tofu-opt %s --partition --emit=none 2>&1 | filecheck %s --check-prefix=SUMMARY

// CHECK: dist.mesh @mesh = [data = 2, model = 2]
// CHECK-NOT: sdy.mesh
// OUT: mhlo.num_partitions = 4 : i32
// OUT: sdy.mesh @mesh = <["data"=2, "model"=2]>
// OUT-NOT: dist
// SUMMARY: all_gather {{ *}}1 {{ *}}48 B
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=2, "model"=2]>
  // CHECK: func @main(%arg0: tensor<4x4xf32> {dist.sharding = #dist.sharding<@mesh, [{data}, {model}]>}) -> (tensor<4x4xf32> {dist.sharding = #dist.sharding<@mesh, [{}, {}]>
  // OUT: func.func public @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<4x4xf32> {{{.*}}sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
  func.func public @main(%arg0: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {"model"}]>}) -> (tensor<4x4xf32> {jax.result_info = "result", sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    // CHECK: sdy.sharding_constraint %arg0 {dist.sharding = #dist.sharding<@mesh, [{}, {}]>
    // OUT: sdy.sharding_constraint %arg0 <@mesh, [{}, {}]> : tensor<4x4xf32>
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{}, {}]> : tensor<4x4xf32>
    %1 = stablehlo.add %0, %0 : tensor<4x4xf32>
    return %1 : tensor<4x4xf32>
  }
}
