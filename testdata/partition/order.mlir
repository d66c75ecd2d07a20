// RUN: tofu-opt %s --quiet --partition --verify-diagnostics

// A plan numbers devices in their order.
sdy.mesh @mesh = <["x"=2], device_ids=[1, 0]>
// expected-error@+1 {{this sharding cannot be kept: the devices of its mesh are in another order than 0, 1, 2, …}}
func.func @main(%arg0: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>}) -> tensor<4xf32> {
  return %arg0 : tensor<4xf32>
}
