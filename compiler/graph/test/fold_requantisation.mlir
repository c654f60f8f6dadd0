// RUN: aot-opt %s --nn-fold-requantisation | FileCheck %s

// CHECK-LABEL: func.func @through_bias_and_relu
// CHECK-DAG: nn.constant dense<[1.000000e+00, 2.000000e+00]>
// CHECK-DAG: nn.constant dense<[4.000000e+00, 8.000000e+00]>
// CHECK-DAG: nn.constant dense<1.000000e+00> : tensor<f32>
// CHECK: nn.relu
// CHECK: nn.quantize
func.func @through_bias_and_relu(%sum: tensor<3x2xi32>) -> tensor<3x2xi8> {
  %a = nn.constant dense<[0.5, 1.0]> : tensor<2xf32>
  %b = nn.constant dense<[2.0, 4.0]> : tensor<2xf32>
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.cast %sum : tensor<3x2xi32> -> tensor<3x2xf32>
  %1 = nn.mul %0, %a : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %2 = nn.add %1, %b : tensor<3x2xf32>, tensor<2xf32> -> tensor<3x2xf32>
  %3 = nn.relu %2 : tensor<3x2xf32>
  %4 = nn.quantize %3, %s : (tensor<3x2xf32>, tensor<f32>) -> tensor<3x2xi8>
  return %4 : tensor<3x2xi8>
}

// A relu is no work of its own where the quantisation can't go below zero.
// CHECK-LABEL: func.func @relu_at_the_limit
// CHECK-NOT: nn.relu
func.func @relu_at_the_limit(%x: tensor<4xf32>) -> tensor<4xi8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<-128> : tensor<i8>
  %0 = nn.relu %x : tensor<4xf32>
  %1 = nn.quantize %0, %s zero_point %z : (tensor<4xf32>, tensor<f32>, tensor<i8>) -> tensor<4xi8>
  return %1 : tensor<4xi8>
}

// No product: the division stays as the operator defines it.
// CHECK-LABEL: func.func @plain
// CHECK: nn.constant dense<5.000000e-01>
// CHECK: nn.quantize %arg0
func.func @plain(%x: tensor<4xf32>) -> tensor<4xi8> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %0 = nn.quantize %x, %s : (tensor<4xf32>, tensor<f32>) -> tensor<4xi8>
  return %0 : tensor<4xi8>
}

// A bias in whole units of the scale is where the sums start.
// CHECK-LABEL: func.func @bias_of_sums
// CHECK: %[[START:.*]] = nn.constant dense<[3, -40]> : tensor<2xi32>
// CHECK: nn.conv %arg0, %arg1 bias %[[START]]
// CHECK-NOT: nn.add
func.func @bias_of_sums(%x: tensor<1x5x5x4xi8>, %w: tensor<1x1x4x2xi8>) -> tensor<1x5x5x2xf32> {
  %a = nn.constant dense<[0.5, 0.1]> : tensor<2xf32>
  %b = nn.constant dense<[1.5, -4.0]> : tensor<2xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, channels_last} : (tensor<1x5x5x4xi8>, tensor<1x1x4x2xi8>) -> tensor<1x5x5x2xi32>
  %1 = nn.cast %0 : tensor<1x5x5x2xi32> -> tensor<1x5x5x2xf32>
  %2 = nn.mul %1, %a : tensor<1x5x5x2xf32>, tensor<2xf32> -> tensor<1x5x5x2xf32>
  %3 = nn.add %2, %b : tensor<1x5x5x2xf32>, tensor<2xf32> -> tensor<1x5x5x2xf32>
  return %3 : tensor<1x5x5x2xf32>
}

// One that isn't stays an addition.
// CHECK-LABEL: func.func @bias_between_units
// CHECK: nn.add
func.func @bias_between_units(%x: tensor<1x5x5x4xi8>, %w: tensor<1x1x4x2xi8>) -> tensor<1x5x5x2xf32> {
  %a = nn.constant dense<[0.5, 0.1]> : tensor<2xf32>
  %b = nn.constant dense<[1.5, -4.001]> : tensor<2xf32>
  %0 = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64, channels_last} : (tensor<1x5x5x4xi8>, tensor<1x1x4x2xi8>) -> tensor<1x5x5x2xi32>
  %1 = nn.cast %0 : tensor<1x5x5x2xi32> -> tensor<1x5x5x2xf32>
  %2 = nn.mul %1, %a : tensor<1x5x5x2xf32>, tensor<2xf32> -> tensor<1x5x5x2xf32>
  %3 = nn.add %2, %b : tensor<1x5x5x2xf32>, tensor<2xf32> -> tensor<1x5x5x2xf32>
  return %3 : tensor<1x5x5x2xf32>
}
