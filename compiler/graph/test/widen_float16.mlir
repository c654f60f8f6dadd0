// RUN: aot-opt %s --nn-widen-float16 | FileCheck %s

// Weights stay in 16 bits, the product and what follows is wide, the result is narrow again.
// CHECK-LABEL: func.func @product
// CHECK: nn.cast %{{.*}} : tensor<2x3xf16> -> tensor<2x3xf32>
// CHECK: nn.matmul {{.*}} : tensor<2x3xf32>, tensor<3x4xf16> -> tensor<2x4xf32>
// CHECK: nn.relu {{.*}} : tensor<2x4xf32>
// CHECK: nn.cast %{{.*}} : tensor<2x4xf32> -> tensor<2x4xf16>
func.func @product(%x: tensor<2x3xf16>) -> tensor<2x4xf16> {
  %w = nn.constant dense<0.5> : tensor<3x4xf16>
  %0 = nn.matmul %x, %w : tensor<2x3xf16>, tensor<3x4xf16> -> tensor<2x4xf16>
  %1 = nn.relu %0 : tensor<2x4xf16>
  return %1 : tensor<2x4xf16>
}

// Bits are those of the narrow value.
// CHECK-LABEL: func.func @bits
// CHECK: nn.relu {{.*}} : tensor<2x3xf32>
// CHECK: nn.cast %{{.*}} : tensor<2x3xf32> -> tensor<2x3xf16>
// CHECK: nn.bitcast %{{.*}} : tensor<2x3xf16> -> tensor<2x3xi16>
func.func @bits(%x: tensor<2x3xf16>) -> tensor<2x3xi16> {
  %0 = nn.relu %x : tensor<2x3xf16>
  %1 = nn.bitcast %0 : tensor<2x3xf16> -> tensor<2x3xi16>
  return %1 : tensor<2x3xi16>
}

// Moving elements needs no arithmetic.
// CHECK-LABEL: func.func @move
// CHECK-NOT: nn.cast
func.func @move(%x: tensor<2x3xbf16>) -> tensor<3x2xbf16> {
  %0 = nn.transpose %x {perm = array<i64: 1, 0>} : tensor<2x3xbf16> -> tensor<3x2xbf16>
  return %0 : tensor<3x2xbf16>
}
