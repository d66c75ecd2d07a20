// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - | filecheck %s

// CHECK-LABEL: func @constants()
func.func @constants() {
  // CHECK-NEXT: tensor.constant dense<1.0> : tensor<2x3xf32>
  %0 = stablehlo.constant dense<1.000000e+00> : tensor<2x3xf32>
  // CHECK-NEXT: tensor.constant dense<{{.}}[1, -2], [3, 4]]> : tensor<2x2xi8>
  %1 = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi8>
  // CHECK-NEXT: tensor.constant dense<[0.1, 0xFF800000, 1e-7, 3e30]> : tensor<4xf32>
  %2 = stablehlo.constant dense<[1.000000e-01, 0xFF800000, 1.000000e-07, 3.000000e+30]> : tensor<4xf32>
  // CHECK-NEXT: tensor.constant dense<[1.0, 2.0, -0.5]> : tensor<3xf32>
  %3 = stablehlo.constant dense<"0x0000803F00000040000000BF"> : tensor<3xf32>
  // CHECK-NEXT: tensor.constant dense<true> : tensor<2x2xi1>
  %4 = stablehlo.constant dense<true> : tensor<2x2xi1>
  // CHECK-NEXT: tensor.constant dense<[true, false, true]> : tensor<3xi1>
  %5 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
  // A byte for each boolean, and eight in a byte.
  // CHECK-NEXT: tensor.constant dense<[true, false, true, true]> : tensor<4xi1>
  %6 = stablehlo.constant dense<"0x01000101"> : tensor<4xi1>
  // CHECK-NEXT: tensor.constant dense<[true, false, true, false, false, false, false, false, true, true]> : tensor<10xi1>
  %7 = stablehlo.constant dense<"0x0503"> : tensor<10xi1>
  // CHECK-NEXT: tensor.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
  %8 = stablehlo.constant dense<[(1.000000e+00,2.000000e+00), (3.000000e+00,-4.000000e+00)]> : tensor<2xcomplex<f32>>
  // CHECK-NEXT: tensor.constant dense<(0.0, 1.0)> : tensor<3xcomplex<f64>>
  %9 = stablehlo.constant dense<(0.0, 1.0)> : tensor<3xcomplex<f64>>
  // CHECK-NEXT: tensor.constant dense<> : tensor<0x3xf32>
  %10 = stablehlo.constant dense<> : tensor<0x3xf32>
  // CHECK-NEXT: tensor.constant dense<[-1, 1]> : tensor<2xi32>
  %11 = stablehlo.constant dense<[-0x1, 0x1]> : tensor<2xi32>
  // CHECK-NEXT: tensor.constant dense<[-8, 7]> : tensor<2xi4>
  %12 = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  // CHECK-NEXT: tensor.constant dense<[448.0, 0.5]> : tensor<2xf8E4M3FN>
  %13 = stablehlo.constant dense<[4.480000e+02, 5.000000e-01]> : tensor<2xf8E4M3FN>
  // CHECK-NEXT: tensor.constant dense<18446744073709551615> : tensor<ui64>
  %14 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
  // The first four bytes of a resource say how the others are aligned.
  // CHECK-NEXT: tensor.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %15 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
  // CHECK-NEXT: tensor.constant dense<0.5> : tensor<bf16>
  %16 = stablehlo.constant dense<5.000000e-01> : tensor<bf16>
  // Of the bytes of narrow elements the lowest bits count; booleans are true unless all are zero.
  // CHECK-NEXT: tensor.constant dense<true> : tensor<8xi1>
  %17 = stablehlo.constant dense<"0xFF"> : tensor<8xi1>
  // CHECK-NEXT: tensor.constant dense<[true, false, true]> : tensor<3xi1>
  %18 = stablehlo.constant dense<"0x0500FF"> : tensor<3xi1>
  // CHECK-NEXT: tensor.constant dense<[-8, 7, -8]> : tensor<3xi4>
  %19 = stablehlo.constant dense<"0x0807F8"> : tensor<3xi4>
  // CHECK-NEXT: tensor.constant dense<15> : tensor<2xui4>
  %20 = stablehlo.constant dense<"0xFF"> : tensor<2xui4>
  // An integer may be given by its bits.
  // CHECK-NEXT: tensor.constant dense<[-1, -128, 127]> : tensor<3xi8>
  %21 = stablehlo.constant dense<[0xFF, 0x80, 0x7F]> : tensor<3xi8>
  // CHECK-NEXT: tensor.constant dense<-1> : tensor<i64>
  %22 = stablehlo.constant dense<0xFFFFFFFFFFFFFFFF> : tensor<i64>
  return
}

{-#
  dialect_resources: {
    builtin: {
      other: "0x08000000000000000000F03F",
      weights: "0x040000000000803F00000040"
    }
  }
#-}
