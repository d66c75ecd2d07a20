// Ops that are read as others: every expected value is worked out by hand.
func.func @dot() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %v = stablehlo.constant dense<[1, 10, 100]> : tensor<3xi32>
  %w = stablehlo.constant dense<[1, 10]> : tensor<2xi32>
  %n = stablehlo.constant dense<[[1, 0], [0, 1], [1, 1]]> : tensor<3x2xi32>
  %0 = stablehlo.dot %m, %n, precision = [HIGH, HIGH] : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[4, 5], [10, 11]]> : tensor<2x2xi32>
  %1 = "stablehlo.dot"(%m, %v) : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2xi32>
  check.expect_eq_const %1, dense<[321, 654]> : tensor<2xi32>
  %2 = stablehlo.dot %w, %m : (tensor<2xi32>, tensor<2x3xi32>) -> tensor<3xi32>
  check.expect_eq_const %2, dense<[41, 52, 63]> : tensor<3xi32>
  %3 = stablehlo.dot %v, %v : (tensor<3xi32>, tensor<3xi32>) -> tensor<i32>
  check.expect_eq_const %3, dense<10101> : tensor<i32>
  return
}
func.func @broadcast() {
  %v = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %0 = stablehlo.broadcast %v, sizes = [1, 3] : (tensor<2xi32>) -> tensor<1x3x2xi32>
  check.expect_eq_const %0, dense<[[[1, 2], [1, 2], [1, 2]]]> : tensor<1x3x2xi32>
  %1 = "stablehlo.broadcast"(%v) <{broadcast_sizes = dense<[2]> : tensor<1xi64>}> : (tensor<2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[1, 2], [1, 2]]> : tensor<2x2xi32>
  %2 = stablehlo.broadcast %v, sizes = [] : (tensor<2xi32>) -> tensor<2xi32>
  check.expect_eq_const %2, dense<[1, 2]> : tensor<2xi32>
  return
}
func.func @einsum() {
  %a = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %b = stablehlo.constant dense<[[1, 0], [0, 1], [1, 1]]> : tensor<3x2xi32>
  %0 = stablehlo.einsum %a, %b, config = "ab,bc->ac" : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %0, dense<[[4, 5], [10, 11]]> : tensor<2x2xi32>
  %1 = "stablehlo.einsum"(%a, %b) <{einsum_config = "ab, bc -> ca"}> : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x2xi32>
  check.expect_eq_const %1, dense<[[4, 10], [5, 11]]> : tensor<2x2xi32>
  // A batch dimension, last in the result.
  %2 = stablehlo.einsum %a, %b, config = "ab,bc->cb" : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %2, dense<[[5, 0, 9], [0, 7, 9]]> : tensor<2x3xi32>
  // All labels of the second operand are its own: 4 times the sum of a row.
  %3 = stablehlo.einsum %a, %b, config = "ab,cd->a" : (tensor<2x3xi32>, tensor<3x2xi32>) -> tensor<2xi32>
  check.expect_eq_const %3, dense<[24, 60]> : tensor<2xi32>
  %4 = stablehlo.einsum %a, %a, config = "...,...->..." : (tensor<2x3xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %4, dense<[[1, 4, 9], [16, 25, 36]]> : tensor<2x3xi32>
  %5 = stablehlo.unary_einsum %a, config = "ab->b" : (tensor<2x3xi32>) -> tensor<3xi32>
  check.expect_eq_const %5, dense<[5, 7, 9]> : tensor<3xi32>
  %6 = "stablehlo.unary_einsum"(%a) {einsum_config = "a...->...a"} : (tensor<2x3xi32>) -> tensor<3x2xi32>
  check.expect_eq_const %6, dense<[[1, 4], [2, 5], [3, 6]]> : tensor<3x2xi32>
  return
}
func.func @torch_index_select() {
  %x = stablehlo.constant dense<[[[100, 101], [110, 111]], [[200, 201], [210, 211]]]> : tensor<2x2x2xi32>
  %i = stablehlo.constant dense<[[[0, 1], [1, 0]], [[0, 0], [1, 1]]]> : tensor<2x2x2xi32>
  %0 = "stablehlo.torch_index_select"(%x, %i) <{batch_dims = -1 : i64, dim = -1 : i64}> : (tensor<2x2x2xi32>, tensor<2x2x2xi32>) -> tensor<2x2x2xi32>
  check.expect_eq_const %0, dense<[[[100, 101], [111, 110]], [[200, 200], [211, 211]]]> : tensor<2x2x2xi32>
  %j = stablehlo.constant dense<[1, 1, 0]> : tensor<3xi32>
  %1 = stablehlo.torch_index_select %x, %j, dim = 1, batch_dims = 0 : (tensor<2x2x2xi32>, tensor<3xi32>) -> tensor<2x3x2xi32>
  check.expect_eq_const %1, dense<[[[110, 111], [110, 111], [100, 101]], [[210, 211], [210, 211], [200, 201]]]> : tensor<2x3x2xi32>
  %s = stablehlo.constant dense<1> : tensor<i32>
  %2 = "stablehlo.torch_index_select"(%x, %s) <{batch_dims = 0 : i64, dim = 0 : i64}> : (tensor<2x2x2xi32>, tensor<i32>) -> tensor<2x2xi32>
  check.expect_eq_const %2, dense<[[200, 201], [210, 211]]> : tensor<2x2xi32>
  return
}
func.func @chlo() {
  %m = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
  %v = stablehlo.constant dense<[10, 20, 30]> : tensor<3xi32>
  %w = stablehlo.constant dense<[100, 200]> : tensor<2xi32>
  %c = stablehlo.constant dense<[[1], [2]]> : tensor<2x1xi32>
  %s = chlo.constant dense<7> : tensor<i32>
  %0 = chlo.broadcast_add %m, %v : (tensor<2x3xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %0, dense<[[11, 22, 33], [14, 25, 36]]> : tensor<2x3xi32>
  %1 = chlo.broadcast_subtract %w, %m {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %1, dense<[[99, 98, 97], [196, 195, 194]]> : tensor<2x3xi32>
  %2 = "chlo.broadcast_multiply"(%c, %v) : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %2, dense<[[10, 20, 30], [20, 40, 60]]> : tensor<2x3xi32>
  %3 = chlo.broadcast_maximum %s, %v : (tensor<i32>, tensor<3xi32>) -> tensor<3xi32>
  check.expect_eq_const %3, dense<[10, 20, 30]> : tensor<3xi32>
  %4 = chlo.broadcast_compare %m, %c {comparison_direction = #chlo<comparison_direction GT>, compare_type = #chlo<comparison_type SIGNED>} : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x3xi1>
  check.expect_eq_const %4, dense<[[false, true, true], [true, true, true]]> : tensor<2x3xi1>
  %5 = "chlo.broadcast_select"(%4, %s, %m) : (tensor<2x3xi1>, tensor<i32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %5, dense<[[1, 7, 7], [7, 7, 7]]> : tensor<2x3xi32>
  %6 = "chlo.constant_like"(%m) <{value = -2 : i32}> : (tensor<2x3xi32>) -> tensor<2x3xi32>
  check.expect_eq_const %6, dense<-2> : tensor<2x3xi32>
  %e = stablehlo.constant dense<1.0> : tensor<0x3xf32>
  %o = stablehlo.constant dense<1.0> : tensor<1x3xf32>
  %7 = chlo.broadcast_divide %e, %o : (tensor<0x3xf32>, tensor<1x3xf32>) -> tensor<0x3xf32>
  check.expect_eq_const %7, dense<> : tensor<0x3xf32>
  return
}
