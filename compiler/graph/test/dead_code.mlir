// RUN: aot-opt %s --nn-canonicalize | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[R:.*]] = nn.relu
// CHECK-NEXT: return %[[R]]
func.func @chain(%x: tensor<2x8xf32>) -> tensor<2x8xf32> {
  %w = nn.constant dense<1.0> : tensor<8x8xf32>
  %0 = nn.relu %x : tensor<2x8xf32>
  %1 = nn.matmul %0, %w : tensor<2x8xf32>, tensor<8x8xf32> -> tensor<2x8xf32>
  %values, %indices = nn.topk %1 {axis = 1 : i64, largest = true} : (tensor<2x8xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  return %0 : tensor<2x8xf32>
}
