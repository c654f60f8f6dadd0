// RUN: aot-opt %s --nn-canonicalize | FileCheck %s
// RUN: aot-opt %s --nn-canonicalize=strict-math | FileCheck %s --check-prefix=STRICT

// CHECK-LABEL: func.func @transposes
// CHECK-SAME: (%[[X:.*]]: tensor<2x3x4xf32>)
// CHECK-NEXT: return %[[X]]
func.func @transposes(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %0 = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<2x3x4xf32> -> tensor<2x4x3xf32>
  %1 = nn.transpose %0 {perm = array<i64: 0, 2, 1>} : tensor<2x4x3xf32> -> tensor<2x3x4xf32>
  return %1 : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @unit_transpose
// CHECK-NEXT: nn.reshape %arg0 : tensor<1x3x4x1xf32> -> tensor<3x1x1x4xf32>
// CHECK-NEXT: return
func.func @unit_transpose(%x: tensor<1x3x4x1xf32>) -> tensor<3x1x1x4xf32> {
  %0 = nn.transpose %x {perm = array<i64: 1, 0, 3, 2>} : tensor<1x3x4x1xf32> -> tensor<3x1x1x4xf32>
  return %0 : tensor<3x1x1x4xf32>
}

// CHECK-LABEL: func.func @transpose_through_unit_reshape
// CHECK-NEXT: nn.reshape %arg0 : tensor<3x4xf32> -> tensor<1x3x4xf32>
// CHECK-NEXT: return
func.func @transpose_through_unit_reshape(%x: tensor<3x4xf32>) -> tensor<1x3x4xf32> {
  %0 = nn.transpose %x {perm = array<i64: 1, 0>} : tensor<3x4xf32> -> tensor<4x3xf32>
  %1 = nn.reshape %0 : tensor<4x3xf32> -> tensor<1x4x3xf32>
  %2 = nn.transpose %1 {perm = array<i64: 0, 2, 1>} : tensor<1x4x3xf32> -> tensor<1x3x4xf32>
  return %2 : tensor<1x3x4xf32>
}

// CHECK-LABEL: func.func @reshapes
// CHECK-NEXT: return %arg0
func.func @reshapes(%x: tensor<2x6xf32>) -> tensor<2x6xf32> {
  %0 = nn.reshape %x : tensor<2x6xf32> -> tensor<12xf32>
  %1 = nn.reshape %0 : tensor<12xf32> -> tensor<2x6xf32>
  return %1 : tensor<2x6xf32>
}

// CHECK-LABEL: func.func @slices
// CHECK-NEXT: nn.slice %arg0 {starts = array<i64: 7>, steps = array<i64: -4>} : tensor<10xf32> -> tensor<2xf32>
// CHECK-NEXT: return
func.func @slices(%x: tensor<10xf32>) -> tensor<2xf32> {
  %0 = nn.slice %x {starts = array<i64: 1>, steps = array<i64: 2>} : tensor<10xf32> -> tensor<4xf32>
  %1 = nn.slice %0 {starts = array<i64: 3>, steps = array<i64: -2>} : tensor<4xf32> -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @broadcast_operand
// CHECK-NEXT: nn.add %arg0, %arg1 : tensor<2x3xf32>, tensor<3xf32> -> tensor<2x3xf32>
func.func @broadcast_operand(%x: tensor<2x3xf32>, %y: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = nn.broadcast %y : tensor<3xf32> -> tensor<2x3xf32>
  %1 = nn.add %x, %0 : tensor<2x3xf32>, tensor<2x3xf32> -> tensor<2x3xf32>
  return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @empty_moves
// CHECK-NEXT: return %arg0
func.func @empty_moves(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = nn.pad %x {begins = array<i64: 0, 0>, mode = "constant"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = nn.concat %0 {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = nn.broadcast %1 : tensor<2x3xf32> -> tensor<2x3xf32>
  %3 = nn.reduce_max %2 {axes = array<i64>} : tensor<2x3xf32> -> tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @matmul
// CHECK-NEXT: nn.matmul %arg0, %arg1 {trans_b = true} : tensor<2x3xf32>, tensor<4x3xf32> -> tensor<2x4xf32>
func.func @matmul(%x: tensor<2x3xf32>, %y: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %0 = nn.transpose %y {perm = array<i64: 1, 0>} : tensor<4x3xf32> -> tensor<3x4xf32>
  %1 = nn.matmul %x, %0 : tensor<2x3xf32>, tensor<3x4xf32> -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @identities
// CHECK-NEXT: return %arg0
func.func @identities(%x: tensor<4xf32>) -> tensor<4xf32> {
  %zero = nn.constant dense<0.0> : tensor<f32>
  %one = nn.constant dense<1.0> : tensor<f32>
  %0 = nn.add %zero, %x : tensor<f32>, tensor<4xf32> -> tensor<4xf32>
  %1 = nn.mul %0, %one : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %2 = nn.div %1, %one : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %3 = nn.sub %2, %zero : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %4 = nn.neg %3 : tensor<4xf32>
  %5 = nn.neg %4 : tensor<4xf32>
  %6 = nn.pow %5, %one : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return %6 : tensor<4xf32>
}

// A neutral operand of a larger shape still broadcasts.
// CHECK-LABEL: func.func @broadcasting_zero
// CHECK: nn.add
func.func @broadcasting_zero(%x: tensor<1xf32>) -> tensor<4xf32> {
  %zero = nn.constant dense<0.0> : tensor<4xf32>
  %0 = nn.add %x, %zero : tensor<1xf32>, tensor<4xf32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @powers
// CHECK: nn.mul %arg0, %arg0
// CHECK: nn.sqrt
func.func @powers(%x: tensor<4xf32>) -> tensor<4xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.pow %x, %two : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %1 = nn.pow %0, %half : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// Division by 8 is exact as a multiplication, division by 3 is not.
// CHECK-LABEL: func.func @division
// CHECK-DAG: %[[EIGHTH:.*]] = nn.constant dense<1.250000e-01> : tensor<f32>
// CHECK-DAG: %[[THREE:.*]] = nn.constant dense<3.000000e+00> : tensor<f32>
// CHECK: nn.mul %arg0, %[[EIGHTH]]
// CHECK: nn.div %arg0, %[[THREE]]
func.func @division(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %eight = nn.constant dense<8.0> : tensor<f32>
  %three = nn.constant dense<3.0> : tensor<f32>
  %0 = nn.div %x, %eight : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %1 = nn.div %x, %three : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @merge_constants
// CHECK: %[[C:.*]] = nn.sub %{{.*}}, %{{.*}} : tensor<f32>, tensor<f32> -> tensor<f32>
// CHECK: nn.add %arg0, %[[C]]
// CHECK-NEXT: return
// STRICT-LABEL: func.func @merge_constants
// STRICT: nn.add %arg0
// STRICT-NEXT: nn.sub
func.func @merge_constants(%x: tensor<4xf32>) -> tensor<4xf32> {
  %a = nn.constant dense<2.5> : tensor<f32>
  %b = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.add %x, %a : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %1 = nn.sub %0, %b : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @idempotent
// CHECK-NEXT: nn.relu %arg0
// CHECK-NEXT: return
func.func @idempotent(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = nn.relu %x : tensor<4xf32>
  %1 = nn.relu %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// The constants cancel: two additions that round x to an integer.
// CHECK-LABEL: func.func @rounding_by_addition
// CHECK: nn.add
// CHECK-NEXT: nn.sub
func.func @rounding_by_addition(%x: tensor<4xf32>) -> tensor<4xf32> {
  %magic = nn.constant dense<12582912.0> : tensor<f32>
  %0 = nn.add %x, %magic : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  %1 = nn.sub %0, %magic : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// CHECK-LABEL: func.func @root_by_power
// CHECK: nn.sqrt
// STRICT-LABEL: func.func @root_by_power
// STRICT: nn.pow
func.func @root_by_power(%x: tensor<4xf32>) -> tensor<4xf32> {
  %half = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.pow %x, %half : tensor<4xf32>, tensor<f32> -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
