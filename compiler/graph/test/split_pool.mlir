// RUN: aot-opt %s --nn-split-pool | FileCheck %s

// CHECK-LABEL: func.func @large
// CHECK: %[[ROWS:.*]] = nn.max_pool %arg0 {dilations = array<i64: 1, 1>, kernel = array<i64: 1, 9>, pads = array<i64: 0, 4, 0, 4>, strides = array<i64: 1, 1>} : tensor<1x8x20x20xf32> -> tensor<1x8x20x20xf32>
// CHECK: nn.max_pool %[[ROWS]] {dilations = array<i64: 1, 1>, kernel = array<i64: 9, 1>, pads = array<i64: 4, 0, 4, 0>, strides = array<i64: 1, 1>}
func.func @large(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x20x20xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 9, 9>, strides = array<i64: 1, 1>, pads = array<i64: 4, 4, 4, 4>, dilations = array<i64: 1, 1>} : tensor<1x8x20x20xf32> -> tensor<1x8x20x20xf32>
  return %0 : tensor<1x8x20x20xf32>
}

// Strides, dilations and pads go with their dimensions.
// CHECK-LABEL: func.func @strided
// CHECK: nn.max_pool %arg0 {channels_last, dilations = array<i64: 1, 3>, kernel = array<i64: 1, 7>, pads = array<i64: 0, 2, 0, 4>, strides = array<i64: 1, 2>} : tensor<1x30x40x8xi8> -> tensor<1x30x14x8xi8>
// CHECK: nn.max_pool %{{.*}} {channels_last, dilations = array<i64: 2, 1>, kernel = array<i64: 6, 1>, pads = array<i64: 1, 0, 3, 0>, strides = array<i64: 1, 1>} : tensor<1x30x14x8xi8> -> tensor<1x24x14x8xi8>
func.func @strided(%x: tensor<1x30x40x8xi8>) -> tensor<1x24x14x8xi8> {
  %0 = nn.max_pool %x {kernel = array<i64: 6, 7>, strides = array<i64: 1, 2>, pads = array<i64: 1, 2, 3, 4>, dilations = array<i64: 2, 3>, channels_last} : tensor<1x30x40x8xi8> -> tensor<1x24x14x8xi8>
  return %0 : tensor<1x24x14x8xi8>
}

// CHECK-LABEL: func.func @small
// CHECK: nn.max_pool
// CHECK-NOT: nn.max_pool
func.func @small(%x: tensor<1x8x20x20xf32>) -> tensor<1x8x10x10xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>} : tensor<1x8x20x20xf32> -> tensor<1x8x10x10xf32>
  return %0 : tensor<1x8x10x10xf32>
}
