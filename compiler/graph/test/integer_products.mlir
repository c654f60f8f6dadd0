// RUN: aot-opt %s --nn-integer-products | FileCheck %s

// CHECK-LABEL: func.func @dequantised_convolution
// CHECK: %[[SUM:.*]] = nn.conv %arg0, %{{.*}} {{.*}}input_zero_point = 3 : i64{{.*}} : (tensor<1x2x4x4xui8>, tensor<3x2x1x1xi8>) -> tensor<1x3x4x4xi32>
// CHECK: %[[REAL:.*]] = nn.cast %[[SUM]]
// CHECK: nn.mul %[[REAL]]
// CHECK: nn.add
func.func @dequantised_convolution(%x: tensor<1x2x4x4xui8>) -> tensor<1x3x4x4xf32> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %z = nn.constant dense<3> : tensor<ui8>
  %w = nn.constant dense<[[[[1]], [[2]]], [[[3]], [[-4]]], [[[5]], [[6]]]]> : tensor<3x2x1x1xi8>
  %ws = nn.constant dense<[[[[0.25]]], [[[0.5]]], [[[1.0]]]]> : tensor<3x1x1x1xf32>
  %b = nn.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %dx = nn.dequantize %x, %s zero_point %z : (tensor<1x2x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xf32>
  %dw = nn.dequantize %w, %ws : (tensor<3x2x1x1xi8>, tensor<3x1x1x1xf32>) -> tensor<3x2x1x1xf32>
  %r = nn.conv %dx, %dw bias %b {strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64} : (tensor<1x2x4x4xf32>, tensor<3x2x1x1xf32>, tensor<3xf32>) -> tensor<1x3x4x4xf32>
  return %r : tensor<1x3x4x4xf32>
}

// A filter of unsigned bytes becomes signed if its differences from the zero point fit.
// CHECK-LABEL: func.func @unsigned_filter
// CHECK: nn.constant dense<{{\[\[}}-128, 127]]> : tensor<1x2xi8>
// CHECK: nn.matmul %arg0, %{{.*}} : tensor<4x1xi8>, tensor<1x2xi8> -> tensor<4x2xi32>
func.func @unsigned_filter(%x: tensor<4x1xi8>) -> tensor<4x2xf32> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %w = nn.constant dense<[[0, 255]]> : tensor<1x2xui8>
  %z = nn.constant dense<128> : tensor<ui8>
  %dx = nn.dequantize %x, %s : (tensor<4x1xi8>, tensor<f32>) -> tensor<4x1xf32>
  %dw = nn.dequantize %w, %s zero_point %z : (tensor<1x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2xf32>
  %r = nn.matmul %dx, %dw : tensor<4x1xf32>, tensor<1x2xf32> -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// 255 - 100 is no signed byte.
// CHECK-LABEL: func.func @filter_out_of_range
// CHECK: nn.matmul {{.*}} -> tensor<4x2xf32>
func.func @filter_out_of_range(%x: tensor<4x1xi8>) -> tensor<4x2xf32> {
  %s = nn.constant dense<0.5> : tensor<f32>
  %w = nn.constant dense<[[0, 255]]> : tensor<1x2xui8>
  %z = nn.constant dense<100> : tensor<ui8>
  %dx = nn.dequantize %x, %s : (tensor<4x1xi8>, tensor<f32>) -> tensor<4x1xf32>
  %dw = nn.dequantize %w, %s zero_point %z : (tensor<1x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2xf32>
  %r = nn.matmul %dx, %dw : tensor<4x1xf32>, tensor<1x2xf32> -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}

// What MatMulInteger becomes, with a zero point that only run time knows: the columns' sums give its share.
// CHECK-LABEL: func.func @widened_product
// CHECK: nn.constant dense<[4, 6]> : tensor<2xi32>
// CHECK: %[[PRODUCT:.*]] = nn.matmul %arg0, %{{.*}} : tensor<4x2xui8>, tensor<2x2xi8> -> tensor<4x2xi32>
// CHECK: nn.sub %[[PRODUCT]]
func.func @widened_product(%x: tensor<4x2xui8>, %z: tensor<ui8>) -> tensor<4x2xi32> {
  %w = nn.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %wide = nn.cast %x : tensor<4x2xui8> -> tensor<4x2xi32>
  %zero = nn.cast %z : tensor<ui8> -> tensor<i32>
  %centred = nn.sub %wide, %zero : tensor<4x2xi32>, tensor<i32> -> tensor<4x2xi32>
  %r = nn.matmul %centred, %w : tensor<4x2xi32>, tensor<2x2xi32> -> tensor<4x2xi32>
  return %r : tensor<4x2xi32>
}

// A filter too large to be folded into 32 bits is still its bytes: unsigned ones that a zero point makes signed, one
// for each column.
// CHECK-LABEL: func.func @widened_filter
// CHECK: nn.constant dense<{{\[\[}}-128, 125], [127, -126]]> : tensor<2x2xi8>
// CHECK: nn.matmul %arg0, %{{.*}} {lhs_zero_point = 7 : i64} : tensor<4x2xui8>, tensor<2x2xi8> -> tensor<4x2xi32>
func.func @widened_filter(%x: tensor<4x2xui8>) -> tensor<4x2xi32> {
  %w = nn.constant dense<[[0, 255], [255, 4]]> : tensor<2x2xui8>
  %zw = nn.constant dense<[128, 130]> : tensor<2xi32>
  %zx = nn.constant dense<7> : tensor<i32>
  %wide_w = nn.cast %w : tensor<2x2xui8> -> tensor<2x2xi32>
  %centred_w = nn.sub %wide_w, %zw : tensor<2x2xi32>, tensor<2xi32> -> tensor<2x2xi32>
  %wide = nn.cast %x : tensor<4x2xui8> -> tensor<4x2xi32>
  %centred = nn.sub %wide, %zx : tensor<4x2xi32>, tensor<i32> -> tensor<4x2xi32>
  %r = nn.matmul %centred, %centred_w : tensor<4x2xi32>, tensor<2x2xi32> -> tensor<4x2xi32>
  return %r : tensor<4x2xi32>
}
