// RUN: tofu-opt %s --from=stablehlo --split-input-file --verify-diagnostics

sdy.mesh @mesh = <["x"=2, "y"=4]>
sdy.mesh @other = <["x"=2]>
// expected-error@+1 {{the sharding has one dimension, but the tensor 2}}
func.func @ranks(%x: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}]>},
    // expected-error@+1 {{the mesh has no axis `z`}}
    %y: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"z"}]>},
    // expected-error@+1 {{axis `x` is used twice}}
    %z: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {"y", "x"}]>},
    // expected-error@+1 {{the mesh has no axis `y:(3)2`}}
    %u: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y":(3)2}]>},
    // expected-error@+1 {{`y` and `y:(1)2` are used, which have devices in common}}
    %v: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"y"}], replicated={"y":(1)2}>},
    // expected-error@+1 {{the mesh has no axis `y`}}
    %w: tensor<8xf32> {sdy.sharding = #sdy.sharding<@other, [{}], unreduced={"y"}>},
    // expected-error@+1 {{`@ranks` is no mesh}}
    %m: tensor<8xf32> {sdy.sharding = #sdy.sharding<@ranks, [{}]>}
    ) -> tensor<8xf32> {
  // expected-error@+1 {{the op has one result, but 2 shardings are written for them}}
  %0 = stablehlo.add %y, %y {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{}]>, <@mesh, [{}]>]>} : tensor<8xf32>
  // expected-error@+1 {{the mesh has no axis `z`}}
  %1 = stablehlo.add %0, %0 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"z"}]>]>} : tensor<8xf32>
  // expected-error@+1 {{the sharding has 2 dimensions, but the tensor 1}}
  %2 = sdy.sharding_constraint %1 <@mesh, [{}, {}]> : tensor<8xf32>
  // expected-error@+1 {{the mesh has no axis `x`}}
  %3 = sdy.reshard %2 <mesh<["z"=2]>, [{"x"}]> : tensor<8xf32>
  // expected-error@+1 {{the op has one operand, but no shardings are written for them}}
  %4 = sdy.manual_computation(%3) in_shardings=[] out_shardings=[<@mesh, [{"x"}]>] manual_axes={"x"} (%a: tensor<4xf32>) {
    sdy.return %a : tensor<4xf32>
  } : (tensor<8xf32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
// expected-error@+1 {{the sharding has no dimensions, but the tensor 1}}
func.func private @result(%x: tensor<8xf32>) -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, []>})
func.func @collectives(%x: tensor<8x8xf32>) {
  // expected-error@+1 {{one list of axes for a tensor of 2 dimensions}}
  %0 = sdy.all_gather [{"x"}] %x out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  // expected-error@+1 {{the mesh has no axis `z`}}
  %1 = sdy.all_reduce {"z"} %x out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  // expected-error@+1 {{axis `x` is used twice}}
  %2 = sdy.all_slice [{"x"}, {"x"}] %x out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  // expected-error@+1 {{there is no dimension 2 in a tensor of 2}}
  %3 = sdy.all_to_all [{"x"}: 0->2] %x out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  // expected-error@+1 {{the sharding has one dimension, but the tensor 2}}
  %4 = sdy.collective_permute %x out_sharding=<@mesh, [{}]> : tensor<8x8xf32>
  return
}

// -----

sdy.mesh @mesh = <["x"=2, "y"=4]>
func.func @syntax(%x: tensor<8x8xf32>) {
  // expected-error@+1 {{expected `->`}}
  %5 = sdy.all_to_all [{"x"}: 0-1] %x out_sharding=<@mesh, [{}, {}]> : tensor<8x8xf32>
  // expected-error@+1 {{expected `out_sharding`}}
  %6 = sdy.reduce_scatter [{}, {"x"}] %x <@mesh, [{}, {}]> : tensor<8x8xf32>
  return
}

// -----

// expected-error@+1 {{there are two axes `x`}}
sdy.mesh @twice = <["x"=2, "x"=4]>
// expected-error@+1 {{axis `y` has no devices}}
sdy.mesh @none = <["y"=0]>
// expected-error@+1 {{more than}}
sdy.mesh @huge = <["x"=9223372036854775807]>
