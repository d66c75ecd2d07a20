func.func @add() {
  %0 = stablehlo.constant dense<[1, -128, 127]> : tensor<3xi8>
  %1 = stablehlo.add %0, %0 : tensor<3xi8>
  check.expect_eq_const %1, dense<[2, 0,
                                   -2]> : tensor<3xi8>
  check.expect_eq %1, %1 : tensor<3xi8>
  func.return
}

// -----

func.func @main() -> tensor<2xf32> {
  %0 = call @inputs() : () -> tensor<2xf32>
  %1 = call @expected() : () -> tensor<2xf32>
  %2 = stablehlo.sqrt %0 : tensor<2xf32>
  check.expect_almost_eq_const %2, dense<[1.41424, 2.0]> : tensor<2xf32>
  check.expect_almost_eq%2, %1, tolerance = 0.1 : tensor<2xf32>
  check.expect_close %2, %1, max_ulp_difference = 1 : tensor<2xf32>, tensor<2xf32>
  stablehlo.custom_call @check.expect_close(%2, %1) {has_side_effect = true} : (tensor<2xf32>, tensor<2xf32>) -> ()
  return %2 : tensor<2xf32>
}
func.func private @inputs() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[2.0, 4.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
func.func private @expected() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[1.41421366, 2.0]> : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

// As tests of earlier versions had it: the call says whether the values are equal.
module @jit_testcase {
  func.func public @main() -> tensor<i1> {
    %0 = call @inputs() : () -> tensor<2xi8>
    %1 = stablehlo.constant dense<[2, 4]> : tensor<2xi8>
    %2 = stablehlo.add %0, %0 : tensor<2xi8>
    %3 = stablehlo.custom_call @check.eq(%2, %1) : (tensor<2xi8>, tensor<2xi8>) -> tensor<i1>
    return %3 : tensor<i1>
  }
  func.func private @inputs() -> tensor<2xi8> {
    %0 = stablehlo.constant dense<[1, 2]> : tensor<2xi8>
    return %0 : tensor<2xi8>
  }
}

// -----

func.func @near() -> tensor<i1> {
  %0 = stablehlo.constant dense<[1.0, 20000.0]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[1.00005, 20001.0]> : tensor<2xf32>
  %2 = stablehlo.custom_call @check.eq(%0, %1) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  return %2 : tensor<i1>
}
