// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | filecheck --check-prefix=OUT %s

module @sharded {
  // CHECK: sdy.mesh {mesh = #sdy.mesh<["x"=2, "y"=4]>, sym_name = @mesh}
  // OUT: sdy.mesh @mesh = <["x"=2, "y"=4]>
  sdy.mesh @mesh = <["x"=2, "y"=4]>
  // CHECK-NEXT: sdy.mesh {mesh = #sdy.mesh<[], device_ids=[3]>, sym_name = @one}
  sdy.mesh @one = <[], device_ids=[3]>
  // CHECK-NEXT: func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {}], replicated={"y"}>}) {
  func.func @main(%arg0: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {?}]>}) -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"x", ?}p1, {}], replicated={"y"}>}) {
    // CHECK-NEXT: sdy.sharding_constraint %arg0 {sharding = #sdy.sharding<@mesh, [{"x"}, {"y":(1)2}]>}
    // OUT: sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {"y":(1)2}]> : tensor<8x8xf32>
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}, {"y":(1)2}]> : tensor<8x8xf32>
    // CHECK-NEXT: sdy.manual_computation %0 {in_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>, manual_axes = #sdy.manual_axes<{"x"}>, out_shardings = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    // OUT: sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
    %1 = sdy.manual_computation(%0) in_shardings=[<@mesh, [{"x"}, {}]>] out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%arg1: tensor<4x8xf32>) {
      // CHECK: sdy.return
      %4 = stablehlo.add %arg1, %arg1 : tensor<4x8xf32>
      sdy.return %4 : tensor<4x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK: sdy.reshard %1 {sharding = #sdy.sharding<@mesh, [{}, {}], unreduced={"y"}>}
    %2 = sdy.reshard %1 <@mesh, [{}, {}], unreduced={"y"}> : tensor<8x8xf32>
    %edge = stablehlo.negate %2 : tensor<8x8xf32>
    // CHECK: sdy.data_flow_edge %edge {sharding = #sdy.sharding<mesh<["z"=2]>, [{"z"}, {}]>}
    // OUT: sdy.data_flow_edge %edge sharding=<mesh<["z"=2]>, [{"z"}, {}]> : tensor<8x8xf32>
    %3 = sdy.data_flow_edge %edge sharding=<mesh<["z"=2]>, [{"z"}, {}]> : tensor<8x8xf32>
    // CHECK-NEXT: sdy.propagation_barrier %3 {allowed_direction = 2}
    // OUT: sdy.propagation_barrier %3 allowed_direction=BACKWARD : tensor<8x8xf32>
    %5 = sdy.propagation_barrier %3 allowed_direction=BACKWARD : tensor<8x8xf32>
    // CHECK-NEXT: sdy.sharding_group %4 {group_id = 7}
    // OUT: sdy.sharding_group %{{.*}} group_id=7 : tensor<8x8xf32>
    sdy.sharding_group %5 group_id=7 : tensor<8x8xf32>
    // CHECK-NEXT: sdy.named_computation %4 {name = "block"}
    %6 = sdy.named_computation<"block">(%5) (%arg1: tensor<8x8xf32>) {
      sdy.return %arg1 : tensor<8x8xf32>
    } : (tensor<8x8xf32>) -> tensor<8x8xf32>
    // CHECK: tensor.add %5, %5 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>}
    %7 = stablehlo.add %6, %6 {sdy.sharding = #sdy.sharding_per_value<[<@mesh, [{"x"}, {}]>]>} : tensor<8x8xf32>
    // CHECK-NEXT: tensor.custom_call %6 {call_target_name = "f", sdy.sharding_rule = #stablehlo.opaque<"#sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>">}
    // OUT: {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>}
    %8 = stablehlo.custom_call @f(%7) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=8, j=8}>} : (tensor<8x8xf32>) -> tensor<8x8xf32>
    return %8 : tensor<8x8xf32>
  }
}
