// RUN: aot-opt %s --nn-fold-batch-norm | FileCheck %s

// Factors 2 and 4, offsets 1 - 2 * 2 = -3 and 1 - 1 * 4 = -3.
// CHECK-LABEL: func.func @after_conv
// CHECK-DAG: %[[F:.*]] = nn.constant dense<{{\[\[\[\[}}2.000000e+00]]], {{\[\[\[}}8.000000e+00]]]]> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<-3.000000e+00> : tensor<2xf32>
// CHECK: nn.conv %arg0, %[[F]] bias %[[B]]
// CHECK-NEXT: return
func.func @after_conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %f = nn.constant dense<[[[[1.0]]], [[[2.0]]]]> : tensor<2x1x1x1xf32>
  %scale = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %bias = nn.constant dense<[1.0, 1.0]> : tensor<2xf32>
  %mean = nn.constant dense<[2.0, 1.0]> : tensor<2xf32>
  %variance = nn.constant dense<[0.0, 0.0]> : tensor<2xf32>
  %0 = nn.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.batch_norm %0, %scale, %bias, %mean, %variance {epsilon = 0.25 : f32} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %1 : tensor<1x2x4x4xf32>
}

// Input channel c of a transposed convolution with 2 groups makes result channels of its group only.
// CHECK-LABEL: func.func @after_conv_transpose
// CHECK-DAG: %[[F:.*]] = nn.constant dense<{{\[\[\[}}2.000000e+00], [2.000000e+00]], {{\[\[}}4.000000e+00], [4.000000e+00]]]> : tensor<2x2x1xf32>
// CHECK: nn.conv_transpose %arg0
func.func @after_conv_transpose(%x: tensor<1x2x4xf32>) -> tensor<1x4x4xf32> {
  %f = nn.constant dense<1.0> : tensor<2x2x1xf32>
  %scale = nn.constant dense<[1.0, 1.0, 2.0, 2.0]> : tensor<4xf32>
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  %0 = nn.conv_transpose %x, %f {strides = array<i64: 1>, pads = array<i64: 0, 0>, dilations = array<i64: 1>, group = 2 : i64} : (tensor<1x2x4xf32>, tensor<2x2x1xf32>) -> tensor<1x4x4xf32>
  %1 = nn.batch_norm %0, %scale, %zero, %zero, %zero {epsilon = 0.25 : f32} : (tensor<1x4x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1x4x4xf32>
  return %1 : tensor<1x4x4xf32>
}

// CHECK-LABEL: func.func @alone
// CHECK-DAG: %[[F:.*]] = nn.constant dense<2.000000e+00> : tensor<2x1x1xf32>
// CHECK: %[[M:.*]] = nn.mul %arg0, %[[F]]
// CHECK-NEXT: nn.add %[[M]]
func.func @alone(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %one = nn.constant dense<1.0> : tensor<2xf32>
  %zero = nn.constant dense<0.0> : tensor<2xf32>
  %0 = nn.batch_norm %x, %one, %one, %one, %zero {epsilon = 0.25 : f32} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}
