// RUN: tofu-opt %s --verify-roundtrip --emit=none
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - --emit=none

// Every op in the form in which JAX prints it.

module {
  func.func @collectives(%arg0: tensor<8x4xf32>, %arg1: !stablehlo.token, %arg2: tensor<f32>) {
    %0 = "stablehlo.all_gather"(%arg0) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<8x4xf32>) -> tensor<16x4xf32>
    %1 = "stablehlo.all_reduce"(%arg0) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %20 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %2 = "stablehlo.all_to_all"(%arg0) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %3 = "stablehlo.collective_broadcast"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %4 = "stablehlo.collective_permute"(%arg0) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %5 = "stablehlo.reduce_scatter"(%arg0) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %20 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %20 : tensor<f32>
    }) : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %6 = stablehlo.partition_id : tensor<ui32>
    %7 = stablehlo.replica_id : tensor<ui32>
    %8:2 = "stablehlo.infeed"(%arg1) <{infeed_config = "abc", layout = [[0]]}> : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)
    %9 = "stablehlo.outfeed"(%arg0, %arg1) <{outfeed_config = ""}> : (tensor<8x4xf32>, !stablehlo.token) -> !stablehlo.token
    %10:2 = "stablehlo.recv"(%arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)
    %11 = "stablehlo.send"(%arg0, %arg1) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}> : (tensor<8x4xf32>, !stablehlo.token) -> !stablehlo.token
    %12 = stablehlo.after_all %arg1, %arg1 : !stablehlo.token
    %13 = stablehlo.create_token : !stablehlo.token
    %14 = stablehlo.tuple %arg0, %arg1 : tuple<tensor<8x4xf32>, !stablehlo.token>
    %15 = stablehlo.get_tuple_element %14[0] : (tuple<tensor<8x4xf32>, !stablehlo.token>) -> tensor<8x4xf32>
    %16:2 = stablehlo.optimization_barrier %arg0, %arg1 : tensor<8x4xf32>, !stablehlo.token
    %17 = stablehlo.custom_call @foo(%arg0) {api_version = 2 : i32, backend_config = "x", called_computations = [@f], has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %18 = stablehlo.custom_call @foo.bar(%arg0) {api_version = 4 : i32, backend_config = {a = 1 : i32, b = "c"}, mhlo.frontend_attributes = {x = "y"}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    stablehlo.custom_call @z() : () -> ()
    %19 = stablehlo.composite "my.op" %arg2 {composite_attributes = {n = 1 : i64}, decomposition = @f, version = 1 : i32} : (tensor<f32>) -> tensor<f32>
    return
  }
  func.func private @f(%arg0: tensor<f32>) -> tensor<f32> {
    return %arg0 : tensor<f32>
  }
  func.func @control(%arg0: tensor<i1>, %arg1: tensor<i32>, %arg2: tensor<4xf32>) -> tensor<4xf32> {
    %0 = "stablehlo.if"(%arg0) ({
      stablehlo.return %arg2 : tensor<4xf32>
    }, {
      stablehlo.return %arg2 : tensor<4xf32>
    }) : (tensor<i1>) -> tensor<4xf32>
    %1:2 = "stablehlo.case"(%arg1) ({
      stablehlo.return %arg2, %arg2 : tensor<4xf32>, tensor<4xf32>
    }, {
      stablehlo.return %arg2, %0 : tensor<4xf32>, tensor<4xf32>
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
    %2:2 = stablehlo.while(%iterArg = %arg1, %iterArg_0 = %arg2) : tensor<i32>, tensor<4xf32> attributes {mhlo.note = 1 : i32}
    cond {
      %c = stablehlo.constant dense<true> : tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      stablehlo.return %iterArg, %iterArg_0 : tensor<i32>, tensor<4xf32>
    }
    %3 = "stablehlo.map"(%arg2, %arg2) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>):
      %5 = stablehlo.add %arg3, %arg4 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %4:2 = "stablehlo.sort"(%arg2, %arg2) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg3: tensor<f32>, %arg4: tensor<f32>, %arg5: tensor<f32>, %arg6: tensor<f32>):
      %5 = stablehlo.compare LT, %arg3, %arg4, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    return %arg2 : tensor<4xf32>
  }
  func.func @elementwise(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>, %arg2: tensor<4xcomplex<f32>>, %arg3: tensor<4xi1>, %arg4: tensor<f32>) {
    %0 = stablehlo.abs %arg2 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %1 = stablehlo.abs %arg0 : tensor<4xf32>
    %2 = stablehlo.complex %arg0, %arg0 : tensor<4xcomplex<f32>>
    %3 = stablehlo.real %arg2 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %4 = stablehlo.imag %arg2 : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %5 = stablehlo.bitcast_convert %arg0 : (tensor<4xf32>) -> tensor<4x4xi8>
    %6 = stablehlo.convert %arg0 : (tensor<4xf32>) -> tensor<4xi32>
    %7 = stablehlo.convert %arg0 : tensor<4xf32>
    %8 = stablehlo.is_finite %arg0 : (tensor<4xf32>) -> tensor<4xi1>
    %9 = stablehlo.exponential %arg0 {result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>} : tensor<4xf32>
    %10 = stablehlo.exponential %arg0 : tensor<4xf32>
    %11 = stablehlo.clamp %arg4, %arg0, %arg4 : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %12 = stablehlo.clamp %arg0, %arg0, %arg0 : tensor<4xf32>
    %13 = stablehlo.select %arg3, %arg0, %arg0 : tensor<4xi1>, tensor<4xf32>
    %14 = stablehlo.compare EQ, %arg0, %arg0 : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %15 = stablehlo.reduce_precision %arg0, format = e5m10 : tensor<4xf32>
    %16 = stablehlo.shift_left %arg1, %arg1 : tensor<4xi32>
    %17 = stablehlo.power %arg0, %arg0 {mhlo.note = "x"} : tensor<4xf32>
    %18 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
    %19 = chlo.is_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
    %20 = chlo.next_after %arg0, %arg0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %values, %indices = chlo.top_k(%arg0, k = 2) : tensor<4xf32> -> (tensor<2xf32>, tensor<2xi32>)
    %21 = chlo.conj %arg2 : tensor<4xcomplex<f32>> -> tensor<4xcomplex<f32>>
    %22 = chlo.polygamma %arg0, %arg0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    %23 = stablehlo.tan %arg0 : tensor<4xf32>
    return
  }
  func.func @others(%arg0: tensor<4x6xf32>, %arg1: tensor<f32>, %arg2: tensor<i32>, %arg3: tensor<2x2xf32>, %arg4: tensor<2xui64>, %arg5: tensor<2xi64>, %arg6: tensor<4x6xcomplex<f32>>) {
    %half = stablehlo.constant dense<1.0> : tensor<4xf16>
    %init = stablehlo.constant dense<0.0> : tensor<f16>
    %0 = stablehlo.broadcast_in_dim %arg1, dims = [] : (tensor<f32>) -> tensor<4x6xf32>
    %1 = stablehlo.cholesky %arg3, lower = true : tensor<2x2xf32>
    %2 = "stablehlo.triangular_solve"(%arg3, %arg3) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %3 = stablehlo.concatenate %arg0, %arg0, dim = 0 : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %4 = stablehlo.dot_general %arg0, %arg0, contracting_dims = [1] x [1], precision = [DEFAULT, HIGH] : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
    %5 = stablehlo.dot_general %arg0, %arg0, batching_dims = [0] x [0], contracting_dims = [1] x [1], algorithm = <lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4xf32>
    %6 = stablehlo.dynamic_slice %arg0, %arg2, %arg2, sizes = [1, 2] : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %7 = stablehlo.dynamic_update_slice %arg0, %6, %arg2, %arg2 : (tensor<4x6xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %8 = stablehlo.fft %arg6, type = FFT, length = [6] : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    %9 = stablehlo.iota dim = 1 : tensor<4x6xf32>
    %10 = stablehlo.pad %arg0, %arg1, low = [0, -1], high = [1, 0], interior = [0, 2] : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x15xf32>
    %11 = stablehlo.reshape %arg0 : (tensor<4x6xf32>) -> tensor<24xf32>
    %12 = stablehlo.reverse %arg0, dims = [0] : tensor<4x6xf32>
    %output_state, %output = stablehlo.rng_bit_generator %arg4, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %14 = stablehlo.slice %arg0 [0:4, 1:5:2] : (tensor<4x6xf32>) -> tensor<4x2xf32>
    %15 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %16 = stablehlo.reduce(%arg0 init: %arg1) applies stablehlo.add across dimensions = [0] : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    %17:2 = stablehlo.reduce(%arg0 init: %arg1), (%arg0 init: %arg1) across dimensions = [0, 1] {mhlo.note = "x"} : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
     reducer(%arg7: tensor<f32>, %arg9: tensor<f32>) (%arg8: tensor<f32>, %arg10: tensor<f32>)  {
      %24 = stablehlo.add %arg7, %arg9 : tensor<f32>
      stablehlo.return %24, %arg10 : tensor<f32>, tensor<f32>
    }
    %wide = stablehlo.reduce(%half init: %init) across dimensions = [0] : (tensor<4xf16>, tensor<f16>) -> tensor<f32>
     reducer(%arg7: tensor<f32>, %arg8: tensor<f32>) {
      %24 = stablehlo.add %arg7, %arg8 : tensor<f32>
      stablehlo.return %24 : tensor<f32>
    }
    %18 = stablehlo.get_dimension_size %arg0, dim = 0 : (tensor<4x6xf32>) -> tensor<i32>
    %19 = stablehlo.dynamic_iota %arg5, dim = 0 : (tensor<2xi64>) -> tensor<?x?xf32>
    %20 = stablehlo.dynamic_broadcast_in_dim %arg0, %arg5, dims = [0, 1] {known_expanding_dimensions = array<i64: 0>} : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %21 = stablehlo.dynamic_reshape %arg0, %arg5 : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %22 = stablehlo.dynamic_pad %arg0, %arg1, %arg5, %arg5, %arg5 : (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    %23 = stablehlo.real_dynamic_slice %arg0, %arg5, %arg5, %arg5 : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    return
  }
  func.func @all_elementwise(%arg0: tensor<4xf32>, %arg1: tensor<4xi32>, %arg2: tensor<4xcomplex<f32>>) {
    %0 = stablehlo.abs %arg0 : tensor<4xf32>
    %1 = stablehlo.cbrt %arg0 : tensor<4xf32>
    %2 = stablehlo.ceil %arg0 : tensor<4xf32>
    %3 = stablehlo.cosine %arg0 : tensor<4xf32>
    %4 = stablehlo.exponential %arg0 : tensor<4xf32>
    %5 = stablehlo.exponential_minus_one %arg0 : tensor<4xf32>
    %6 = stablehlo.floor %arg0 : tensor<4xf32>
    %7 = stablehlo.log %arg0 : tensor<4xf32>
    %8 = stablehlo.log_plus_one %arg0 : tensor<4xf32>
    %9 = stablehlo.logistic %arg0 : tensor<4xf32>
    %10 = stablehlo.negate %arg0 : tensor<4xf32>
    %11 = stablehlo.round_nearest_afz %arg0 : tensor<4xf32>
    %12 = stablehlo.round_nearest_even %arg0 : tensor<4xf32>
    %13 = stablehlo.rsqrt %arg0 : tensor<4xf32>
    %14 = stablehlo.sign %arg0 : tensor<4xf32>
    %15 = stablehlo.sine %arg0 : tensor<4xf32>
    %16 = stablehlo.sqrt %arg0 : tensor<4xf32>
    %17 = stablehlo.tan %arg0 : tensor<4xf32>
    %18 = stablehlo.tanh %arg0 : tensor<4xf32>
    %19 = stablehlo.not %arg1 : tensor<4xi32>
    %20 = stablehlo.popcnt %arg1 : tensor<4xi32>
    %21 = stablehlo.count_leading_zeros %arg1 : tensor<4xi32>
    %22 = stablehlo.add %arg0, %arg0 : tensor<4xf32>
    %23 = stablehlo.divide %arg0, %arg0 : tensor<4xf32>
    %24 = stablehlo.maximum %arg0, %arg0 : tensor<4xf32>
    %25 = stablehlo.minimum %arg0, %arg0 : tensor<4xf32>
    %26 = stablehlo.multiply %arg0, %arg0 : tensor<4xf32>
    %27 = stablehlo.power %arg0, %arg0 : tensor<4xf32>
    %28 = stablehlo.remainder %arg0, %arg0 : tensor<4xf32>
    %29 = stablehlo.subtract %arg0, %arg0 : tensor<4xf32>
    %30 = stablehlo.atan2 %arg0, %arg0 : tensor<4xf32>
    %31 = stablehlo.and %arg1, %arg1 : tensor<4xi32>
    %32 = stablehlo.or %arg1, %arg1 : tensor<4xi32>
    %33 = stablehlo.xor %arg1, %arg1 : tensor<4xi32>
    %34 = stablehlo.shift_left %arg1, %arg1 : tensor<4xi32>
    %35 = stablehlo.shift_right_arithmetic %arg1, %arg1 : tensor<4xi32>
    %36 = stablehlo.shift_right_logical %arg1, %arg1 : tensor<4xi32>
    %mulhi = chlo.mulhi %arg1, %arg1 : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
    %37 = chlo.acos %arg0 : tensor<4xf32> -> tensor<4xf32>
    %38 = chlo.acosh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %39 = chlo.asin %arg0 : tensor<4xf32> -> tensor<4xf32>
    %40 = chlo.asinh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %41 = chlo.atan %arg0 : tensor<4xf32> -> tensor<4xf32>
    %42 = chlo.atanh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %43 = chlo.bessel_i1e %arg0 : tensor<4xf32> -> tensor<4xf32>
    %44 = chlo.cosh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %45 = chlo.digamma %arg0 : tensor<4xf32> -> tensor<4xf32>
    %46 = chlo.erf %arg0 : tensor<4xf32> -> tensor<4xf32>
    %47 = chlo.erf_inv %arg0 : tensor<4xf32> -> tensor<4xf32>
    %48 = chlo.erfc %arg0 : tensor<4xf32> -> tensor<4xf32>
    %49 = chlo.lgamma %arg0 : tensor<4xf32> -> tensor<4xf32>
    %50 = chlo.sinh %arg0 : tensor<4xf32> -> tensor<4xf32>
    %51 = chlo.square %arg0 : tensor<4xf32> -> tensor<4xf32>
    %52 = chlo.is_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
    %53 = chlo.is_neg_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
    %54 = chlo.is_pos_inf %arg0 : tensor<4xf32> -> tensor<4xi1>
    %55 = chlo.zeta %arg0, %arg0 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
    return
  }
  func.func @normalization(%arg0: tensor<2x3x4xf32>, %arg1: tensor<4xf32>) {
    %0 = "stablehlo.batch_norm_inference"(%arg0, %arg1, %arg1, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    %output, %batch_mean, %batch_var = "stablehlo.batch_norm_training"(%arg0, %arg1, %arg1) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
    %grad_operand, %grad_scale, %grad_offset = "stablehlo.batch_norm_grad"(%arg0, %arg1, %arg1, %arg1, %arg0) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
    return
  }
  func.func @windows(%arg0: tensor<1x8x8x2xf32>, %arg1: tensor<3x3x1x4xf32>, %arg2: tensor<f32>, %arg3: tensor<1x4x4x2xf32>, %arg4: tensor<4x8x8x2xf32>, %arg5: tensor<3x3x2x4xf32>) {
    %0 = stablehlo.convolution(%arg0, %arg1) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [1, 2], pad = [[1, 1], [-1, 2]], lhs_dilate = [1, 2], rhs_dilate = [2, 1], reverse = [false, true]} {batch_group_count = 1 : i64, feature_group_count = 2 : i64, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>]} : (tensor<1x8x8x2xf32>, tensor<3x3x1x4xf32>) -> tensor<1x6x7x4xf32>
    %1 = stablehlo.convolution(%arg4, %arg5) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 4 : i64, feature_group_count = 1 : i64} : (tensor<4x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
    %2 = "stablehlo.reduce_window"(%arg0, %arg2) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %5 = stablehlo.maximum %arg6, %arg7 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<1x8x8x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
    %3 = "stablehlo.reduce_window"(%arg0, %arg2) <{window_dimensions = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %5 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<1x8x8x2xf32>, tensor<f32>) -> tensor<1x7x7x2xf32>
    %4 = "stablehlo.select_and_scatter"(%arg0, %arg3, %arg2) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %5 = stablehlo.compare GE, %arg6, %arg7, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %5 : tensor<i1>
    }, {
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %5 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %5 : tensor<f32>
    }) : (tensor<1x8x8x2xf32>, tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
    return
  }
  func.func @indexing(%arg0: tensor<3x4x2xf32>, %arg1: tensor<2x3x2xi64>, %arg2: tensor<2x3x2x2xf32>, %arg3: tensor<2x3x4x2xf32>, %arg4: tensor<2x2x3x2xi64>, %arg5: tensor<2x2x3x2x2xf32>) {
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, indices_are_sorted = true, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi64>) -> tensor<2x3x2x2xf32>
    %1 = "stablehlo.gather"(%arg3, %arg4) <{dimension_numbers = #stablehlo.gather<offset_dims = [3, 4], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 2, 2>}> : (tensor<2x3x4x2xf32>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xf32>
    %2 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>, unique_indices = true}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      %4 = stablehlo.add %arg6, %arg7 : tensor<f32>
      stablehlo.return %4 : tensor<f32>
    }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
    %3 = "stablehlo.scatter"(%arg3, %arg4, %arg5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 4], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 3>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      stablehlo.return %arg7 : tensor<f32>
    }) : (tensor<2x3x4x2xf32>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xf32>) -> tensor<2x3x4x2xf32>
    return
  }
}
