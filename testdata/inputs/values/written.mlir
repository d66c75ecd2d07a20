// batch_norm_inference
// rounding: 100, sums in another order
module {
  func.func @main(%x: tensor<2x3x4xf32>, %scale: tensor<4xf32>, %offset: tensor<4xf32>, %mean: tensor<4xf32>) -> tensor<2x3x4xf32> {
    %variance = stablehlo.multiply %mean, %mean : tensor<4xf32>
    %0 = "stablehlo.batch_norm_inference"(%x, %scale, %offset, %mean, %variance) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    return %0 : tensor<2x3x4xf32>
  }
}
// -----
// batch_norm_training
// rounding: 100, sums in another order
module {
  func.func @main(%x: tensor<2x3x4xf32>, %scale: tensor<3xf32>, %offset: tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) {
    %0:3 = "stablehlo.batch_norm_training"(%x, %scale, %offset) <{epsilon = 1.000000e-03 : f32, feature_index = 1 : i64}> : (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>)
    return %0#0, %0#1, %0#2 : tensor<2x3x4xf32>, tensor<3xf32>, tensor<3xf32>
  }
}
// -----
// batch_norm_grad
// rounding: 1000, sums in another order and their small differences
module {
  func.func @main(%x: tensor<2x3x4xf32>, %scale: tensor<4xf32>, %mean: tensor<4xf32>, %gradient: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) {
    %one = stablehlo.constant dense<1.0> : tensor<4xf32>
    %square = stablehlo.multiply %mean, %mean : tensor<4xf32>
    %variance = stablehlo.add %square, %one : tensor<4xf32>
    %0:3 = "stablehlo.batch_norm_grad"(%x, %scale, %mean, %variance, %gradient) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
    return %0#0, %0#1, %0#2 : tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>
  }
}
// -----
// map
module {
  func.func @main(%x: tensor<2x3xf32>, %y: tensor<2x3xf32>) -> tensor<2x3xf32> {
    %0 = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.multiply %a, %b : tensor<f32>
      %2 = stablehlo.subtract %1, %b : tensor<f32>
      stablehlo.return %2 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %0 : tensor<2x3xf32>
  }
}
// -----
// tuples
module {
  func.func @main(%x: tensor<4xf32>, %y: tensor<2xi32>) -> (tensor<2xi32>, tensor<4xf32>) {
    %0 = stablehlo.tuple %x, %y : tuple<tensor<4xf32>, tensor<2xi32>>
    %1 = stablehlo.get_tuple_element %0[1] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<2xi32>
    %2 = stablehlo.get_tuple_element %0[0] : (tuple<tensor<4xf32>, tensor<2xi32>>) -> tensor<4xf32>
    return %1, %2 : tensor<2xi32>, tensor<4xf32>
  }
}
// -----
// composite
module {
  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.composite "my.twice" %x {composite_attributes = {n = 2 : i64}, decomposition = @twice, version = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
  func.func private @twice(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %x, %x : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
// -----
// if
module {
  func.func @main(%p: tensor<2xi1>, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %t = stablehlo.constant dense<true> : tensor<i1>
    %f = stablehlo.constant dense<false> : tensor<i1>
    %0 = "stablehlo.if"(%t) ({
      %2 = stablehlo.negate %x : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }, {
      stablehlo.return %x : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %1 = "stablehlo.if"(%f) ({
      stablehlo.return %x : tensor<4xf32>
    }, {
      %2 = stablehlo.add %x, %0 : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
// -----
// case_outside
module {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %low = stablehlo.constant dense<-3> : tensor<i32>
    %high = stablehlo.constant dense<2> : tensor<i32>
    %0 = "stablehlo.case"(%low) ({
      stablehlo.return %x : tensor<4xf32>
    }, {
      %2 = stablehlo.negate %x : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    %1 = "stablehlo.case"(%high) ({
      stablehlo.return %x : tensor<4xf32>
    }, {
      %2 = stablehlo.abs %x : tensor<4xf32>
      stablehlo.return %2 : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
// -----
// classes_of_numbers
module {
  func.func @main() -> (tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>) {
    %x = stablehlo.constant dense<[0.0, -0.0, 1.0, -3.0e38, 0x7FC00000, 0x7F800000, 0xFF800000]> : tensor<7xf32>
    %0 = chlo.is_inf %x : tensor<7xf32> -> tensor<7xi1>
    %1 = chlo.is_neg_inf %x : tensor<7xf32> -> tensor<7xi1>
    %2 = chlo.is_pos_inf %x : tensor<7xf32> -> tensor<7xi1>
    %3 = stablehlo.is_finite %x : (tensor<7xf32>) -> tensor<7xi1>
    return %0, %1, %2, %3 : tensor<7xi1>, tensor<7xi1>, tensor<7xi1>, tensor<7xi1>
  }
}
// -----
// rounding_of_halves
module {
  func.func @main() -> (tensor<8xf32>, tensor<8xf32>) {
    %x = stablehlo.constant dense<[0.5, 1.5, 2.5, -0.5, -1.5, 0.49999997, -2.5, 8388609.0]> : tensor<8xf32>
    %0 = stablehlo.round_nearest_afz %x : tensor<8xf32>
    %1 = stablehlo.round_nearest_even %x : tensor<8xf32>
    return %0, %1 : tensor<8xf32>, tensor<8xf32>
  }
}
// -----
// reduce_precision
module {
  func.func @main(%x: tensor<4x6xf32>) -> (tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<3xf32>) {
    %0 = stablehlo.reduce_precision %x, format = e8m0 : tensor<4x6xf32>
    %1 = stablehlo.reduce_precision %x, format = e2m3 : tensor<4x6xf32>
    %2 = stablehlo.reduce_precision %x, format = e11m52 : tensor<4x6xf32>
    %far = stablehlo.constant dense<[65520.0, 65519.0, -1.0e-20]> : tensor<3xf32>
    %3 = stablehlo.reduce_precision %far, format = e5m10 : tensor<3xf32>
    return %0, %1, %2, %3 : tensor<4x6xf32>, tensor<4x6xf32>, tensor<4x6xf32>, tensor<3xf32>
  }
}
// -----
// clamp_by_scalars
module {
  func.func @main(%x: tensor<4x6xf32>, %y: tensor<6xi8>) -> (tensor<4x6xf32>, tensor<6xi8>) {
    %low = stablehlo.constant dense<-5.000000e-01> : tensor<f32>
    %high = stablehlo.constant dense<2.500000e-01> : tensor<f32>
    %0 = stablehlo.clamp %low, %x, %high : (tensor<f32>, tensor<4x6xf32>, tensor<f32>) -> tensor<4x6xf32>
    %a = stablehlo.constant dense<3> : tensor<i8>
    %b = stablehlo.constant dense<1> : tensor<i8>
    %1 = stablehlo.clamp %a, %y, %b : (tensor<i8>, tensor<6xi8>, tensor<i8>) -> tensor<6xi8>
    return %0, %1 : tensor<4x6xf32>, tensor<6xi8>
  }
}
// -----
// cholesky
// rounding: 100, sums in another order
module {
  func.func @main(%x: tensor<2x4x4xf32>, %y: tensor<3x3xcomplex<f64>>) -> (tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<3x3xcomplex<f64>>) {
    %0 = stablehlo.dot_general %x, %x, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<2x4x4xf32>, tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
    %1 = stablehlo.iota dim = 1 : tensor<2x4x4xi32>
    %2 = stablehlo.iota dim = 2 : tensor<2x4x4xi32>
    %3 = stablehlo.compare EQ, %1, %2 : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
    %4 = stablehlo.convert %3 : (tensor<2x4x4xi1>) -> tensor<2x4x4xf32>
    %5 = stablehlo.add %0, %4 : tensor<2x4x4xf32>
    %6 = stablehlo.cholesky %5, lower = true : tensor<2x4x4xf32>
    %7 = stablehlo.cholesky %5 : tensor<2x4x4xf32>
    %lower = stablehlo.constant dense<[[true, false, false], [true, true, false], [true, true, true]]> : tensor<3x3xi1>
    %upper = stablehlo.constant dense<[[true, true, true], [false, true, true], [false, false, true]]> : tensor<3x3xi1>
    %zero4 = stablehlo.constant dense<0.0> : tensor<2x4x4xf32>
    %zero3 = stablehlo.constant dense<(0.0, 0.0)> : tensor<3x3xcomplex<f64>>
    %8 = stablehlo.compare GE, %1, %2 : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
    %9 = stablehlo.compare LE, %1, %2 : (tensor<2x4x4xi32>, tensor<2x4x4xi32>) -> tensor<2x4x4xi1>
    %10 = stablehlo.select %8, %6, %zero4 : tensor<2x4x4xi1>, tensor<2x4x4xf32>
    %11 = stablehlo.select %9, %7, %zero4 : tensor<2x4x4xi1>, tensor<2x4x4xf32>
    %12 = chlo.conj %y : tensor<3x3xcomplex<f64>> -> tensor<3x3xcomplex<f64>>
    %13 = stablehlo.dot_general %y, %12, contracting_dims = [1] x [1] : (tensor<3x3xcomplex<f64>>, tensor<3x3xcomplex<f64>>) -> tensor<3x3xcomplex<f64>>
    %14 = stablehlo.cholesky %13, lower = true : tensor<3x3xcomplex<f64>>
    %15 = stablehlo.select %lower, %14, %zero3 : tensor<3x3xi1>, tensor<3x3xcomplex<f64>>
    return %10, %11, %15 : tensor<2x4x4xf32>, tensor<2x4x4xf32>, tensor<3x3xcomplex<f64>>
  }
}
// -----
// triangular_solve
// rounding: 1000, sums in another order and quotients of their small differences
module {
  func.func @main(%a: tensor<3x3xf32>, %b: tensor<3x2xf32>, %c: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
    %two = stablehlo.constant dense<[[3.0, 0.0, 0.0], [0.0, 3.0, 0.0], [0.0, 0.0, 3.0]]> : tensor<3x3xf32>
    %0 = stablehlo.add %a, %two : tensor<3x3xf32>
    %1 = "stablehlo.triangular_solve"(%0, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %2 = "stablehlo.triangular_solve"(%0, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
    %3 = "stablehlo.triangular_solve"(%0, %c) <{left_side = false, lower = true, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %4 = "stablehlo.triangular_solve"(%0, %c) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = true}> : (tensor<3x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    return %1, %2, %3, %4 : tensor<3x2xf32>, tensor<3x2xf32>, tensor<2x3xf32>, tensor<2x3xf32>
  }
}
// -----
// triangular_solve_adjoint
// rounding: 1000, sums in another order and quotients of their small differences
module {
  func.func @main(%a: tensor<2x2x2xcomplex<f64>>, %b: tensor<2x2x1xcomplex<f64>>) -> tensor<2x2x1xcomplex<f64>> {
    %0 = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose ADJOINT>, unit_diagonal = false}> : (tensor<2x2x2xcomplex<f64>>, tensor<2x2x1xcomplex<f64>>) -> tensor<2x2x1xcomplex<f64>>
    return %0 : tensor<2x2x1xcomplex<f64>>
  }
}
// -----
// fft
// rounding: 100, sums in another order
module {
  func.func @main(%x: tensor<2x5xf32>, %y: tensor<2x3xcomplex<f32>>, %z: tensor<3x4x6xcomplex<f64>>) -> (tensor<2x3xcomplex<f32>>, tensor<2x5xf32>, tensor<2x4xf32>, tensor<3x4x6xcomplex<f64>>, tensor<3x4x6xcomplex<f64>>) {
    %0 = stablehlo.fft %x, type = RFFT, length = [5] : (tensor<2x5xf32>) -> tensor<2x3xcomplex<f32>>
    %1 = stablehlo.fft %0, type = IRFFT, length = [5] : (tensor<2x3xcomplex<f32>>) -> tensor<2x5xf32>
    %2 = stablehlo.fft %0, type = IRFFT, length = [4] : (tensor<2x3xcomplex<f32>>) -> tensor<2x4xf32>
    %3 = stablehlo.fft %z, type = FFT, length = [3, 4, 6] : (tensor<3x4x6xcomplex<f64>>) -> tensor<3x4x6xcomplex<f64>>
    %4 = stablehlo.fft %z, type = IFFT, length = [4, 6] : (tensor<3x4x6xcomplex<f64>>) -> tensor<3x4x6xcomplex<f64>>
    return %0, %1, %2, %3, %4 : tensor<2x3xcomplex<f32>>, tensor<2x5xf32>, tensor<2x4xf32>, tensor<3x4x6xcomplex<f64>>, tensor<3x4x6xcomplex<f64>>
  }
}
// -----
// conv_reversed
// rounding: 100, sums in another order
module {
  func.func @main(%x: tensor<1x5x6x2xf32>, %k: tensor<3x2x1x4xf32>) -> tensor<1x5x8x4xf32> {
    %0 = stablehlo.convolution(%x, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[1, 1], [4, 2]], lhs_dilate = [1, 2], rhs_dilate = [1, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64} : (tensor<1x5x6x2xf32>, tensor<3x2x1x4xf32>) -> tensor<1x5x8x4xf32>
    return %0 : tensor<1x5x8x4xf32>
  }
}
// -----
// dynamic_slice_of_a_scalar
module {
  func.func @main(%x: tensor<f32>) -> tensor<f32> {
    %0 = "stablehlo.dynamic_slice"(%x) <{slice_sizes = array<i64>}> : (tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
// -----
// window_of_two
module {
  func.func @main(%x: tensor<5xf32>, %y: tensor<5xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
    %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = "stablehlo.reduce_window"(%x, %y, %low, %zero) <{padding = dense<[[1, 1]]> : tensor<1x2xi64>, window_dimensions = array<i64: 4>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
      %1 = stablehlo.compare GE, %a, %c, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      %2 = stablehlo.select %1, %a, %c : tensor<i1>, tensor<f32>
      %3 = stablehlo.select %1, %b, %d : tensor<i1>, tensor<i32>
      stablehlo.return %2, %3 : tensor<f32>, tensor<i32>
    }) : (tensor<5xf32>, tensor<5xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
    return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
  }
}
// -----
// select_and_scatter_padded
module {
  func.func @main(%x: tensor<4x5xf32>, %s: tensor<3x3xf32>) -> tensor<4x5xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = "stablehlo.select_and_scatter"(%x, %s, %zero) <{padding = dense<[[1, 1], [0, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 2, 2>, window_strides = array<i64: 2, 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.compare LE, %a, %b, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    }, {
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %1 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %1 : tensor<f32>
    }) : (tensor<4x5xf32>, tensor<3x3xf32>, tensor<f32>) -> tensor<4x5xf32>
    return %0 : tensor<4x5xf32>
  }
}
// -----
// scatter_two
module {
  func.func @main(%x: tensor<5xf32>, %y: tensor<5xi32>, %u: tensor<3xf32>, %v: tensor<3xi32>) -> (tensor<5xf32>, tensor<5xi32>) {
    %at = stablehlo.constant dense<[[1], [1], [7]]> : tensor<3x1xi64>
    %0:2 = "stablehlo.scatter"(%x, %y, %at, %u, %v) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<i32>, %c: tensor<f32>, %d: tensor<i32>):
      %1 = stablehlo.add %a, %c : tensor<f32>
      %2 = stablehlo.maximum %b, %d : tensor<i32>
      stablehlo.return %1, %2 : tensor<f32>, tensor<i32>
    }) : (tensor<5xf32>, tensor<5xi32>, tensor<3x1xi64>, tensor<3xf32>, tensor<3xi32>) -> (tensor<5xf32>, tensor<5xi32>)
    return %0#0, %0#1 : tensor<5xf32>, tensor<5xi32>
  }
}
// -----
// random_bits
module {
  func.func @main(%s: tensor<2xui64>, %t: tensor<3xui64>) -> (tensor<2xui64>, tensor<5xui32>, tensor<2x3xui64>, tensor<3xui64>, tensor<7xui32>, tensor<6xui8>) {
    %0:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<5xui32>)
    %1:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<2x3xui64>)
    %2:2 = stablehlo.rng_bit_generator %t, algorithm = PHILOX : (tensor<3xui64>) -> (tensor<3xui64>, tensor<7xui32>)
    %3:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui8>)
    return %0#0, %0#1, %1#1, %2#0, %2#1, %3#1 : tensor<2xui64>, tensor<5xui32>, tensor<2x3xui64>, tensor<3xui64>, tensor<7xui32>, tensor<6xui8>
  }
}
// -----
// real_parts_of_reals
module {
  func.func @main(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.real %x : tensor<4xf32>
    %1 = stablehlo.imag %x : tensor<4xf32>
    return %0, %1 : tensor<4xf32>, tensor<4xf32>
  }
}
// -----
// while_of_many
module {
  func.func @main(%x: tensor<4xf32>) -> (tensor<i64>, tensor<4xf32>, tensor<i1>) {
    %c = stablehlo.constant dense<0> : tensor<i64>
    %five = stablehlo.constant dense<5> : tensor<i64>
    %one = stablehlo.constant dense<1> : tensor<i64>
    %false = stablehlo.constant dense<false> : tensor<i1>
    %0:3 = stablehlo.while(%i = %c, %a = %x, %p = %false) : tensor<i64>, tensor<4xf32>, tensor<i1>
    cond {
      %1 = stablehlo.compare LT, %i, %five : (tensor<i64>, tensor<i64>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %1 = stablehlo.add %i, %one : tensor<i64>
      %2 = stablehlo.reverse %a, dims = [0] : tensor<4xf32>
      %3 = stablehlo.not %p : tensor<i1>
      stablehlo.return %1, %2, %3 : tensor<i64>, tensor<4xf32>, tensor<i1>
    }
    return %0#0, %0#1, %0#2 : tensor<i64>, tensor<4xf32>, tensor<i1>
  }
}
// -----
// top_k_of_equals
module {
  func.func @main(%x: tensor<2x6xi32>) -> (tensor<2x3xi32>, tensor<2x3xi32>) {
    %two = stablehlo.constant dense<2> : tensor<2x6xi32>
    %0 = stablehlo.divide %x, %two : tensor<2x6xi32>
    %values, %indices = chlo.top_k(%0, k = 3) : tensor<2x6xi32> -> (tensor<2x3xi32>, tensor<2x3xi32>)
    return %values, %indices : tensor<2x3xi32>, tensor<2x3xi32>
  }
}
// -----
// dot_of_many_dimensions
// rounding: 100, sums in another order
module {
  func.func @main(%x: tensor<3x2x4x5xf32>, %y: tensor<4x3x5x2xf32>, %z: tensor<2x3xf32>, %u: tensor<2x2x3xf32>) -> (tensor<2x5xf32>, tensor<2x3x2x2x3xf32>) {
    %0 = stablehlo.dot_general %x, %y, batching_dims = [1] x [3], contracting_dims = [2, 0] x [0, 1] : (tensor<3x2x4x5xf32>, tensor<4x3x5x2xf32>) -> tensor<2x5x5xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x5x5xf32>, tensor<f32>) -> tensor<2x5xf32>
    %2 = stablehlo.dot_general %z, %u, contracting_dims = [] x [] : (tensor<2x3xf32>, tensor<2x2x3xf32>) -> tensor<2x3x2x2x3xf32>
    return %1, %2 : tensor<2x5xf32>, tensor<2x3x2x2x3xf32>
  }
}
