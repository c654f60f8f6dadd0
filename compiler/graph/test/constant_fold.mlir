// RUN: aot-opt %s --nn-constant-fold | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[C:.*]] = nn.constant dense<[4.000000e+00, 6.000000e+00]> : tensor<2xf32>
// CHECK-NEXT: nn.add %arg0, %[[C]]
func.func @chain(%x: tensor<2xf32>) -> tensor<2xf32> {
  %a = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = nn.constant dense<1.0> : tensor<f32>
  %c = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.add %a, %b : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %1 = nn.mul %0, %c : tensor<2xf32>, tensor<f32> -> tensor<2xf32>
  %2 = nn.add %x, %1 : tensor<2xf32>, tensor<2xf32> -> tensor<2xf32>
  return %2 : tensor<2xf32>
}

// CHECK-LABEL: func.func @moves
// CHECK-NEXT: %[[C:.*]] = nn.constant dense<{{\[\[}}1, 3], [2, 4]]> : tensor<2x2xi64>
// CHECK-NEXT: return %[[C]]
func.func @moves() -> tensor<2x2xi64> {
  %a = nn.constant dense<[1, 2, 3, 4]> : tensor<4xi64>
  %0 = nn.reshape %a : tensor<4xi64> -> tensor<2x2xi64>
  %1 = nn.transpose %0 {perm = array<i64: 1, 0>} : tensor<2x2xi64> -> tensor<2x2xi64>
  return %1 : tensor<2x2xi64>
}

// What grows from little to much stays an operation.
// CHECK-LABEL: func.func @growth
// CHECK: nn.broadcast
func.func @growth() -> tensor<256x256xf32> {
  %a = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.broadcast %a : tensor<f32> -> tensor<256x256xf32>
  return %0 : tensor<256x256xf32>
}

// Nor does what takes no memory until somebody writes it out: one value over any number of elements.
// CHECK-LABEL: func.func @splat_of_16_gigabytes
// CHECK: nn.exp
func.func @splat_of_16_gigabytes() -> tensor<4294967296xf32> {
  %a = nn.constant dense<1.0> : tensor<4294967296xf32>
  %0 = nn.exp %a : tensor<4294967296xf32>
  return %0 : tensor<4294967296xf32>
}
