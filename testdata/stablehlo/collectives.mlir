// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | filecheck --check-prefix=OUT %s

// Shardy's collectives, pretty and generic.
module {
  sdy.mesh @mesh = <["a"=2, "b"=2, "c"=2]>
  func.func @f(%x: tensor<8x8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a", "b"}, {"c"}, {}]>}) {
    // CHECK: %0 = sdy.all_gather %x {gathering_axes = #sdy.list_of_axis_ref_lists<[{"b"}, {"c"}, {}]>, out_sharding = #sdy.sharding<@mesh, [{"a"}, {}, {}]>}
    // OUT: %0 = sdy.all_gather [{"b"}, {"c"}, {}] %x out_sharding=<@mesh, [{"a"}, {}, {}]> : tensor<8x8x8xf32>
    %0 = sdy.all_gather [{"b"}, {"c"}, {}] %x out_sharding=<@mesh, [{"a"}, {}, {}]> : tensor<8x8x8xf32>
    // CHECK-NEXT: %1 = sdy.all_slice %0 {out_sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}]>, slicing_axes = #sdy.list_of_axis_ref_lists<[{}, {"b"}, {"c"}]>}
    // OUT-NEXT: %1 = sdy.all_slice [{}, {"b"}, {"c"}] %0 out_sharding=<@mesh, [{"a"}, {"b"}, {"c"}]> : tensor<8x8x8xf32>
    %1 = "sdy.all_slice"(%0) <{out_sharding = #sdy.sharding<@mesh, [{"a"}, {"b"}, {"c"}]>, slicing_axes = #sdy<list_of_axis_ref_lists[{}, {"b"}, {"c"}]>}> : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    // CHECK-NEXT: %2 = sdy.all_to_all %1 {out_sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}, {"c"}]>, params = #sdy.all_to_all_param_list<[{"b"}: 1->0]>}
    // OUT-NEXT: %2 = sdy.all_to_all [{"b"}: 1->0] %1 out_sharding=<@mesh, [{"a", "b"}, {}, {"c"}]> : tensor<8x8x8xf32>
    %2 = "sdy.all_to_all"(%1) <{out_sharding = #sdy.sharding<@mesh, [{"a", "b"}, {}, {"c"}]>, params = #sdy<all_to_all_param_list[{"b"}: 1->0]>}> : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    // CHECK-NEXT: %3 = sdy.collective_permute %2 {out_sharding = #sdy.sharding<@mesh, [{"b", "a"}, {}, {"c"}]>}
    // OUT-NEXT: %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"b", "a"}, {}, {"c"}]> : tensor<8x8x8xf32>
    %3 = sdy.collective_permute %2 out_sharding=<@mesh, [{"b", "a"}, {}, {"c"}]> : tensor<8x8x8xf32>
    // CHECK-NEXT: %4 = sdy.all_reduce %3 {out_sharding = #sdy.sharding<@mesh, [{"b", "a"}, {}, {}]>, reduction_axes = #sdy.axis_ref_list<{"c"}>}
    // OUT-NEXT: %4 = sdy.all_reduce {"c"} %3 out_sharding=<@mesh, [{"b", "a"}, {}, {}]> : tensor<8x8x8xf32>
    %4 = "sdy.all_reduce"(%3) <{out_sharding = #sdy.sharding<@mesh, [{"b", "a"}, {}, {}]>, reduction_axes = #sdy<axis_ref_list{"c"}>}> : (tensor<8x8x8xf32>) -> tensor<8x8x8xf32>
    // CHECK-NEXT: %5 = sdy.reduce_scatter %4
    // OUT-NEXT: %5 = sdy.reduce_scatter [{}, {"c"}, {}] %4 out_sharding=<@mesh, [{"b", "a"}, {"c"}, {}]> {mhlo.note = 1 : i64} : tensor<8x8x8xf32>
    %5 = sdy.reduce_scatter [{}, {"c"}, {}] %4 out_sharding=<@mesh, [{"b", "a"}, {"c"}, {}]> {mhlo.note = 1} : tensor<8x8x8xf32>
    // CHECK-NEXT: %6 = sdy.sharded_to_unreduced %5
    // OUT-NEXT: %6 = sdy.sharded_to_unreduced [{}, {"c"}, {}] %5 out_sharding=<@mesh, [{"b", "a"}, {}, {}], unreduced={"c"}> : tensor<8x8x8xf32>
    %6 = sdy.sharded_to_unreduced [{}, {"c"}, {}] %5 out_sharding=<@mesh, [{"b", "a"}, {}, {}], unreduced={"c"}> : tensor<8x8x8xf32>
    // CHECK-NEXT: %7 = sdy.replicated_to_unreduced %4
    // OUT-NEXT: %7 = sdy.replicated_to_unreduced {"c"} %4 out_sharding=<@mesh, [{"b", "a"}, {}, {}], unreduced={"c"}> : tensor<8x8x8xf32>
    %7 = sdy.replicated_to_unreduced {"c"} %4 out_sharding=<@mesh, [{"b", "a"}, {}, {}], unreduced={"c"}> : tensor<8x8x8xf32>
    return
  }
}
