// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | filecheck --check-prefix=OUT %s

// What programs of the StableHLO project expect of their values.
// CHECK-LABEL: func @f(
func.func @f(%x: tensor<2xf32>, %y: tensor<2xf32>) {
  // CHECK: check.expect_eq %x, %y
  // OUT: check.expect_eq %x, %y : tensor<2xf32>
  check.expect_eq %x, %y : tensor<2xf32>
  // CHECK-NEXT: check.expect_eq_const %x {value = dense<1.0> : tensor<2xf32>}
  // OUT-NEXT: check.expect_eq_const %x, dense<1.0> : tensor<2xf32>
  check.expect_eq_const %x, dense<1.0> : tensor<2xf32>
  // CHECK-NEXT: check.expect_almost_eq %x, %y {tolerance = 0.1}
  // OUT-NEXT: check.expect_almost_eq %x, %y, tolerance = 0.1 : tensor<2xf32>
  check.expect_almost_eq %x, %y {tolerance = 0.1} : tensor<2xf32>
  // CHECK-NEXT: check.expect_almost_eq_const %y {value = dense<[1.0, 2.0]> : tensor<2xf32>}
  // OUT-NEXT: check.expect_almost_eq_const %y, dense<[1.0, 2.0]> : tensor<2xf32>
  "check.expect_almost_eq_const"(%y) <{value = dense<[1.0, 2.0]> : tensor<2xf32>}> : (tensor<2xf32>) -> ()
  // CHECK-NEXT: check.expect_close %x, %y {max_ulp_difference = 3, min_ulp_difference = 1}
  // OUT-NEXT: check.expect_close %x, %y, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  check.expect_close %x, %y, max_ulp_difference = 3, min_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  return
}
