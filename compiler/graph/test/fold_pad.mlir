// RUN: aot-opt %s --nn-fold-pad | FileCheck %s

// CHECK-LABEL: func.func @conv
// CHECK: nn.conv %arg0, %arg1 {{.*}}pads = array<i64: 0, 1, 3, 1>
func.func @conv(%x: tensor<1x1x4x4xf32>, %f: tensor<2x1x3x3xf32>) -> tensor<1x2x5x4xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %0 = nn.pad %x value %zero {begins = array<i64: 0, 0, 0, 1>, mode = "constant"} : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x7x5xf32>
  %1 = nn.conv %0, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 1>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1x7x5xf32>, tensor<2x1x3x3xf32>) -> tensor<1x2x5x4xf32>
  return %1 : tensor<1x2x5x4xf32>
}

// CHECK-LABEL: func.func @avg_pool
// CHECK: nn.avg_pool %arg0 {count_include_pad = true, {{.*}}pads = array<i64: 1, 1>
func.func @avg_pool(%x: tensor<1x1x4xf32>) -> tensor<1x1x3xf32> {
  %0 = nn.pad %x {begins = array<i64: 0, 0, 1>, mode = "constant"} : (tensor<1x1x4xf32>) -> tensor<1x1x6xf32>
  %1 = nn.avg_pool %0 {kernel = array<i64: 2>, strides = array<i64: 2>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, count_include_pad = false} : tensor<1x1x6xf32> -> tensor<1x1x3xf32>
  return %1 : tensor<1x1x3xf32>
}

// Padding of another value, mode or dimension stays.
// CHECK-LABEL: func.func @others
// CHECK-COUNT-3: nn.pad
func.func @others(%x: tensor<1x1x4xf32>, %f: tensor<2x1x3xf32>, %g: tensor<2x3x3xf32>) -> (tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>) {
  %one = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.pad %x value %one {begins = array<i64: 0, 0, 1>, mode = "constant"} : (tensor<1x1x4xf32>, tensor<f32>) -> tensor<1x1x6xf32>
  %1 = nn.conv %0, %f {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x1x6xf32>, tensor<2x1x3xf32>) -> tensor<1x2x4xf32>
  %2 = nn.pad %x {begins = array<i64: 0, 0, 1>, mode = "edge"} : (tensor<1x1x4xf32>) -> tensor<1x1x6xf32>
  %3 = nn.conv %2, %f {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x1x6xf32>, tensor<2x1x3xf32>) -> tensor<1x2x4xf32>
  %4 = nn.pad %x {begins = array<i64: 0, 1, 0>, mode = "constant"} : (tensor<1x1x4xf32>) -> tensor<1x3x4xf32>
  %5 = nn.conv %4, %g {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 1 : i64} : (tensor<1x3x4xf32>, tensor<2x3x3xf32>) -> tensor<1x2x2xf32>
  return %1, %3, %5 : tensor<1x2x4xf32>, tensor<1x2x4xf32>, tensor<1x2x2xf32>
}
