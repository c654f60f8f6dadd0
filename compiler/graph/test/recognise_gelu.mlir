// RUN: aot-opt %s --nn-recognise-gelu | FileCheck %s

// CHECK-LABEL: func.func @half_last
// CHECK: nn.gelu %arg0 {approximate = false} : tensor<8xf32>
// CHECK-NEXT: return
func.func @half_last(%x: tensor<8xf32>) -> tensor<8xf32> {
  %root = nn.constant dense<1.41421354> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.div %x, %root : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %1 = nn.erf %0 : tensor<8xf32>
  %2 = nn.add %1, %one : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %3 = nn.mul %x, %2 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %4 = nn.mul %3, %half : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// CHECK-LABEL: func.func @half_first
// CHECK: nn.gelu %arg0 {approximate = false} : tensor<8xf32>
// CHECK-NEXT: return
func.func @half_first(%x: tensor<8xf32>) -> tensor<8xf32> {
  %root = nn.constant dense<0.707106769> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.mul %half, %x : tensor<f32>, tensor<8xf32> -> tensor<8xf32>
  %1 = nn.mul %x, %root : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %2 = nn.erf %1 : tensor<8xf32>
  %3 = nn.add %one, %2 : tensor<f32>, tensor<8xf32> -> tensor<8xf32>
  %4 = nn.mul %0, %3 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// Another factor, or a use of an intermediate value elsewhere.
// CHECK-LABEL: func.func @others
// CHECK-NOT: nn.gelu
func.func @others(%x: tensor<8xf32>, %y: tensor<8xf32>) -> (tensor<8xf32>, tensor<8xf32>) {
  %root = nn.constant dense<0.707106769> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.mul %x, %root : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %1 = nn.erf %0 : tensor<8xf32>
  %2 = nn.add %1, %one : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %3 = nn.mul %y, %2 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  %4 = nn.mul %3, %half : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %5 = nn.mul %x, %half : tensor<8xf32>, tensor<f32> -> tensor<8xf32>
  %6 = nn.mul %5, %2 : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>
  return %4, %6 : tensor<8xf32>, tensor<8xf32>
}
