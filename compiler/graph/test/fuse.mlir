// RUN: aot-opt %s --nn-fuse | FileCheck %s
// RUN: aot-opt %s --nn-fuse=single | FileCheck %s --check-prefix=SINGLE

// An anchor takes the elementwise operations that follow it; a value with other uses becomes a second result.
// CHECK-LABEL: func.func @epilogue
// CHECK-SAME: (%[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x8xf32>, %[[B:.*]]: tensor<8xf32>)
// CHECK: %[[G:.*]]:2 = nn.group(%[[X]], %[[W]], %[[B]]) : (tensor<4x8xf32>, tensor<8x8xf32>, tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>)
// CHECK: nn.matmul
// CHECK: %[[ADD:.*]] = nn.add
// CHECK: nn.relu
// CHECK: %[[MUL:.*]] = nn.mul
// CHECK: nn.yield %[[ADD]], %[[MUL]]
// CHECK: return %[[G]]#0, %[[G]]#1
// SINGLE-LABEL: func.func @epilogue
// SINGLE-COUNT-4: nn.group
func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %b: tensor<8xf32>) -> (tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = nn.matmul %x, %w : tensor<4x8xf32>, tensor<8x8xf32> -> tensor<4x8xf32>
  %1 = nn.add %0, %b : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  %2 = nn.relu %1 : tensor<4x8xf32>
  %3 = nn.mul %2, %1 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  return %1, %3 : tensor<4x8xf32>, tensor<4x8xf32>
}

// The addition can't join the first product: its other operand depends on that product.
// CHECK-LABEL: func.func @acyclic
// CHECK: nn.group
// CHECK: nn.matmul
// CHECK-NOT: nn.add
// CHECK: nn.group
// CHECK: nn.matmul
// CHECK: nn.add
func.func @acyclic(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = nn.matmul %x, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %1 = nn.matmul %0, %w : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  %2 = nn.add %0, %1 : tensor<8x8xf32>, tensor<8x8xf32> -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}

// Elementwise work on the input of a reduction is computed on the fly; an expensive function that softmax would repeat is not.
// CHECK-LABEL: func.func @prologue
// CHECK: nn.group
// CHECK: nn.mul
// CHECK-NEXT: nn.reduce_sum
// CHECK: nn.group
// CHECK: nn.tanh
// CHECK-NEXT: nn.yield
// CHECK: nn.group
// CHECK: nn.add
// CHECK-NEXT: nn.softmax
func.func @prologue(%x: tensor<4x8xf32>, %m: tensor<8xf32>) -> (tensor<4x1xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = nn.mul %x, %x : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
  %1 = nn.reduce_sum %0 {axes = array<i64: 1>} : tensor<4x8xf32> -> tensor<4x1xf32>
  %2 = nn.tanh %x : tensor<4x8xf32>
  %3 = nn.softmax %2 {axis = 1 : i64} : tensor<4x8xf32>
  %4 = nn.add %x, %m : tensor<4x8xf32>, tensor<8xf32> -> tensor<4x8xf32>
  %5 = nn.softmax %4 {axis = 1 : i64} : tensor<4x8xf32>
  return %1, %3, %5 : tensor<4x1xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// Maps compose; exp of a smaller tensor is not repeated through the broadcast; scalars are immediates.
// CHECK-LABEL: func.func @maps
// CHECK: nn.group(%arg1)
// CHECK: nn.exp
// CHECK-NEXT: nn.yield
// CHECK: nn.group(%arg0
// CHECK-DAG: nn.constant dense<2.000000e+00>
// CHECK-DAG: nn.transpose
// CHECK: nn.mul
// CHECK: nn.add
func.func @maps(%x: tensor<8x4xf32>, %s: tensor<4x1xf32>) -> tensor<4x8xf32> {
  %two = nn.constant dense<2.0> : tensor<f32>
  %0 = nn.transpose %x {perm = array<i64: 1, 0>} : tensor<8x4xf32> -> tensor<4x8xf32>
  %1 = nn.mul %0, %two : tensor<4x8xf32>, tensor<f32> -> tensor<4x8xf32>
  %2 = nn.exp %s : tensor<4x1xf32>
  %3 = nn.add %1, %2 : tensor<4x8xf32>, tensor<4x1xf32> -> tensor<4x8xf32>
  return %3 : tensor<4x8xf32>
}

// A reshape stays outside unless it moves unit dimensions between fused operations. Concat comes last in its group.
// CHECK-LABEL: func.func @reshapes
// CHECK: nn.reshape %arg0 : tensor<4x8xf32> -> tensor<32xf32>
// CHECK: nn.group
// CHECK: nn.neg
// CHECK-NEXT: nn.reshape
// CHECK-NEXT: nn.abs
// CHECK: nn.concat
// CHECK-NEXT: nn.yield
// CHECK: nn.group
// CHECK-NEXT: bb0
// CHECK-NEXT: nn.relu
func.func @reshapes(%x: tensor<4x8xf32>) -> tensor<1x64xf32> {
  %0 = nn.reshape %x : tensor<4x8xf32> -> tensor<32xf32>
  %1 = nn.neg %0 : tensor<32xf32>
  %2 = nn.reshape %1 : tensor<32xf32> -> tensor<1x32xf32>
  %3 = nn.abs %2 : tensor<1x32xf32>
  %4 = nn.reshape %x : tensor<4x8xf32> -> tensor<1x32xf32>
  %5 = nn.concat %3, %4 {axis = 1 : i64} : (tensor<1x32xf32>, tensor<1x32xf32>) -> tensor<1x64xf32>
  %6 = nn.relu %5 : tensor<1x64xf32>
  return %6 : tensor<1x64xf32>
}
