// RUN: aot-opt %s --nn-assign-layout --nn-canonicalize --nn-constant-fold --nn-canonicalize --cse | FileCheck %s

// Only the input and the output are transposed; the filter and the channel's bias are constants in the new layout.
// CHECK-LABEL: func.func @convolutions
// CHECK-DAG: %[[F:.*]] = nn.constant {{.*}} : tensor<3x3x4x8xf32>
// CHECK-DAG: %[[G:.*]] = nn.constant {{.*}} : tensor<1x1x8x4xf32>
// CHECK-DAG: %[[C:.*]] = nn.constant {{.*}} : tensor<1x1x1x8xf32>
// CHECK: nn.transpose %arg0 {perm = array<i64: 0, 2, 3, 1>}
// CHECK-NEXT: nn.conv %{{.*}}, %[[F]] {channels_last
// CHECK-NEXT: nn.add %{{.*}}, %[[C]]
// CHECK-NEXT: nn.relu
// CHECK-NEXT: nn.max_pool %{{.*}} {channels_last
// CHECK-NEXT: nn.conv %{{.*}}, %[[G]] {channels_last
// CHECK-NEXT: nn.transpose %{{.*}} {perm = array<i64: 0, 3, 1, 2>} : tensor<1x4x4x4xf32> -> tensor<1x4x4x4xf32>
// CHECK-NEXT: return
func.func @convolutions(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %f = nn.constant dense<1.0> : tensor<8x4x3x3xf32>
  %g = nn.constant dense<1.0> : tensor<4x8x1x1xf32>
  %c = nn.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]], [[5.0]], [[6.0]], [[7.0]], [[8.0]]]> : tensor<8x1x1xf32>
  %0 = nn.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x4x8x8xf32>, tensor<8x4x3x3xf32>) -> tensor<1x8x8x8xf32>
  %1 = nn.add %0, %c : tensor<1x8x8x8xf32>, tensor<8x1x1xf32> -> tensor<1x8x8x8xf32>
  %2 = nn.relu %1 : tensor<1x8x8x8xf32>
  %3 = nn.max_pool %2 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x8x8x8xf32> -> tensor<1x8x4x4xf32>
  %4 = nn.conv %3, %g {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x8x4x4xf32>, tensor<4x8x1x1xf32>) -> tensor<1x4x4x4xf32>
  return %4 : tensor<1x4x4x4xf32>
}

// Squeeze and excitation: reductions, broadcasts and concatenation in channels last; one channel and the pooled vector move for nothing.
// CHECK-LABEL: func.func @attributes
// CHECK: nn.reshape %arg0 : tensor<1x1x8x8xf32> -> tensor<1x8x8x1xf32>
// CHECK: nn.conv
// CHECK-NEXT: nn.reduce_mean %{{.*}} {axes = array<i64: 1, 2>} : tensor<1x8x8x8xf32> -> tensor<1x1x1x8xf32>
// CHECK-NEXT: nn.sigmoid
// CHECK-NEXT: nn.mul
// CHECK-NEXT: nn.concat %{{.*}} {axis = 3 : i64}
// CHECK-NEXT: nn.slice %{{.*}} {starts = array<i64: 0, 0, 0, 4>
// CHECK-NEXT: nn.softmax %{{.*}} {axis = 3 : i64}
// CHECK-NEXT: nn.resize {{.*}}scales = array<f32: 1.000000e+00, 5.000000e-01, 5.000000e-01, 1.000000e+00>
// CHECK-NEXT: nn.transpose
// CHECK-NEXT: return
func.func @attributes(%x: tensor<1x1x8x8xf32>, %f: tensor<8x1x1x1xf32>) -> tensor<1x8x4x4xf32> {
  %0 = nn.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1x8x8xf32>, tensor<8x1x1x1xf32>) -> tensor<1x8x8x8xf32>
  %1 = nn.reduce_mean %0 {axes = array<i64: 2, 3>} : tensor<1x8x8x8xf32> -> tensor<1x8x1x1xf32>
  %2 = nn.sigmoid %1 : tensor<1x8x1x1xf32>
  %3 = nn.mul %0, %2 : tensor<1x8x8x8xf32>, tensor<1x8x1x1xf32> -> tensor<1x8x8x8xf32>
  %4 = nn.concat %0, %3 {axis = 1 : i64} : (tensor<1x8x8x8xf32>, tensor<1x8x8x8xf32>) -> tensor<1x16x8x8xf32>
  %5 = nn.slice %4 {starts = array<i64: 0, 4, 0, 0>, steps = array<i64: 1, 1, 1, 1>} : tensor<1x16x8x8xf32> -> tensor<1x8x8x8xf32>
  %6 = nn.softmax %5 {axis = 1 : i64} : tensor<1x8x8x8xf32>
  %7 = nn.resize %6 {mode = "linear", coordinates = "half_pixel", nearest = "floor", scales = array<f32: 1.0, 1.0, 0.5, 0.5>, roi = array<f32>, cubic_coeff_a = -0.75 : f32, extrapolation_value = 0.0 : f32, exclude_outside = false, antialias = false} : tensor<1x8x8x8xf32> -> tensor<1x8x4x4xf32>
  return %7 : tensor<1x8x4x4xf32>
}

// A patch embedding: the transpose to tokens cancels with the layout.
// CHECK-LABEL: func.func @patches
// CHECK: nn.conv
// CHECK-NEXT: nn.reshape %{{.*}} : tensor<1x4x4x8xf32> -> tensor<1x16x8xf32>
// CHECK-NEXT: return
func.func @patches(%x: tensor<1x3x8x8xf32>, %f: tensor<8x3x2x2xf32>) -> tensor<1x16x8xf32> {
  %0 = nn.conv %x, %f {strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x3x8x8xf32>, tensor<8x3x2x2xf32>) -> tensor<1x8x4x4xf32>
  %1 = nn.reshape %0 : tensor<1x8x4x4xf32> -> tensor<1x8x16xf32>
  %2 = nn.transpose %1 {perm = array<i64: 0, 2, 1>} : tensor<1x8x16xf32> -> tensor<1x16x8xf32>
  return %2 : tensor<1x16x8xf32>
}

// Without convolutions nothing changes.
// CHECK-LABEL: func.func @pooling_alone
// CHECK-NEXT: nn.max_pool
// CHECK-NEXT: return
func.func @pooling_alone(%x: tensor<1x4x8x8xf32>) -> tensor<1x4x4x4xf32> {
  %0 = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>} : tensor<1x4x8x8xf32> -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}
