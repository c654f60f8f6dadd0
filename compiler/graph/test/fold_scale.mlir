// RUN: aot-opt %s --nn-fold-scale | FileCheck %s
// RUN: aot-opt %s --nn-fold-scale=strict-math | FileCheck %s --check-prefix=STRICT

// (conv + 1) * 2 - 3: filter 2, bias -1.
// CHECK-LABEL: func.func @conv
// CHECK-DAG: %[[F:.*]] = nn.constant dense<2.000000e+00> : tensor<2x1x1x1xf32>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<-1.000000e+00> : tensor<2xf32>
// CHECK: nn.conv %arg0, %[[F]] bias %[[B]]
// CHECK-NEXT: return
// STRICT-LABEL: func.func @conv
// STRICT: nn.conv %{{.*}} bias
// STRICT-NEXT: nn.mul
// STRICT-NEXT: nn.sub
func.func @conv(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %f = nn.constant dense<1.0> : tensor<2x1x1x1xf32>
  %one = nn.constant dense<1.0> : tensor<1x2x1x1xf32>
  %two = nn.constant dense<2.0> : tensor<f32>
  %three = nn.constant dense<3.0> : tensor<2x1x1xf32>
  %0 = nn.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.add %0, %one : tensor<1x2x4x4xf32>, tensor<1x2x1x1xf32> -> tensor<1x2x4x4xf32>
  %2 = nn.mul %two, %1 : tensor<f32>, tensor<1x2x4x4xf32> -> tensor<1x2x4x4xf32>
  %3 = nn.sub %2, %three : tensor<1x2x4x4xf32>, tensor<2x1x1xf32> -> tensor<1x2x4x4xf32>
  return %3 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func.func @matmul
// CHECK-DAG: %[[W:.*]] = nn.constant dense<{{\[\[}}1.000000e+00, 2.000000e+00], [1.000000e+00, 2.000000e+00]]>
// CHECK-DAG: %[[B:.*]] = nn.constant dense<[3.000000e+00, 6.000000e+00]>
// CHECK: %[[M:.*]] = nn.matmul %arg0, %[[W]]
// CHECK-NEXT: nn.add %[[M]], %[[B]]
// CHECK-NEXT: return
func.func @matmul(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = nn.constant dense<1.0> : tensor<2x2xf32>
  %b = nn.constant dense<3.0> : tensor<2xf32>
  %s = nn.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %0 = nn.matmul %x, %w : tensor<3x2xf32>, tensor<2x2xf32> -> tensor<3x2xf32>
  %1 = nn.add %0, %b : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %2 = nn.mul %1, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// A factor that differs from row to row stays, as does a convolution with another use.
// CHECK-LABEL: func.func @others
// CHECK: nn.matmul
// CHECK-NEXT: nn.mul
func.func @others(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = nn.constant dense<1.0> : tensor<2x2xf32>
  %s = nn.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %0 = nn.matmul %x, %w : tensor<3x2xf32>, tensor<2x2xf32> -> tensor<3x2xf32>
  %1 = nn.mul %0, %s : tensor<3x2xf32>, tensor<3x1xf32> -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// Rounding by addition survives.
// CHECK-LABEL: func.func @rounded
// CHECK: nn.conv %{{.*}} bias
// CHECK-NEXT: nn.sub
func.func @rounded(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %f = nn.constant dense<1.0> : tensor<2x1x1x1xf32>
  %magic = nn.constant dense<12582912.0> : tensor<f32>
  %0 = nn.conv %x, %f {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %1 = nn.add %0, %magic : tensor<1x2x4x4xf32>, tensor<f32> -> tensor<1x2x4x4xf32>
  %2 = nn.sub %1, %magic : tensor<1x2x4x4xf32>, tensor<f32> -> tensor<1x2x4x4xf32>
  return %2 : tensor<1x2x4x4xf32>
}

// A scaled filter would overflow, or lose the digits that 16 bits have.
// CHECK-LABEL: func.func @out_of_range
// CHECK: nn.matmul
// CHECK-NEXT: nn.mul
// CHECK: nn.matmul
// CHECK-NEXT: nn.mul
func.func @out_of_range(%x: tensor<3x2xf32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %large = nn.constant dense<1.0e30> : tensor<2x2xf32>
  %narrow = nn.constant dense<1.0> : tensor<2x2xf16>
  %s = nn.constant dense<[1.0e20, 2.0]> : tensor<2xf32>
  %0 = nn.matmul %x, %large : tensor<3x2xf32>, tensor<2x2xf32> -> tensor<3x2xf32>
  %1 = nn.mul %0, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %2 = nn.matmul %x, %narrow : tensor<3x2xf32>, tensor<2x2xf16> -> tensor<3x2xf32>
  %3 = nn.mul %2, %s : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  return %1, %3 : tensor<3x2xf32>, tensor<3x2xf32>
}
