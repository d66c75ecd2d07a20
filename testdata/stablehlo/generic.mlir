// RUN: tofu-opt %s --verify-roundtrip --emit=none
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - --emit=none

// The same program as `ops.mlir`, in the generic form.

"builtin.module"() ({
  "func.func"() <{function_type = (tensor<8x4xf32>, !stablehlo.token, tensor<f32>) -> (), sym_name = "collectives"}> ({
  ^bb0(%arg61: tensor<8x4xf32>, %arg62: !stablehlo.token, %arg63: tensor<f32>):
    %133 = "stablehlo.all_gather"(%arg61) <{all_gather_dim = 0 : i64, channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, replica_groups = dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>, use_global_device_ids}> : (tensor<8x4xf32>) -> tensor<16x4xf32>
    %134 = "stablehlo.all_reduce"(%arg61) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 0>, replica_groups = dense<[[0, 1, 2, 3]]> : tensor<1x4xi64>}> ({
    ^bb0(%arg66: tensor<f32>, %arg67: tensor<f32>):
      %154 = "stablehlo.add"(%arg66, %arg67) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%154) : (tensor<f32>) -> ()
    }) : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %135 = "stablehlo.all_to_all"(%arg61) <{concat_dimension = 1 : i64, replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, split_count = 2 : i64, split_dimension = 0 : i64}> : (tensor<8x4xf32>) -> tensor<4x8xf32>
    %136 = "stablehlo.collective_broadcast"(%arg61) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %137 = "stablehlo.collective_permute"(%arg61) <{source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %138 = "stablehlo.reduce_scatter"(%arg61) <{replica_groups = dense<[[0, 1]]> : tensor<1x2xi64>, scatter_dimension = 0 : i64}> ({
    ^bb0(%arg64: tensor<f32>, %arg65: tensor<f32>):
      %153 = "stablehlo.add"(%arg64, %arg65) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%153) : (tensor<f32>) -> ()
    }) : (tensor<8x4xf32>) -> tensor<4x4xf32>
    %139 = "stablehlo.partition_id"() : () -> tensor<ui32>
    %140 = "stablehlo.replica_id"() : () -> tensor<ui32>
    %141:2 = "stablehlo.infeed"(%arg62) <{infeed_config = "abc", layout = [[0]]}> : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)
    %142 = "stablehlo.outfeed"(%arg61, %arg62) <{outfeed_config = ""}> : (tensor<8x4xf32>, !stablehlo.token) -> !stablehlo.token
    %143:2 = "stablehlo.recv"(%arg62) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false, source_target_pairs = dense<[[0, 1]]> : tensor<1x2xi64>}> : (!stablehlo.token) -> (tensor<3xf32>, !stablehlo.token)
    %144 = "stablehlo.send"(%arg61, %arg62) <{channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>, is_host_transfer = false}> : (tensor<8x4xf32>, !stablehlo.token) -> !stablehlo.token
    %145 = "stablehlo.after_all"(%arg62, %arg62) : (!stablehlo.token, !stablehlo.token) -> !stablehlo.token
    %146 = "stablehlo.create_token"() : () -> !stablehlo.token
    %147 = "stablehlo.tuple"(%arg61, %arg62) : (tensor<8x4xf32>, !stablehlo.token) -> tuple<tensor<8x4xf32>, !stablehlo.token>
    %148 = "stablehlo.get_tuple_element"(%147) <{index = 0 : i32}> : (tuple<tensor<8x4xf32>, !stablehlo.token>) -> tensor<8x4xf32>
    %149:2 = "stablehlo.optimization_barrier"(%arg61, %arg62) : (tensor<8x4xf32>, !stablehlo.token) -> (tensor<8x4xf32>, !stablehlo.token)
    %150 = "stablehlo.custom_call"(%arg61) <{api_version = 2 : i32, backend_config = "x", call_target_name = "foo", called_computations = [@f], has_side_effect = true, operand_layouts = [dense<[1, 0]> : tensor<2xindex>], output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], operand_index = 0, operand_tuple_indices = []>], result_layouts = [dense<[1, 0]> : tensor<2xindex>]}> : (tensor<8x4xf32>) -> tensor<8x4xf32>
    %151 = "stablehlo.custom_call"(%arg61) <{api_version = 4 : i32, backend_config = {a = 1 : i32, b = "c"}, call_target_name = "foo.bar"}> {mhlo.frontend_attributes = {x = "y"}} : (tensor<8x4xf32>) -> tensor<8x4xf32>
    "stablehlo.custom_call"() <{call_target_name = "z"}> : () -> ()
    %152 = "stablehlo.composite"(%arg63) <{composite_attributes = {n = 1 : i64}, decomposition = @f, name = "my.op", version = 1 : i32}> : (tensor<f32>) -> tensor<f32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<f32>) -> tensor<f32>, sym_name = "f", sym_visibility = "private"}> ({
  ^bb0(%arg60: tensor<f32>):
    "func.return"(%arg60) : (tensor<f32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<i1>, tensor<i32>, tensor<4xf32>) -> tensor<4xf32>, sym_name = "control"}> ({
  ^bb0(%arg47: tensor<i1>, %arg48: tensor<i32>, %arg49: tensor<4xf32>):
    %125 = "stablehlo.if"(%arg47) ({
      "stablehlo.return"(%arg49) : (tensor<4xf32>) -> ()
    }, {
      "stablehlo.return"(%arg49) : (tensor<4xf32>) -> ()
    }) : (tensor<i1>) -> tensor<4xf32>
    %126:2 = "stablehlo.case"(%arg48) ({
      "stablehlo.return"(%arg49, %arg49) : (tensor<4xf32>, tensor<4xf32>) -> ()
    }, {
      "stablehlo.return"(%arg49, %125) : (tensor<4xf32>, tensor<4xf32>) -> ()
    }) : (tensor<i32>) -> (tensor<4xf32>, tensor<4xf32>)
    %127:2 = "stablehlo.while"(%arg48, %arg49) ({
    ^bb0(%arg58: tensor<i32>, %arg59: tensor<4xf32>):
      %132 = "stablehlo.constant"() <{value = dense<true> : tensor<i1>}> : () -> tensor<i1>
      "stablehlo.return"(%132) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg56: tensor<i32>, %arg57: tensor<4xf32>):
      "stablehlo.return"(%arg56, %arg57) : (tensor<i32>, tensor<4xf32>) -> ()
    }) {mhlo.note = 1 : i32} : (tensor<i32>, tensor<4xf32>) -> (tensor<i32>, tensor<4xf32>)
    %128 = "stablehlo.map"(%arg49, %arg49) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg54: tensor<f32>, %arg55: tensor<f32>):
      %131 = "stablehlo.add"(%arg54, %arg55) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%131) : (tensor<f32>) -> ()
    }) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %129:2 = "stablehlo.sort"(%arg49, %arg49) <{dimension = 0 : i64, is_stable = true}> ({
    ^bb0(%arg50: tensor<f32>, %arg51: tensor<f32>, %arg52: tensor<f32>, %arg53: tensor<f32>):
      %130 = "stablehlo.compare"(%arg50, %arg51) <{compare_type = #stablehlo<comparison_type TOTALORDER>, comparison_direction = #stablehlo<comparison_direction LT>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%130) : (tensor<i1>) -> ()
    }) : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    "func.return"(%arg49) : (tensor<4xf32>) -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>, tensor<4xi32>, tensor<4xcomplex<f32>>, tensor<4xi1>, tensor<f32>) -> (), sym_name = "elementwise"}> ({
  ^bb0(%arg42: tensor<4xf32>, %arg43: tensor<4xi32>, %arg44: tensor<4xcomplex<f32>>, %arg45: tensor<4xi1>, %arg46: tensor<f32>):
    %100 = "stablehlo.abs"(%arg44) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %101 = "stablehlo.abs"(%arg42) : (tensor<4xf32>) -> tensor<4xf32>
    %102 = "stablehlo.complex"(%arg42, %arg42) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xcomplex<f32>>
    %103 = "stablehlo.real"(%arg44) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %104 = "stablehlo.imag"(%arg44) : (tensor<4xcomplex<f32>>) -> tensor<4xf32>
    %105 = "stablehlo.bitcast_convert"(%arg42) : (tensor<4xf32>) -> tensor<4x4xi8>
    %106 = "stablehlo.convert"(%arg42) : (tensor<4xf32>) -> tensor<4xi32>
    %107 = "stablehlo.convert"(%arg42) : (tensor<4xf32>) -> tensor<4xf32>
    %108 = "stablehlo.is_finite"(%arg42) : (tensor<4xf32>) -> tensor<4xi1>
    %109 = "stablehlo.exponential"(%arg42) <{result_accuracy = #stablehlo.result_accuracy<atol = 1.000000e-05, ulps = 1, mode = #stablehlo.result_accuracy_mode<TOLERANCE>>}> : (tensor<4xf32>) -> tensor<4xf32>
    %110 = "stablehlo.exponential"(%arg42) : (tensor<4xf32>) -> tensor<4xf32>
    %111 = "stablehlo.clamp"(%arg46, %arg42, %arg46) : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %112 = "stablehlo.clamp"(%arg42, %arg42, %arg42) : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %113 = "stablehlo.select"(%arg45, %arg42, %arg42) : (tensor<4xi1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %114 = "stablehlo.compare"(%arg42, %arg42) <{comparison_direction = #stablehlo<comparison_direction EQ>}> : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
    %115 = "stablehlo.reduce_precision"(%arg42) <{exponent_bits = 5 : i32, mantissa_bits = 10 : i32}> : (tensor<4xf32>) -> tensor<4xf32>
    %116 = "stablehlo.shift_left"(%arg43, %arg43) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %117 = "stablehlo.power"(%arg42, %arg42) {mhlo.note = "x"} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %118 = "chlo.erf"(%arg42) : (tensor<4xf32>) -> tensor<4xf32>
    %119 = "chlo.is_inf"(%arg42) : (tensor<4xf32>) -> tensor<4xi1>
    %120 = "chlo.next_after"(%arg42, %arg42) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %121:2 = "chlo.top_k"(%arg42) <{k = 2 : i64}> : (tensor<4xf32>) -> (tensor<2xf32>, tensor<2xi32>)
    %122 = "chlo.conj"(%arg44) : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
    %123 = "chlo.polygamma"(%arg42, %arg42) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %124 = "stablehlo.tan"(%arg42) : (tensor<4xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4x6xf32>, tensor<f32>, tensor<i32>, tensor<2x2xf32>, tensor<2xui64>, tensor<2xi64>, tensor<4x6xcomplex<f32>>) -> (), sym_name = "others"}> ({
  ^bb0(%arg29: tensor<4x6xf32>, %arg30: tensor<f32>, %arg31: tensor<i32>, %arg32: tensor<2x2xf32>, %arg33: tensor<2xui64>, %arg34: tensor<2xi64>, %arg35: tensor<4x6xcomplex<f32>>):
    %half = "stablehlo.constant"() <{value = dense<1.0> : tensor<4xf16>}> : () -> tensor<4xf16>
    %init = "stablehlo.constant"() <{value = dense<0.0> : tensor<f16>}> : () -> tensor<f16>
    %73 = "stablehlo.broadcast_in_dim"(%arg30) <{broadcast_dimensions = array<i64>}> : (tensor<f32>) -> tensor<4x6xf32>
    %74 = "stablehlo.cholesky"(%arg32) <{lower = true}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
    %75 = "stablehlo.triangular_solve"(%arg32, %arg32) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    %76 = "stablehlo.concatenate"(%arg29, %arg29) <{dimension = 0 : i64}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<8x6xf32>
    %77 = "stablehlo.dot_general"(%arg29, %arg29) <{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, precision_config = [#stablehlo<precision DEFAULT>, #stablehlo<precision HIGH>]}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x4xf32>
    %78 = "stablehlo.dot_general"(%arg29, %arg29) <{algorithm = #stablehlo.dot_algorithm<lhs_precision_type = tf32, rhs_precision_type = tf32, accumulation_type = f32, lhs_component_count = 1, rhs_component_count = 1, num_primitive_operations = 1, allow_imprecise_accumulation = false>, dot_dimension_numbers = #stablehlo.dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>}> : (tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4xf32>
    %79 = "stablehlo.dynamic_slice"(%arg29, %arg31, %arg31) <{slice_sizes = array<i64: 1, 2>}> : (tensor<4x6xf32>, tensor<i32>, tensor<i32>) -> tensor<1x2xf32>
    %80 = "stablehlo.dynamic_update_slice"(%arg29, %79, %arg31, %arg31) : (tensor<4x6xf32>, tensor<1x2xf32>, tensor<i32>, tensor<i32>) -> tensor<4x6xf32>
    %81 = "stablehlo.fft"(%arg35) <{fft_length = array<i64: 6>, fft_type = #stablehlo<fft_type FFT>}> : (tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>
    %82 = "stablehlo.iota"() <{iota_dimension = 1 : i64}> : () -> tensor<4x6xf32>
    %83 = "stablehlo.pad"(%arg29, %arg30) <{edge_padding_high = array<i64: 1, 0>, edge_padding_low = array<i64: 0, -1>, interior_padding = array<i64: 0, 2>}> : (tensor<4x6xf32>, tensor<f32>) -> tensor<5x15xf32>
    %84 = "stablehlo.reshape"(%arg29) : (tensor<4x6xf32>) -> tensor<24xf32>
    %85 = "stablehlo.reverse"(%arg29) <{dimensions = array<i64: 0>}> : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %87:2 = "stablehlo.rng_bit_generator"(%arg33) <{rng_algorithm = #stablehlo<rng_algorithm THREE_FRY>}> : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    %88 = "stablehlo.slice"(%arg29) <{limit_indices = array<i64: 4, 5>, start_indices = array<i64: 0, 1>, strides = array<i64: 1, 2>}> : (tensor<4x6xf32>) -> tensor<4x2xf32>
    %89 = "stablehlo.transpose"(%arg29) <{permutation = array<i64: 1, 0>}> : (tensor<4x6xf32>) -> tensor<6x4xf32>
    %90 = "stablehlo.reduce"(%arg29, %arg30) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg40: tensor<f32>, %arg41: tensor<f32>):
      %99 = "stablehlo.add"(%arg40, %arg41) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%99) : (tensor<f32>) -> ()
    }) : (tensor<4x6xf32>, tensor<f32>) -> tensor<6xf32>
    %91:2 = "stablehlo.reduce"(%arg29, %arg29, %arg30, %arg30) <{dimensions = array<i64: 0, 1>}> ({
    ^bb0(%arg36: tensor<f32>, %arg37: tensor<f32>, %arg38: tensor<f32>, %arg39: tensor<f32>):
      %98 = "stablehlo.add"(%arg36, %arg38) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%98, %arg39) : (tensor<f32>, tensor<f32>) -> ()
    }) {mhlo.note = "x"} : (tensor<4x6xf32>, tensor<4x6xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    %wide = "stablehlo.reduce"(%half, %init) <{dimensions = array<i64: 0>}> ({
    ^bb0(%arg42: tensor<f32>, %arg43: tensor<f32>):
      %100 = "stablehlo.add"(%arg42, %arg43) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%100) : (tensor<f32>) -> ()
    }) : (tensor<4xf16>, tensor<f16>) -> tensor<f32>
    %92 = "stablehlo.get_dimension_size"(%arg29) <{dimension = 0 : i64}> : (tensor<4x6xf32>) -> tensor<i32>
    %93 = "stablehlo.dynamic_iota"(%arg34) <{iota_dimension = 0 : i64}> : (tensor<2xi64>) -> tensor<?x?xf32>
    %94 = "stablehlo.dynamic_broadcast_in_dim"(%arg29, %arg34) <{broadcast_dimensions = array<i64: 0, 1>, known_expanding_dimensions = array<i64: 0>}> : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %95 = "stablehlo.dynamic_reshape"(%arg29, %arg34) : (tensor<4x6xf32>, tensor<2xi64>) -> tensor<?x?xf32>
    %96 = "stablehlo.dynamic_pad"(%arg29, %arg30, %arg34, %arg34, %arg34) : (tensor<4x6xf32>, tensor<f32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    %97 = "stablehlo.real_dynamic_slice"(%arg29, %arg34, %arg34, %arg34) : (tensor<4x6xf32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<?x?xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<4xf32>, tensor<4xi32>, tensor<4xcomplex<f32>>) -> (), sym_name = "all_elementwise"}> ({
  ^bb0(%arg26: tensor<4xf32>, %arg27: tensor<4xi32>, %arg28: tensor<4xcomplex<f32>>):
    %17 = "stablehlo.abs"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %18 = "stablehlo.cbrt"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %19 = "stablehlo.ceil"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %20 = "stablehlo.cosine"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %21 = "stablehlo.exponential"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %22 = "stablehlo.exponential_minus_one"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %23 = "stablehlo.floor"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %24 = "stablehlo.log"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %25 = "stablehlo.log_plus_one"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %26 = "stablehlo.logistic"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %27 = "stablehlo.negate"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %28 = "stablehlo.round_nearest_afz"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %29 = "stablehlo.round_nearest_even"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %30 = "stablehlo.rsqrt"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %31 = "stablehlo.sign"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %32 = "stablehlo.sine"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %33 = "stablehlo.sqrt"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %34 = "stablehlo.tan"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %35 = "stablehlo.tanh"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %36 = "stablehlo.not"(%arg27) : (tensor<4xi32>) -> tensor<4xi32>
    %37 = "stablehlo.popcnt"(%arg27) : (tensor<4xi32>) -> tensor<4xi32>
    %38 = "stablehlo.count_leading_zeros"(%arg27) : (tensor<4xi32>) -> tensor<4xi32>
    %39 = "stablehlo.add"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %40 = "stablehlo.divide"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %41 = "stablehlo.maximum"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %42 = "stablehlo.minimum"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %43 = "stablehlo.multiply"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %44 = "stablehlo.power"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %45 = "stablehlo.remainder"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %46 = "stablehlo.subtract"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %47 = "stablehlo.atan2"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %48 = "stablehlo.and"(%arg27, %arg27) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %49 = "stablehlo.or"(%arg27, %arg27) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %50 = "stablehlo.xor"(%arg27, %arg27) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %51 = "stablehlo.shift_left"(%arg27, %arg27) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %52 = "stablehlo.shift_right_arithmetic"(%arg27, %arg27) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %53 = "stablehlo.shift_right_logical"(%arg27, %arg27) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %mulhi = "chlo.mulhi"(%arg27, %arg27) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
    %54 = "chlo.acos"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %55 = "chlo.acosh"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %56 = "chlo.asin"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %57 = "chlo.asinh"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %58 = "chlo.atan"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %59 = "chlo.atanh"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %60 = "chlo.bessel_i1e"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %61 = "chlo.cosh"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %62 = "chlo.digamma"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %63 = "chlo.erf"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %64 = "chlo.erf_inv"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %65 = "chlo.erfc"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %66 = "chlo.lgamma"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %67 = "chlo.sinh"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %68 = "chlo.square"(%arg26) : (tensor<4xf32>) -> tensor<4xf32>
    %69 = "chlo.is_inf"(%arg26) : (tensor<4xf32>) -> tensor<4xi1>
    %70 = "chlo.is_neg_inf"(%arg26) : (tensor<4xf32>) -> tensor<4xi1>
    %71 = "chlo.is_pos_inf"(%arg26) : (tensor<4xf32>) -> tensor<4xi1>
    %72 = "chlo.zeta"(%arg26, %arg26) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<2x3x4xf32>, tensor<4xf32>) -> (), sym_name = "normalization"}> ({
  ^bb0(%arg24: tensor<2x3x4xf32>, %arg25: tensor<4xf32>):
    %14 = "stablehlo.batch_norm_inference"(%arg24, %arg25, %arg25, %arg25, %arg25) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x4xf32>
    %15:3 = "stablehlo.batch_norm_training"(%arg24, %arg25, %arg25) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
    %16:3 = "stablehlo.batch_norm_grad"(%arg24, %arg25, %arg25, %arg25, %arg24) <{epsilon = 1.000000e-03 : f32, feature_index = 2 : i64}> : (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<1x8x8x2xf32>, tensor<3x3x1x4xf32>, tensor<f32>, tensor<1x4x4x2xf32>, tensor<4x8x8x2xf32>, tensor<3x3x2x4xf32>) -> (), sym_name = "windows"}> ({
  ^bb0(%arg10: tensor<1x8x8x2xf32>, %arg11: tensor<3x3x1x4xf32>, %arg12: tensor<f32>, %arg13: tensor<1x4x4x2xf32>, %arg14: tensor<4x8x8x2xf32>, %arg15: tensor<3x3x2x4xf32>):
    %5 = "stablehlo.convolution"(%arg10, %arg11) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 2 : i64, lhs_dilation = array<i64: 1, 2>, padding = dense<[[1, 1], [-1, 2]]> : tensor<2x2xi64>, precision_config = [#stablehlo<precision HIGHEST>, #stablehlo<precision DEFAULT>], rhs_dilation = array<i64: 2, 1>, window_reversal = array<i1: false, true>, window_strides = array<i64: 1, 2>}> : (tensor<1x8x8x2xf32>, tensor<3x3x1x4xf32>) -> tensor<1x6x7x4xf32>
    %6 = "stablehlo.convolution"(%arg14, %arg15) <{batch_group_count = 4 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<4x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x6x6x4xf32>
    %7 = "stablehlo.reduce_window"(%arg10, %arg12) <{base_dilations = array<i64: 1, 1, 1, 1>, padding = dense<[[0, 0], [1, 1], [0, 1], [0, 0]]> : tensor<4x2xi64>, window_dilations = array<i64: 1, 1, 1, 1>, window_dimensions = array<i64: 1, 3, 3, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg22: tensor<f32>, %arg23: tensor<f32>):
      %13 = "stablehlo.maximum"(%arg22, %arg23) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%13) : (tensor<f32>) -> ()
    }) : (tensor<1x8x8x2xf32>, tensor<f32>) -> tensor<1x4x4x2xf32>
    %8 = "stablehlo.reduce_window"(%arg10, %arg12) <{window_dimensions = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg20: tensor<f32>, %arg21: tensor<f32>):
      %12 = "stablehlo.add"(%arg20, %arg21) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%12) : (tensor<f32>) -> ()
    }) : (tensor<1x8x8x2xf32>, tensor<f32>) -> tensor<1x7x7x2xf32>
    %9 = "stablehlo.select_and_scatter"(%arg10, %arg13, %arg12) <{padding = dense<0> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%arg18: tensor<f32>, %arg19: tensor<f32>):
      %11 = "stablehlo.compare"(%arg18, %arg19) <{compare_type = #stablehlo<comparison_type FLOAT>, comparison_direction = #stablehlo<comparison_direction GE>}> : (tensor<f32>, tensor<f32>) -> tensor<i1>
      "stablehlo.return"(%11) : (tensor<i1>) -> ()
    }, {
    ^bb0(%arg16: tensor<f32>, %arg17: tensor<f32>):
      %10 = "stablehlo.add"(%arg16, %arg17) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%10) : (tensor<f32>) -> ()
    }) : (tensor<1x8x8x2xf32>, tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
    "func.return"() : () -> ()
  }) : () -> ()
  "func.func"() <{function_type = (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>, tensor<2x3x4x2xf32>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xf32>) -> (), sym_name = "indexing"}> ({
  ^bb0(%arg0: tensor<3x4x2xf32>, %arg1: tensor<2x3x2xi64>, %arg2: tensor<2x3x2x2xf32>, %arg3: tensor<2x3x4x2xf32>, %arg4: tensor<2x2x3x2xi64>, %arg5: tensor<2x2x3x2x2xf32>):
    %0 = "stablehlo.gather"(%arg0, %arg1) <{dimension_numbers = #stablehlo.gather<offset_dims = [2, 3], collapsed_slice_dims = [0], start_index_map = [1, 0], index_vector_dim = 2>, indices_are_sorted = true, slice_sizes = array<i64: 1, 2, 2>}> : (tensor<3x4x2xf32>, tensor<2x3x2xi64>) -> tensor<2x3x2x2xf32>
    %1 = "stablehlo.gather"(%arg3, %arg4) <{dimension_numbers = #stablehlo.gather<offset_dims = [3, 4], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 2, 2>}> : (tensor<2x3x4x2xf32>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xf32>
    %2 = "stablehlo.scatter"(%arg0, %arg1, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2, 3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 2>, unique_indices = true}> ({
    ^bb0(%arg8: tensor<f32>, %arg9: tensor<f32>):
      %4 = "stablehlo.add"(%arg8, %arg9) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%4) : (tensor<f32>) -> ()
    }) : (tensor<3x4x2xf32>, tensor<2x3x2xi64>, tensor<2x3x2x2xf32>) -> tensor<3x4x2xf32>
    %3 = "stablehlo.scatter"(%arg3, %arg4, %arg5) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 4], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 3>}> ({
    ^bb0(%arg6: tensor<f32>, %arg7: tensor<f32>):
      "stablehlo.return"(%arg7) : (tensor<f32>) -> ()
    }) : (tensor<2x3x4x2xf32>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xf32>) -> tensor<2x3x4x2xf32>
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
