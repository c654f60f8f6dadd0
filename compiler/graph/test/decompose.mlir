// RUN: aot-opt %s --nn-decompose | FileCheck %s

// CHECK-LABEL: func.func @batch_norm
// CHECK-NOT: nn.batch_norm
// CHECK: nn.sqrt
// CHECK: nn.sub
// CHECK: nn.div
// CHECK: nn.mul
// CHECK: nn.add
func.func @batch_norm(%x: tensor<1x3x4x5xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>, %v: tensor<3xf32>) -> tensor<1x3x4x5xf32> {
  %0 = nn.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f32} : (tensor<1x3x4x5xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<1x3x4x5xf32>
  return %0 : tensor<1x3x4x5xf32>
}

// CHECK-LABEL: func.func @group_norm
// CHECK: nn.reshape %{{.*}} : tensor<2x6x4xf32> -> tensor<2x3x8xf32>
// CHECK: nn.layer_norm
// CHECK-SAME: axis = 2
// CHECK: nn.mul
// CHECK: nn.add
func.func @group_norm(%x: tensor<2x6x4xf32>, %s: tensor<6xf32>, %b: tensor<6xf32>) -> tensor<2x6x4xf32> {
  %0 = nn.group_norm %x, %s, %b {groups = 3 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x6x4xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<2x6x4xf32>
  return %0 : tensor<2x6x4xf32>
}
