// RUN: tofu-opt %s --verify-roundtrip | filecheck %s
// RUN: tofu-opt %s --emit=stablehlo | tofu-opt - --verify-roundtrip | filecheck %s

// A name is free again where its region ends: in the next region, in the same place after it, and for whatever comes
// later around it. Ours are free only outside of each other, so that the inner one gets a number.

// CHECK-LABEL: func @loops
func.func @loops() -> tensor<i32> {
  // CHECK: %c = tensor.constant dense<0>
  %c = stablehlo.constant dense<0> : tensor<i32>
  // CHECK: %iterArg: tensor<i32>, %iterArg_0: tensor<i32>
  %0:2 = stablehlo.while(%iterArg = %c, %iterArg_0 = %c) : tensor<i32>, tensor<i32>
  cond {
    // CHECK: %one_1 = tensor.constant dense<3>
    %one = stablehlo.constant dense<3> : tensor<i32>
    %1 = stablehlo.compare LT, %iterArg, %one : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %1 : tensor<i1>
  } do {
    // CHECK: %one_2 = tensor.constant dense<1>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %1:2 = stablehlo.while(%iterArg_1 = %one, %iterArg_2 = %iterArg_0) : tensor<i32>, tensor<i32>
    cond {
      // CHECK: %x_1 = tensor.constant dense<2>
      %x = stablehlo.constant dense<2> : tensor<i32>
      %late = stablehlo.compare LT, %iterArg_1, %x : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %late : tensor<i1>
    } do {
      // CHECK: %x_2 = tensor.add %iterArg_1, %one_2
      %x = stablehlo.add %iterArg_1, %one : tensor<i32>
      %late = stablehlo.add %iterArg_2, %iterArg_2 : tensor<i32>
      stablehlo.return %x, %late : tensor<i32>, tensor<i32>
    }
    // CHECK: %x = tensor.add %iterArg, %one_2
    %x = stablehlo.add %iterArg, %one : tensor<i32>
    stablehlo.return %x, %1#1 : tensor<i32>, tensor<i32>
  }
  // CHECK: %late = tensor.add
  // CHECK: %one = tensor.negate %late
  // CHECK: %late_1 = tensor.negate %one
  %late = stablehlo.add %0#0, %0#1 : tensor<i32>
  %one = stablehlo.negate %late : tensor<i32>
  %late_1 = stablehlo.negate %one : tensor<i32>
  return %late_1 : tensor<i32>
}

// CHECK-LABEL: func @branches
func.func @branches(%p: tensor<i1>, %i: tensor<i32>) -> tensor<i32> {
  %r = "stablehlo.if"(%p) ({
    // CHECK: %c_1 = tensor.constant dense<1>
    %c = stablehlo.constant dense<1> : tensor<i32>
    %s = "stablehlo.case"(%i) ({
      // CHECK: %d_1 = tensor.constant dense<4>
      %d = stablehlo.constant dense<4> : tensor<i32>
      stablehlo.return %d : tensor<i32>
    }, {
      // CHECK: %d_2 = tensor.add %c_1, %c_1
      %d = stablehlo.add %c, %c : tensor<i32>
      stablehlo.return %d : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %s : tensor<i32>
  }, {
    // CHECK: %c_2 = tensor.constant dense<2>
    %c = stablehlo.constant dense<2> : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<i1>) -> tensor<i32>
  %c = stablehlo.constant dense<7> : tensor<i32>
  %d = stablehlo.add %c, %r : tensor<i32>
  return %d : tensor<i32>
}

// Names of several results, that look like numbers, and that MLIR has and we have not.
// CHECK-LABEL: func @spellings
func.func @spellings(%x_0: tensor<4xi32>) -> tensor<4xi32> {
  // CHECK: %x_0_1, %x_1 = tensor.optimization_barrier %x_0, %x_0
  %x:2 = stablehlo.optimization_barrier %x_0, %x_0 : tensor<4xi32>, tensor<4xi32>
  // CHECK: %x_1_1 = tensor.add %x_0_1, %x_1
  %x_1 = stablehlo.add %x#0, %x#1 : tensor<4xi32>
  // CHECK: %0 = tensor.negate %x_1_1
  %007 = stablehlo.negate %x_1 : tensor<4xi32>
  // CHECK: %1 = tensor.negate %0
  %7 = stablehlo.negate %007 : tensor<4xi32>
  // CHECK: %2 = tensor.negate %1
  %$d = stablehlo.negate %7 : tensor<4xi32>
  // CHECK: %3 = tensor.negate %2
  %.e = stablehlo.negate %$d : tensor<4xi32>
  // CHECK: %bb0 = tensor.negate %3
  %bb0 = stablehlo.negate %.e : tensor<4xi32>
  // CHECK: %a.b$c-d = tensor.negate %bb0
  %a.b$c-d = stablehlo.negate %bb0 : tensor<4xi32>
  return %a.b$c-d : tensor<4xi32>
}
