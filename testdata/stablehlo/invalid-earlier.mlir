// RUN: tofu-opt %s --from=stablehlo --split-input-file --verify-diagnostics

// Ops that are read as others are spoken of under their own names.
func.func @f(%m: tensor<2x3xf32>, %c: tensor<2x3x4xf32>, %s: tensor<f32>, %d: tensor<?x3xf32>, %v: tensor<3xf32>, %i: tensor<2xi32>) {
  // expected-error@+1 {{`stablehlo.dot` takes vectors and matrices, and this has 3 dimensions}}
  %0 = stablehlo.dot %m, %c : (tensor<2x3xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{`stablehlo.dot` takes vectors and matrices, and this has no dimensions}}
  %1 = stablehlo.dot %s, %s : (tensor<f32>, tensor<f32>) -> tensor<f32>
  // expected-error@+1 {{`stablehlo.dot` takes 2 operands, not 1}}
  %2 = "stablehlo.dot"(%m) : (tensor<2x3xf32>) -> tensor<f32>
  // expected-error@+1 {{`stablehlo.dot` has no attribute `contracting_dims`}}
  %3 = "stablehlo.dot"(%m, %v) {contracting_dims = 1} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{the result of `stablehlo.broadcast` must have the sizes and then the dimensions of its operand}}
  %4 = stablehlo.broadcast %v, sizes = [2] : (tensor<3xf32>) -> tensor<3x3xf32>
  // expected-error@+1 {{the result of `stablehlo.broadcast` must have}}
  %5 = stablehlo.broadcast %v, sizes = [-2] : (tensor<3xf32>) -> tensor<3x3xf32>
  // expected-error@+1 {{`stablehlo.broadcast` needs the attribute `broadcast_sizes`}}
  %6 = stablehlo.broadcast %v : (tensor<3xf32>) -> tensor<3x3xf32>
  // expected-error@+1 {{`aab` does not name the 2 dimensions of its tensor}}
  %7 = stablehlo.einsum %m, %v, config = "aab,b->a" : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{`aa` names two dimensions of one tensor alike}}
  %8 = stablehlo.unary_einsum %m, config = "aa->a" : (tensor<2x3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{a label stands for dimensions of different extents}}
  %9 = stablehlo.einsum %m, %v, config = "ab,a->b" : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<3xf32>
  // expected-error@+1 {{a label of the result is none of an operand}}
  %10 = stablehlo.unary_einsum %m, config = "ab->ac" : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{it must say `->` and the labels of the result}}
  %11 = stablehlo.einsum %m, %v, config = "ab,b" : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2xf32>
  // expected-error@+1 {{`stablehlo.torch_index_select` asks for `batch_dims <= dim`}}
  %12 = stablehlo.torch_index_select %m, %i, dim = 0, batch_dims = 1 : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  // expected-error@+1 {{`dim` must be the number of a dimension}}
  %13 = stablehlo.torch_index_select %m, %i, dim = -3, batch_dims = 0 : (tensor<2x3xf32>, tensor<2xi32>) -> tensor<2x3xf32>
  // expected-error@+1 {{an extent of 3 cannot be brought to 4}}
  %14 = chlo.broadcast_add %c, %v : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
  // expected-error@+1 {{`chlo.broadcast_add` is read for tensors of known extents only}}
  %15 = chlo.broadcast_add %d, %v : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
  // expected-error@+1 {{`broadcast_dimensions` must name a dimension of the result for each of the operand's 1, in order}}
  %16 = chlo.broadcast_add %m, %v {broadcast_dimensions = array<i64: 2>} : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{there is no op `chlo.broadcast_nothing`}}
  %17 = chlo.broadcast_nothing %m, %v : (tensor<2x3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{the value of `chlo.constant_like` is of `i32`, but its result of `f32`}}
  %18 = "chlo.constant_like"(%m) {value = 1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  // expected-error@+1 {{`chlo.constant_like` is read for tensors of known extents only}}
  %19 = "chlo.constant_like"(%d) {value = 1.0 : f32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
  return
}
