// RUN: aot-opt %s --cse | FileCheck %s

// MLIR's own pass serves: operations of nn are pure, so that equal ones merge and unused ones disappear.
// CHECK-LABEL: func.func @equal
// CHECK-NEXT: %[[S:.*]] = nn.slice
// CHECK-NEXT: nn.mul %[[S]], %[[S]]
// CHECK-NEXT: return
func.func @equal(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = nn.slice %x {starts = array<i64: 0>, steps = array<i64: 2>} : tensor<8xf32> -> tensor<4xf32>
  %1 = nn.slice %x {starts = array<i64: 0>, steps = array<i64: 2>} : tensor<8xf32> -> tensor<4xf32>
  %2 = nn.mul %0, %1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  %unused = nn.exp %2 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// Other attributes, another operation.
// CHECK-LABEL: func.func @different
// CHECK-COUNT-2: nn.slice
func.func @different(%x: tensor<8xf32>) -> tensor<4xf32> {
  %0 = nn.slice %x {starts = array<i64: 0>, steps = array<i64: 2>} : tensor<8xf32> -> tensor<4xf32>
  %1 = nn.slice %x {starts = array<i64: 1>, steps = array<i64: 2>} : tensor<8xf32> -> tensor<4xf32>
  %2 = nn.mul %0, %1 : tensor<4xf32>, tensor<4xf32> -> tensor<4xf32>
  return %2 : tensor<4xf32>
}
