// Ops whose shape is an operand, which is a constant.
func.func @shapes() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %shape = stablehlo.constant dense<[1, 4]> : tensor<2xi64>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<2x2xi64>, tensor<2xi64>) -> tensor<1x4xi64>
  check.expect_eq_const %0, dense<[[1, 2, 3, 4]]> : tensor<1x4xi64>
  %1 = stablehlo.dynamic_iota %shape, dim = 1 : (tensor<2xi64>) -> tensor<1x4xi64>
  check.expect_eq_const %1, dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>
  %wide = stablehlo.constant dense<[3, 2, 2]> : tensor<3xi32>
  %2 = "stablehlo.dynamic_broadcast_in_dim"(%x, %wide) {
    broadcast_dimensions = array<i64: 2, 1>,
    known_expanding_dimensions = array<i64>,
    known_nonexpanding_dimensions = array<i64: 0>
  } : (tensor<2x2xi64>, tensor<3xi32>) -> tensor<3x2x2xi64>
  check.expect_eq_const %2, dense<[[[1, 3], [2, 4]], [[1, 3], [2, 4]], [[1, 3], [2, 4]]]> : tensor<3x2x2xi64>
  func.return
}
func.func @boxes() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %none = stablehlo.constant dense<0> : tensor<2xi64>
  %some = stablehlo.constant dense<[1, 0]> : tensor<2xi64>
  %value = stablehlo.constant dense<9> : tensor<i64>
  %0 = stablehlo.dynamic_pad %x, %value, %none, %some, %some : (tensor<2x2xi64>, tensor<i64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<4x2xi64>
  check.expect_eq_const %0, dense<[[1, 2], [9, 9], [3, 4], [9, 9]]> : tensor<4x2xi64>
  %limit = stablehlo.constant dense<2> : tensor<2xi64>
  %stride = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
  %1 = stablehlo.real_dynamic_slice %x, %some, %limit, %stride : (tensor<2x2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x1xi64>
  check.expect_eq_const %1, dense<3> : tensor<1x1xi64>
  %at = stablehlo.constant dense<[[1, 0], [7, 7]]> : tensor<2x2xi32>
  %sizes = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %2 = "stablehlo.dynamic_gather"(%x, %at, %sizes) {
    dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 1>,
    indices_are_sorted = false,
    slice_sizes = array<i64: 1, 2>
  } : (tensor<2x2xi64>, tensor<2x2xi32>, tensor<2xi32>) -> tensor<2x2xi64>
  check.expect_eq_const %2, dense<[[3, 4], [3, 4]]> : tensor<2x2xi64>
  %image = stablehlo.reshape %x : (tensor<2x2xi64>) -> tensor<1x2x2x1xi64>
  %kernel = stablehlo.constant dense<1> : tensor<2x2x1x1xi64>
  %padding = stablehlo.constant dense<[[1, 0], [0, 1]]> : tensor<2x2xi32>
  %3 = stablehlo.dynamic_conv(%image, %kernel, %padding) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x2x1xi64>, tensor<2x2x1x1xi64>, tensor<2x2xi32>) -> tensor<1x2x2x1xi64>
  %4 = stablehlo.reshape %3 : (tensor<1x2x2x1xi64>) -> tensor<2x2xi64>
  check.expect_eq_const %4, dense<[[3, 2], [10, 6]]> : tensor<2x2xi64>
  func.return
}
// A shape that says something else than the result's type is none.
func.func @contradiction() {
  %x = stablehlo.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>
  %shape = stablehlo.constant dense<[4, 1]> : tensor<2xi64>
  %0 = stablehlo.dynamic_reshape %x, %shape : (tensor<2x2xi64>, tensor<2xi64>) -> tensor<1x4xi64>
  check.expect_eq_const %0, dense<[[1, 2, 3, 4]]> : tensor<1x4xi64>
  func.return
}
