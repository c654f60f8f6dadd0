// RUN: aot-opt %s --nn-recognise-layer-norm | FileCheck %s

// CHECK-LABEL: func.func @with_parameters
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x8xf32>, %[[S:.*]]: tensor<8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK-NEXT: nn.layer_norm %[[X]] scale %[[S]] bias %[[B]] {axis = 2 : i64, epsilon = 9.99999974E-6 : f32}
// CHECK-NEXT: return
func.func @with_parameters(%x: tensor<2x3x8xf32>, %s: tensor<8xf32>, %b: tensor<8xf32>) -> tensor<2x3x8xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %epsilon = nn.constant dense<1.0e-5> : tensor<f32>
  %0 = nn.reduce_mean %x {axes = array<i64: 2>} : tensor<2x3x8xf32> -> tensor<2x3x1xf32>
  %1 = nn.sub %x, %0 : tensor<2x3x8xf32>, tensor<2x3x1xf32> -> tensor<2x3x8xf32>
  %2 = nn.pow %1, %two : tensor<2x3x8xf32>, tensor<f32> -> tensor<2x3x8xf32>
  %3 = nn.reduce_mean %2 {axes = array<i64: 2>} : tensor<2x3x8xf32> -> tensor<2x3x1xf32>
  %4 = nn.add %3, %epsilon : tensor<2x3x1xf32>, tensor<f32> -> tensor<2x3x1xf32>
  %5 = nn.sqrt %4 : tensor<2x3x1xf32>
  %6 = nn.div %1, %5 : tensor<2x3x8xf32>, tensor<2x3x1xf32> -> tensor<2x3x8xf32>
  %7 = nn.mul %6, %s : tensor<2x3x8xf32>, tensor<8xf32> -> tensor<2x3x8xf32>
  %8 = nn.add %7, %b : tensor<2x3x8xf32>, tensor<8xf32> -> tensor<2x3x8xf32>
  return %8 : tensor<2x3x8xf32>
}

// The mean over a middle dimension is no layer normalisation, nor is one whose variance has another use.
// CHECK-LABEL: func.func @others
// CHECK-NOT: nn.layer_norm
func.func @others(%x: tensor<2x3x8xf32>) -> (tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x1xf32>) {
  %epsilon = nn.constant dense<1.0e-5> : tensor<f32>
  %0 = nn.reduce_mean %x {axes = array<i64: 1>} : tensor<2x3x8xf32> -> tensor<2x1x8xf32>
  %1 = nn.sub %x, %0 : tensor<2x3x8xf32>, tensor<2x1x8xf32> -> tensor<2x3x8xf32>
  %2 = nn.mul %1, %1 : tensor<2x3x8xf32>, tensor<2x3x8xf32> -> tensor<2x3x8xf32>
  %3 = nn.reduce_mean %2 {axes = array<i64: 1>} : tensor<2x3x8xf32> -> tensor<2x1x8xf32>
  %4 = nn.add %3, %epsilon : tensor<2x1x8xf32>, tensor<f32> -> tensor<2x1x8xf32>
  %5 = nn.sqrt %4 : tensor<2x1x8xf32>
  %6 = nn.div %1, %5 : tensor<2x3x8xf32>, tensor<2x1x8xf32> -> tensor<2x3x8xf32>
  %10 = nn.reduce_mean %x {axes = array<i64: 2>} : tensor<2x3x8xf32> -> tensor<2x3x1xf32>
  %11 = nn.sub %x, %10 : tensor<2x3x8xf32>, tensor<2x3x1xf32> -> tensor<2x3x8xf32>
  %12 = nn.mul %11, %11 : tensor<2x3x8xf32>, tensor<2x3x8xf32> -> tensor<2x3x8xf32>
  %13 = nn.reduce_mean %12 {axes = array<i64: 2>} : tensor<2x3x8xf32> -> tensor<2x3x1xf32>
  %14 = nn.add %13, %epsilon : tensor<2x3x1xf32>, tensor<f32> -> tensor<2x3x1xf32>
  %15 = nn.sqrt %14 : tensor<2x3x1xf32>
  %16 = nn.div %11, %15 : tensor<2x3x8xf32>, tensor<2x3x1xf32> -> tensor<2x3x8xf32>
  return %6, %16, %13 : tensor<2x3x8xf32>, tensor<2x3x8xf32>, tensor<2x3x1xf32>
}
