// Every kernel template against reference/, on each x86-64 level that the machine runs, at both ends of the
// optimisation levels, with edge shapes.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "compiler/testing/compiled_function.h"

namespace aot::codegen {
namespace {

struct Case {
  const char* name;
  std::string module;
  double tolerance = 2e-6;
};

// One operation (or a few lines, `;` apart) on arguments; the last value is returned. `%r = ...` lines are taken as
// they are.
std::string Function(const std::string& arguments, const std::string& body, const std::string& result) {
  return absl::StrCat("func.func @main(", arguments, ") -> ", result, " {\n", absl::StrReplaceAll(body, {{";", "\n"}}),
                      "\nreturn %r : ", result, "\n}\n");
}

std::string Unary(const std::string& op, const std::string& attributes, const std::string& type) {
  return Function("%x: " + type, "%r = nn." + op + " %x " + attributes + " : " + type, type);
}

std::string Binary(const std::string& op, const std::string& a, const std::string& b, const std::string& r,
                   const std::string& attributes = "") {
  return Function("%a: " + a + ", %b: " + b,
                  "%r = nn." + op + " %a, %b " + attributes + " : " + a + ", " + b + " -> " + r, r);
}

std::string Conv(const std::string& x, const std::string& w, const std::string& r, const std::string& attributes,
                 const std::string& epilogue = "") {
  std::string body = "%c = nn.conv %x, %w " + attributes + " : (" + x + ", " + w + ") -> " + r + ";";
  body += epilogue.empty() ? "%r = nn.relu %c : " + r : epilogue;
  return Function("%x: " + x + ", %w: " + w, body, r);
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  auto add = [&](const char* name, std::string module, double tolerance = 2e-6) {
    cases.push_back({name, std::move(module), tolerance});
  };
  const std::string v = "tensor<3x37xf32>";
  for (const char* op : {"abs",      "neg",  "exp",        "sqrt", "reciprocal", "sign",    "floor", "ceil",
                         "round",    "sin",  "cos",        "tanh", "erf",        "sigmoid", "relu",  "softplus",
                         "softsign", "mish", "hard_swish", "sinh", "cosh",       "atan",    "asinh", "log"})
    add(op, Unary(op, "", v), 4e-6);
  add("leaky_relu", Unary("leaky_relu", "{alpha = 0.1 : f32}", v));
  add("elu", Unary("elu", "{alpha = 1.5 : f32}", v));
  add("hard_sigmoid", Unary("hard_sigmoid", "{alpha = 0.2 : f32, beta = 0.5 : f32}", v));
  add("gelu", Unary("gelu", "{approximate = false}", v));
  add("gelu_tanh", Unary("gelu", "{approximate = true}", v));
  for (const char* op : {"add", "sub", "mul", "div", "min", "max", "pow", "prelu"}) {
    add(op, Binary(op, v, v, v), 4e-6);
    add(op, Binary(op, v, "tensor<37xf32>", v), 4e-6);
    add(op, Binary(op, "tensor<3x1xf32>", "tensor<1x5xf32>", "tensor<3x5xf32>"), 4e-6);
    add(op, Binary(op, "tensor<2x3x1x5xf32>", "tensor<3x4x1xf32>", "tensor<2x3x4x5xf32>"), 4e-6);
  }
  for (const char* op : {"add", "sub", "mul", "div", "min", "max", "bitwise_xor", "shift_left"}) {
    add(op, Binary(op, "tensor<67xui8>", "tensor<67xui8>", "tensor<67xui8>"));
    add(op, Binary(op, "tensor<67xui64>", "tensor<67xui64>", "tensor<67xui64>"));
  }
  for (const char* op : {"add", "div", "min", "max"})
    add(op, Binary(op, "tensor<67xi32>", "tensor<67xi32>", "tensor<67xi32>"));
  add("mod", Binary("mod", "tensor<67xi32>", "tensor<67xi32>", "tensor<67xi32>", "{fmod = false}"));
  add("fmod", Binary("mod", "tensor<67xi64>", "tensor<67xi64>", "tensor<67xi64>", "{fmod = true}"));
  for (const char* op : {"equal", "less", "less_equal", "greater", "greater_equal"}) {
    add(op, Binary(op, "tensor<67xi32>", "tensor<67xi32>", "tensor<67xi1>"));
    add(op, Binary(op, "tensor<67xf32>", "tensor<67xf32>", "tensor<67xi1>"));
  }
  for (const char* op : {"logical_and", "logical_or", "logical_xor"})
    add(op, Binary(op, "tensor<67xi1>", "tensor<67xi1>", "tensor<67xi1>"));
  for (const char* type : {"f32", "f64", "f16", "bf16", "i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64", "i1"})
    for (const char* from : {"f32", "i32", "ui8", "f16", "i1", "i64"})
      add("cast", Function(absl::StrCat("%x: tensor<35x", from, ">"),
                           absl::StrCat("%r = nn.cast %x : tensor<35x", from, "> -> tensor<35x", type, ">"),
                           absl::StrCat("tensor<35x", type, ">")));
  // Types narrower than a byte, and 8-bit floats: stored, and read back in the same kernel. e^(e^x) leaves their range.
  for (const char* type :
       {"i2", "ui2", "i4", "ui4", "f4E2M1FN", "f8E4M3FN", "f8E4M3FNUZ", "f8E5M2", "f8E5M2FNUZ", "f8E8M0FNU"}) {
    const std::string from = "tensor<35xf32>", to = absl::StrCat("tensor<35x", type, ">");
    const std::string cast = absl::StrCat("%e = nn.exp %x : ", from, ";%f = nn.exp %e : ", from, ";");
    add("cast_to_narrow", Function("%x: " + from, cast + "%r = nn.cast %f : " + from + " -> " + to, to));
    add("cast_from_narrow",
        Function("%x: " + from,
                 absl::StrCat("%n = nn.cast %x : ", from, " -> ", to, ";%r = nn.cast %n : ", to, " -> ", from), from));
    add("cast_overflow", Function("%x: " + from,
                                  absl::StrCat(cast, "%n = nn.cast %f {saturate = false} : ", from, " -> ", to,
                                               ";%r = nn.cast %n : ", to, " -> ", from),
                                  from));
  }
  add("where", Function("%c: tensor<5x7xi1>, %a: tensor<7xf32>, %b: tensor<5x1xf32>",
                        "%r = nn.where %c, %a, %b : tensor<5x7xi1>, tensor<7xf32>, tensor<5x1xf32> -> tensor<5x7xf32>",
                        "tensor<5x7xf32>"));
  add("where_i64",
      Function("%c: tensor<5x7xi1>, %a: tensor<7xi64>, %b: tensor<5x1xi64>",
               "%r = nn.where %c, %a, %b : tensor<5x7xi1>, tensor<7xi64>, tensor<5x1xi64> -> tensor<5x7xi64>",
               "tensor<5x7xi64>"));
  // Products: every tail of rows and columns, vectors, batches, transposed operands.
  for (int m : {1, 2, 3, 5, 7, 13, 16, 31})
    for (int n : {1, 3, 16, 17, 33, 50, 130})
      add("matmul", Binary("matmul", absl::StrCat("tensor<", m, "x19xf32>"), absl::StrCat("tensor<19x", n, "xf32>"),
                           absl::StrCat("tensor<", m, "x", n, "xf32>")));
  add("matmul_batch", Binary("matmul", "tensor<2x1x9x8xf32>", "tensor<3x8x20xf32>", "tensor<2x3x9x20xf32>"));
  add("matmul_ta",
      Binary("matmul", "tensor<2x8x9xf32>", "tensor<2x8x20xf32>", "tensor<2x9x20xf32>", "{trans_a = true}"));
  add("matmul_tb",
      Binary("matmul", "tensor<2x9x8xf32>", "tensor<2x20x8xf32>", "tensor<2x9x20xf32>", "{trans_b = true}"));
  add("matmul_tb1", Binary("matmul", "tensor<1x8xf32>", "tensor<20x8xf32>", "tensor<1x20xf32>", "{trans_b = true}"));
  add("matmul_f64", Binary("matmul", "tensor<9x8xf64>", "tensor<8x20xf64>", "tensor<9x20xf64>"), 1e-12);
  add("matmul_f16", Binary("matmul", "tensor<9x8xf16>", "tensor<8x20xf16>", "tensor<9x20xf16>"), 1e-3);
  add("matmul_i8", Binary("matmul", "tensor<9x8xi8>", "tensor<8x20xui8>", "tensor<9x20xi32>"));
  add("matmul_epilogue", Function("%a: tensor<9x8xf32>, %b: tensor<8x20xf32>, %c: tensor<20xf32>, %d: tensor<9x20xf32>",
                                  "%m = nn.matmul %a, %b : tensor<9x8xf32>, tensor<8x20xf32> -> tensor<9x20xf32>;"
                                  "%e = nn.add %m, %c : tensor<9x20xf32>, tensor<20xf32> -> tensor<9x20xf32>;"
                                  "%f = nn.sigmoid %e : tensor<9x20xf32>;%r = nn.mul %f, %d : tensor<9x20xf32>, "
                                  "tensor<9x20xf32> -> tensor<9x20xf32>",
                                  "tensor<9x20xf32>"));
  // Convolutions: both layouts, pads, strides, dilations, groups, ranks.
  const std::string plain =
      "{strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, 0>, dilations = array<i64: 1, 1>, group = 1 : i64";
  const std::string same =
      "{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = 1 : i64";
  add("conv_1x1",
      Conv("tensor<2x5x7x6xf32>", "tensor<1x1x6x20xf32>", "tensor<2x5x7x20xf32>", plain + ", channels_last}"));
  add("conv_3x3",
      Conv("tensor<1x7x9x3xf32>", "tensor<3x3x3x33xf32>", "tensor<1x7x9x33xf32>", same + ", channels_last}"));
  add("conv_nchw", Conv("tensor<2x3x7x9xf32>", "tensor<5x3x3x3xf32>", "tensor<2x5x7x9xf32>", same + "}"));
  add("conv_stride", Conv("tensor<1x11x14x4xf32>", "tensor<3x2x4x17xf32>", "tensor<1x5x8x17xf32>",
                          "{strides = array<i64: 2, 2>, pads = array<i64: 0, 1, 1, 2>, dilations = array<i64: 1, 2>, "
                          "group = 1 : i64, channels_last}"));
  add("conv_crop", Conv("tensor<1x9x9x4xf32>", "tensor<3x3x4x8xf32>", "tensor<1x6x6x8xf32>",
                        "{strides = array<i64: 1, 1>, pads = array<i64: -1, 1, 0, -2>, dilations = array<i64: 1, 1>, "
                        "group = 1 : i64, channels_last}"));
  add("conv_group", Conv("tensor<1x6x5x8xf32>", "tensor<3x3x4x10xf32>", "tensor<1x6x5x10xf32>",
                         "{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, "
                         "group = 2 : i64, channels_last}"));
  for (int channels : {1, 3, 16, 37})
    add("conv_depthwise",
        Conv(absl::StrCat("tensor<1x6x5x", channels + 1, "xf32>"), absl::StrCat("tensor<3x3x1x", channels + 1, "xf32>"),
             absl::StrCat("tensor<1x3x3x", channels + 1, "xf32>"),
             absl::StrCat(
                 "{strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, 1>, group = ",
                 channels + 1, " : i64, channels_last}")));
  add("conv_multiplier", Conv("tensor<1x3x6x5xf32>", "tensor<6x1x3x3xf32>", "tensor<1x6x6x5xf32>",
                              "{strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, dilations = array<i64: 1, "
                              "1>, group = 3 : i64}"));
  add("conv_1d",
      Conv("tensor<2x3x20xf32>", "tensor<5x3x4xf32>", "tensor<2x5x18xf32>",
           "{strides = array<i64: 1>, pads = array<i64: 1, 0>, dilations = array<i64: 1>, group = 1 : i64}"));
  add("conv_3d", Conv("tensor<1x2x5x6x7xf32>", "tensor<4x2x3x3x3xf32>", "tensor<1x4x5x4x5xf32>",
                      "{strides = array<i64: 1, 1, 1>, pads = array<i64: 1, 0, 0, 1, 0, 0>, dilations = array<i64: 1, "
                      "1, 1>, group = 1 : i64}"));
  add("conv_epilogue",
      Conv("tensor<1x8x8x4xf32>", "tensor<3x3x4x20xf32>", "tensor<1x8x8x20xf32>", same + ", channels_last}",
           "%s = nn.sigmoid %c : tensor<1x8x8x20xf32>;"
           "%r = nn.mul %c, %s : tensor<1x8x8x20xf32>, tensor<1x8x8x20xf32> -> tensor<1x8x8x20xf32>"));
  add("conv_bias", Function("%x: tensor<1x8x8x4xf32>, %w: tensor<3x3x2x20xf32>, %b: tensor<20xf32>",
                            "%r = nn.conv %x, %w bias %b {strides = array<i64: 1, 1>, pads = array<i64: 1, 1, 1, 1>, "
                            "dilations = array<i64: 1, 1>, "
                            "group = 2 : i64, channels_last} : (tensor<1x8x8x4xf32>, tensor<3x3x2x20xf32>, "
                            "tensor<20xf32>) -> tensor<1x8x8x20xf32>",
                            "tensor<1x8x8x20xf32>"));
  for (const char* group : {"1", "2"}) {
    std::string m = group[0] == '1' ? "10" : "5";
    std::string attributes = absl::StrCat(
        "{strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 0, 1>, dilations = array<i64: 1, 1>, group = ", group,
        " : i64");
    add("conv_transpose",
        Function(absl::StrCat("%x: tensor<1x6x5x4xf32>, %w: tensor<6x", m, "x3x2xf32>"),
                 absl::StrCat("%r = nn.conv_transpose %x, %w ", attributes, "} : (tensor<1x6x5x4xf32>, tensor<6x", m,
                              "x3x2xf32>) -> tensor<1x10x10x7xf32>"),
                 "tensor<1x10x10x7xf32>"));
    add("conv_transpose", Function(absl::StrCat("%x: tensor<1x5x4x6xf32>, %w: tensor<3x2x6x", m, "xf32>"),
                                   absl::StrCat("%r = nn.conv_transpose %x, %w ", attributes,
                                                ", channels_last} : (tensor<1x5x4x6xf32>, tensor<3x2x6x", m,
                                                "xf32>) -> tensor<1x10x7x10xf32>"),
                                   "tensor<1x10x7x10xf32>"));
  }
  // Pools.
  const std::string window =
      "kernel = array<i64: 3, 2>, strides = array<i64: 2, 2>, pads = array<i64: 1, 0, 0, 1>, dilations = array<i64: 1, "
      "2>";
  for (const char* layout : {"", ", channels_last"}) {
    bool last = layout[0] != 0;
    std::string from = last ? "tensor<2x7x9x5xf32>" : "tensor<2x5x7x9xf32>",
                to = last ? "tensor<2x4x4x5xf32>" : "tensor<2x5x4x4xf32>";
    auto pool = [&](const char* op, const std::string& extra) {
      add(op, Function("%x: " + from,
                       absl::StrCat("%r = nn.", op, " %x {", window, extra, layout, "} : ", from, " -> ", to), to));
    };
    pool("max_pool", "");
    pool("avg_pool", ", count_include_pad = false");
    pool("avg_pool", ", count_include_pad = true");
    pool("lp_pool", ", p = 1 : i64");
    pool("lp_pool", ", p = 2 : i64");
    pool("lp_pool", ", p = 3 : i64");
    pool("lp_pool", ", p = 1000 : i64");
  }
  // Reductions over every kind of axis.
  for (const char* op : {"reduce_sum", "reduce_mean", "reduce_prod", "reduce_max", "reduce_min"}) {
    struct {
      const char *axes, *result;
    } reductions[] = {{"2", "3x4x1"},    {"1", "3x1x19"},   {"0", "1x4x19"},
                      {"0, 2", "1x4x1"}, {"1, 2", "3x1x1"}, {"0, 1, 2", "1x1x1"}};
    for (auto [axes, result] : reductions) {
      for (const char* element : {"f32", "i32"}) {
        std::string to = absl::StrCat("tensor<", result, "x", element, ">");
        add(op,
            Function(absl::StrCat("%x: tensor<3x4x19x", element, ">"),
                     absl::StrCat("%r = nn.", op, " %x {axes = array<i64: ", axes, ">} : tensor<3x4x19x", element,
                                  "> -> ", to),
                     to),
            1e-5);
      }
    }
  }
  // Long rows are summed in blocks.
  add("reduce_long",
      Function("%x: tensor<3x9001xf32>",
               "%r = nn.reduce_sum %x {axes = array<i64: 1>} : tensor<3x9001xf32> -> tensor<3x1xf32>",
               "tensor<3x1xf32>"),
      2e-6);
  add("reduce_long_0",
      Function("%x: tensor<2001x17xf32>",
               "%r = nn.reduce_mean %x {axes = array<i64: 0>} : tensor<2001x17xf32> -> tensor<1x17xf32>",
               "tensor<1x17xf32>"),
      2e-6);
  for (const char* op : {"softmax", "log_softmax", "hardmax"})
    for (const char* axis : {"0", "1", "2"})
      add(op, Unary(op, absl::StrCat("{axis = ", axis, " : i64}"), "tensor<3x5x21xf32>"), 1e-5);
  add("layer_norm",
      Function("%x: tensor<3x5x21xf32>, %s: tensor<21xf32>, %b: tensor<21xf32>",
               "%r = nn.layer_norm %x scale %s bias %b {axis = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<3x5x21xf32>, "
               "tensor<21xf32>, "
               "tensor<21xf32>) -> tensor<3x5x21xf32>",
               "tensor<3x5x21xf32>"),
      1e-5);
  add("layer_norm2",
      Function("%x: tensor<3x5x21xf32>, %s: tensor<5x21xf32>",
               "%r = nn.layer_norm %x scale %s {axis = 1 : i64, epsilon = 1.0e-5 : f32} : (tensor<3x5x21xf32>, "
               "tensor<5x21xf32>) -> "
               "tensor<3x5x21xf32>",
               "tensor<3x5x21xf32>"),
      1e-5);
  add("rms_norm",
      Function("%x: tensor<3x5x21xf32>, %s: tensor<21xf32>",
               "%r = nn.rms_norm %x, %s {axis = 2 : i64, epsilon = 1.0e-5 : f32} : (tensor<3x5x21xf32>, "
               "tensor<21xf32>) -> tensor<3x5x21xf32>",
               "tensor<3x5x21xf32>"),
      1e-5);
  add("instance_norm",
      Function("%x: tensor<2x3x5x7xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>",
               "%r = nn.instance_norm %x, %s, %b {epsilon = 1.0e-5 : f32} : (tensor<2x3x5x7xf32>, tensor<3xf32>, "
               "tensor<3xf32>) -> "
               "tensor<2x3x5x7xf32>",
               "tensor<2x3x5x7xf32>"),
      1e-5);
  add("batch_norm",
      Function("%x: tensor<2x3x5x7xf32>, %s: tensor<3xf32>, %b: tensor<3xf32>, %m: tensor<3xf32>",
               "%v = nn.mul %s, %s : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>;"
               "%r = nn.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-2 : f32} : (tensor<2x3x5x7xf32>, tensor<3xf32>, "
               "tensor<3xf32>, "
               "tensor<3xf32>, tensor<3xf32>) -> tensor<2x3x5x7xf32>",
               "tensor<2x3x5x7xf32>"),
      1e-5);
  add("group_norm",
      Function("%x: tensor<2x6x5x7xf32>, %s: tensor<6xf32>, %b: tensor<6xf32>",
               "%r = nn.group_norm %x, %s, %b {groups = 3 : i64, epsilon = 1.0e-5 : f32} : (tensor<2x6x5x7xf32>, "
               "tensor<6xf32>, "
               "tensor<6xf32>) -> tensor<2x6x5x7xf32>",
               "tensor<2x6x5x7xf32>"),
      1e-5);
  add("lrn",
      Unary("lrn", "{size = 3 : i64, alpha = 0.1 : f32, beta = 0.75 : f32, bias = 1.0 : f32}", "tensor<2x5x3x7xf32>"),
      1e-5);
  // Movement.
  add("transpose",
      Function("%x: tensor<3x4x21xf32>",
               "%r = nn.transpose %x {perm = array<i64: 2, 0, 1>} : tensor<3x4x21xf32> -> tensor<21x3x4xf32>",
               "tensor<21x3x4xf32>"));
  // Turned in tiles: every tail of rows and columns, with elementwise neighbours.
  for (const char* type : {"f32", "f64", "f16", "ui8", "i1", "i64"})
    for (const char* shape : {"37x45", "1x3", "2x1", "16x16", "3x64"}) {
      std::string from = absl::StrCat("tensor<2x", shape, "x", type, ">");
      std::string turned = std::string(shape).substr(std::string(shape).find('x') + 1) + "x" +
                           std::string(shape).substr(0, std::string(shape).find('x'));
      std::string to = absl::StrCat("tensor<2x", turned, "x", type, ">");
      add("transpose_tile",
          Function("%x: " + from,
                   absl::StrCat("%r = nn.transpose %x {perm = array<i64: 0, 2, 1>} : ", from, " -> ", to), to));
    }
  add("transpose_sum",
      Function("%x: tensor<3x35x20xf32>, %y: tensor<3x35x20xf32>, %b: tensor<35xf32>",
               "%u = nn.transpose %x {perm = array<i64: 2, 0, 1>} : tensor<3x35x20xf32> -> tensor<20x3x35xf32>\n"
               "%v = nn.transpose %y {perm = array<i64: 2, 0, 1>} : tensor<3x35x20xf32> -> tensor<20x3x35xf32>\n"
               "%s = nn.add %u, %v : tensor<20x3x35xf32>, tensor<20x3x35xf32> -> tensor<20x3x35xf32>\n"
               "%r = nn.mul %s, %b : tensor<20x3x35xf32>, tensor<35xf32> -> tensor<20x3x35xf32>",
               "tensor<20x3x35xf32>"));
  // Planes into pixels of a few channels, of every count that is joined in its own way, with what is computed before.
  for (int channels : {2, 3, 4, 5, 12}) {
    for (const char* element : {"f32", "f16", "i8"}) {
      const std::string from = absl::StrCat("tensor<2x", channels, "x3x37x", element, ">");
      const std::string to = absl::StrCat("tensor<2x3x37x", channels, "x", element, ">");
      add("few_channels",
          Function("%x: " + from,
                   absl::StrCat("%n = nn.neg %x : ", from,
                                "\n%r = nn.transpose %n {perm = array<i64: 0, 2, 3, 1>} : ", from, " -> ", to),
                   to));
    }
  }
  add("few_channels_quantized",
      Function("%x: tensor<3x5x35xf32>, %s: tensor<3xf32>",
               "%t = nn.transpose %x {perm = array<i64: 1, 2, 0>} : tensor<3x5x35xf32> -> tensor<5x35x3xf32>\n"
               "%e = nn.exp %s : tensor<3xf32>\n"
               "%r = nn.quantize %t, %e : (tensor<5x35x3xf32>, tensor<3xf32>) -> tensor<5x35x3xi8>",
               "tensor<5x35x3xi8>"));
  add("few_channels_tail", Function("%x: tensor<4x3x38xf32>",
                                    "%r = nn.transpose %x {perm = array<i64: 1, 2, 0>} : tensor<4x3x38xf32> -> "
                                    "tensor<3x38x4xf32>",
                                    "tensor<3x38x4xf32>"));
  // Every other pixel of an image, the four choices side by side as channels.
  add("space_to_depth",
      Function(
          "%x: tensor<3x10x70xf32>",
          "%t = nn.transpose %x {perm = array<i64: 1, 2, 0>} : tensor<3x10x70xf32> -> tensor<10x70x3xf32>\n"
          "%a = nn.slice %t {starts = array<i64: 0, 0, 0>, steps = array<i64: 2, 2, 1>} : tensor<10x70x3xf32> -> "
          "tensor<5x35x3xf32>\n"
          "%b = nn.slice %t {starts = array<i64: 1, 1, 0>, steps = array<i64: 2, 2, 1>} : tensor<10x70x3xf32> -> "
          "tensor<5x35x3xf32>\n"
          "%r = nn.concat %a, %b {axis = 2 : i64} : (tensor<5x35x3xf32>, tensor<5x35x3xf32>) -> tensor<5x35x6xf32>",
          "tensor<5x35x6xf32>"));
  for (int step : {2, 3, 4, 5})
    for (const char* element : {"f32", "ui8", "i1", "f64"}) {
      const std::string from = absl::StrCat("tensor<3x", 36 * step + 1, "x", element, ">");
      const std::string to = absl::StrCat("tensor<3x37x", element, ">");
      add("slice_forward", Function("%x: " + from,
                                    absl::StrCat("%r = nn.slice %x {starts = array<i64: 0, 0>, steps = array<i64: 1, ",
                                                 step, ">} : ", from, " -> ", to),
                                    to));
    }
  add("transpose_i64",
      Function("%x: tensor<3x20x21xi64>",
               "%r = nn.transpose %x {perm = array<i64: 0, 2, 1>} : tensor<3x20x21xi64> -> tensor<3x21x20xi64>",
               "tensor<3x21x20xi64>"));
  add("reshape",
      Function("%x: tensor<3x4x21xf32>",
               "%y = nn.relu %x : tensor<3x4x21xf32>;%r = nn.reshape %y : tensor<3x4x21xf32> -> tensor<12x21xf32>",
               "tensor<12x21xf32>"));
  add("reshape_of_input",
      Function("%x: tensor<3x4x21xf32>", "%r = nn.reshape %x : tensor<3x4x21xf32> -> tensor<12x21xf32>",
               "tensor<12x21xf32>"));
  add("bitcast", Function("%x: tensor<3x21xf32>",
                          "%y = nn.neg %x : tensor<3x21xf32>;%b = nn.bitcast %y : tensor<3x21xf32> -> tensor<3x21xi32>;"
                          "%r = nn.add %b, %b : tensor<3x21xi32>, tensor<3x21xi32> -> tensor<3x21xi32>",
                          "tensor<3x21xi32>"));
  add("bitcast_of_input",
      Function("%x: tensor<21xf16>", "%r = nn.bitcast %x : tensor<21xf16> -> tensor<21xui16>", "tensor<21xui16>"));
  add("bitcast_is_output", Function("%x: tensor<21xi16>",
                                    "%y = nn.add %x, %x : tensor<21xi16>, tensor<21xi16> -> tensor<21xi16>;"
                                    "%r = nn.bitcast %y : tensor<21xi16> -> tensor<21xbf16>",
                                    "tensor<21xbf16>"));
  add("slice", Function("%x: tensor<9x40xf32>",
                        "%r = nn.slice %x {starts = array<i64: 7, 3>, steps = array<i64: -2, 1>} : tensor<9x40xf32> -> "
                        "tensor<3x33xf32>",
                        "tensor<3x33xf32>"));
  add("slice_step", Function("%x: tensor<9x40xf32>",
                             "%r = nn.slice %x {starts = array<i64: 0, 39>, steps = array<i64: 1, -3>} : "
                             "tensor<9x40xf32> -> tensor<9x13xf32>",
                             "tensor<9x13xf32>"));
  add("concat", Function("%a: tensor<3x5xf32>, %b: tensor<3x18xf32>",
                         "%c = nn.exp %b : tensor<3x18xf32>;%r = nn.concat %a, %c {axis = 1 : i64} : (tensor<3x5xf32>, "
                         "tensor<3x18xf32>) -> tensor<3x23xf32>",
                         "tensor<3x23xf32>"));
  add("concat_0",
      Function("%a: tensor<1x18xui8>, %b: tensor<3x18xui8>",
               "%r = nn.concat %a, %b {axis = 0 : i64} : (tensor<1x18xui8>, tensor<3x18xui8>) -> tensor<4x18xui8>",
               "tensor<4x18xui8>"));
  for (const char* mode : {"constant", "edge", "reflect", "wrap"})
    add("pad", Function("%x: tensor<5x9xf32>",
                        absl::StrCat("%r = nn.pad %x {begins = array<i64: 1, 2>, mode = \"", mode,
                                     "\"} : (tensor<5x9xf32>) -> tensor<8x14xf32>"),
                        "tensor<8x14xf32>"));
  for (const char* mode : {"constant", "edge", "reflect", "wrap"})
    add("pad_of_nothing",
        Function(
            "%x: tensor<0x9xf32>",
            absl::StrCat("%n = nn.neg %x : tensor<0x9xf32>\n%p = nn.pad %n {begins = array<i64: 1, 2>, mode = \"", mode,
                         "\"} : (tensor<0x9xf32>) -> tensor<", std::string(mode) == "constant" ? 3 : 0,
                         "x14xf32>\n%r = nn.exp %p : tensor<", std::string(mode) == "constant" ? 3 : 0, "x14xf32>"),
            std::string(mode) == "constant" ? "tensor<3x14xf32>" : "tensor<0x14xf32>"));
  add("pad_crop", Function("%x: tensor<5x9xf32>, %v: tensor<f32>",
                           "%r = nn.pad %x value %v {begins = array<i64: -1, 2>, mode = \"constant\"} : "
                           "(tensor<5x9xf32>, tensor<f32>) -> tensor<6x8xf32>",
                           "tensor<6x8xf32>"));
  add("broadcast", Function("%x: tensor<5x1x9xf32>", "%r = nn.broadcast %x : tensor<5x1x9xf32> -> tensor<2x5x4x9xf32>",
                            "tensor<2x5x4x9xf32>"));
  // Indexing.
  add("gather",
      Function("%x: tensor<9x20xf32>, %i: tensor<2x3xi64>",
               "%r = nn.gather %x, %i {axis = 0 : i64} : (tensor<9x20xf32>, tensor<2x3xi64>) -> tensor<2x3x20xf32>",
               "tensor<2x3x20xf32>"));
  add("gather_1",
      Function("%x: tensor<4x9xf32>, %i: tensor<17xi32>",
               "%r = nn.gather %x, %i {axis = 1 : i64} : (tensor<4x9xf32>, tensor<17xi32>) -> tensor<4x17xf32>",
               "tensor<4x17xf32>"));
  add("gather_elements",
      Function(
          "%x: tensor<5x9xf32>, %i: tensor<5x6xi64>",
          "%r = nn.gather_elements %x, %i {axis = 1 : i64} : (tensor<5x9xf32>, tensor<5x6xi64>) -> tensor<5x6xf32>",
          "tensor<5x6xf32>"));
  add("gather_nd", Function("%x: tensor<2x5x9xf32>, %i: tensor<2x3x1xi64>",
                            "%r = nn.gather_nd %x, %i {batch_dims = 1 : i64} : (tensor<2x5x9xf32>, tensor<2x3x1xi64>) "
                            "-> tensor<2x3x9xf32>",
                            "tensor<2x3x9xf32>"));
  add("one_hot", Function("%i: tensor<7xi64>, %v: tensor<2xf32>",
                          "%r = nn.one_hot %i, %v {axis = 1 : i64} : (tensor<7xi64>, tensor<2xf32>) -> tensor<7x6xf32>",
                          "tensor<7x6xf32>"));
  add("scatter_elements", Function("%x: tensor<5x9xf32>, %i: tensor<5x2xi64>, %u: tensor<5x2xf32>",
                                   "%r = nn.scatter_elements %x, %i, %u {axis = 1 : i64, reduction = \"add\"} : "
                                   "(tensor<5x9xf32>, tensor<5x2xi64>, tensor<5x2xf32>) -> tensor<5x9xf32>",
                                   "tensor<5x9xf32>"));
  add("scatter_nd", Function("%x: tensor<9x6xf32>, %i: tensor<3x1xi64>, %u: tensor<3x6xf32>",
                             "%r = nn.scatter_nd %x, %i, %u {reduction = \"max\"} : (tensor<9x6xf32>, tensor<3x1xi64>, "
                             "tensor<3x6xf32>) -> tensor<9x6xf32>",
                             "tensor<9x6xf32>"));
  add("cumsum", Unary("cumsum", "{axis = 1 : i64, exclusive = true, reverse = true}", "tensor<3x7x2xf32>"));
  for (const char* op : {"arg_max", "arg_min"})
    add(op, Function("%x: tensor<3x17xi32>",
                     absl::StrCat("%r = nn.", op,
                                  " %x {axis = 1 : i64, select_last = true} : tensor<3x17xi32> -> tensor<3x1xi64>"),
                     "tensor<3x1xi64>"));
  add("topk",
      "func.func @main(%x: tensor<3x17xf32>) -> (tensor<3x4xf32>, tensor<3x4xi64>) {\n%v, %i = nn.topk %x {axis = 1 : "
      "i64, largest = true} : (tensor<3x17xf32>) -> (tensor<3x4xf32>, tensor<3x4xi64>)\nreturn %v, %i : "
      "tensor<3x4xf32>, tensor<3x4xi64>\n}\n");
  add("topk_ties",
      "func.func @main(%x: tensor<3x17xi32>) -> (tensor<3x9xi32>, tensor<3x9xi64>) {\n%v, %i = nn.topk %x {axis = 1 : "
      "i64, largest = false} : (tensor<3x17xi32>) -> (tensor<3x9xi32>, tensor<3x9xi64>)\nreturn %v, %i : "
      "tensor<3x9xi32>, tensor<3x9xi64>\n}\n");
  // A result that no one uses has no memory.
  for (const char* used : {"v : tensor<3x4xf32>", "i : tensor<3x4xi64>"})
    add("topk_part", absl::StrCat("func.func @main(%x: tensor<3x17xf32>) -> ", used + 4,
                                  " {\n%v, %i = nn.topk %x {axis = 1 : i64, largest = true} : (tensor<3x17xf32>) -> "
                                  "(tensor<3x4xf32>, tensor<3x4xi64>)\nreturn %",
                                  used, "\n}\n"));
  // Resampling.
  for (const char* mode : {"nearest", "linear", "cubic"})
    for (const char* coordinates :
         {"half_pixel", "asymmetric", "align_corners", "pytorch_half_pixel", "half_pixel_symmetric"})
      add("resize",
          Function("%x: tensor<1x2x5x6xf32>",
                   absl::StrCat(
                       "%r = nn.resize %x {mode = \"", mode, "\", coordinates = \"", coordinates,
                       "\", nearest = \"round_prefer_floor\", scales = array<f32: 1.0, 1.0, 1.6, 0.5>, roi = "
                       "array<f32>, cubic_coeff_a = "
                       "-0.75 : f32, extrapolation_value = 0.0 : f32, exclude_outside = false, antialias = false} : "
                       "tensor<1x2x5x6xf32> -> tensor<1x2x8x3xf32>"),
                   "tensor<1x2x8x3xf32>"),
          1e-5);
  // Quantisation.
  add("quantize",
      Function("%x: tensor<5x19xf32>",
               "%s = nn.constant dense<0.05> : tensor<f32>;%z = nn.constant dense<3> : tensor<i8>;%r = nn.quantize %x, "
               "%s zero_point %z : (tensor<5x19xf32>, tensor<f32>, tensor<i8>) -> tensor<5x19xi8>",
               "tensor<5x19xi8>"));
  add("dequantize", Function("%x: tensor<5x19xui8>, %s: tensor<19xf32>, %z: tensor<19xui8>",
                             "%r = nn.dequantize %x, %s zero_point %z : (tensor<5x19xui8>, tensor<19xf32>, "
                             "tensor<19xui8>) -> tensor<5x19xf32>",
                             "tensor<5x19xf32>"));
  // Constants as filters, so that packing at compile time is used.
  add("packed", Function("%x: tensor<1x5x7x2xf32>",
                         "%w = nn.constant dense<[[[[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]]]> : tensor<1x1x2x3xf32>;"
                         "%r = nn.conv %x, %w {strides = array<i64: 1, 1>, pads = array<i64: 1, 0, 0, 1>, dilations = "
                         "array<i64: 1, 1>, group = 1 : i64, "
                         "channels_last} : (tensor<1x5x7x2xf32>, tensor<1x1x2x3xf32>) -> tensor<1x6x8x3xf32>",
                         "tensor<1x6x8x3xf32>"));
  // A constant that the product wants in panels and something else as it is, or the product itself twice.
  const std::string weights =
      "%w = nn.constant dense<[[0.5, -1.0, 2.0], [1.5, 0.25, -0.75], [1.0, 3.0, -2.0]]> : "
      "tensor<3x3xf32>;";
  const std::string square = " : tensor<3x3xf32>, tensor<3x3xf32> -> tensor<3x3xf32>";
  add("packed_and_added",
      Function("%x: tensor<3x3xf32>", weights + "%m = nn.matmul %x, %w" + square + ";%r = nn.add %m, %w" + square,
               "tensor<3x3xf32>"));
  add("packed_twice",
      Function("%x: tensor<3x3xf32>", weights + "%m = nn.matmul %w, %w" + square + ";%r = nn.add %m, %x" + square,
               "tensor<3x3xf32>"));
  // Nothing at all, or nothing to sum up.
  add("softmax_empty", Unary("softmax", "{axis = 1 : i64}", "tensor<2x0xf32>"));
  add("softmax_no_rows", Unary("softmax", "{axis = 1 : i64}", "tensor<0x3xf32>"));
  add("layer_norm_empty", Function("%x: tensor<0x3xf32>",
                                   "%r = nn.layer_norm %x {axis = 1 : i64, epsilon = 1.0e-5 : f32} : "
                                   "(tensor<0x3xf32>) -> tensor<0x3xf32>",
                                   "tensor<0x3xf32>"));
  add("matmul_empty", Binary("matmul", "tensor<2x0xf32>", "tensor<3x0xf32>", "tensor<2x3xf32>", "{trans_b = true}"));
  add("matmul_empty", Binary("matmul", "tensor<2x0xf32>", "tensor<0x3xf32>", "tensor<2x3xf32>"));
  add("matmul_empty", Binary("matmul", "tensor<0x4xf32>", "tensor<4x3xf32>", "tensor<0x3xf32>"));
  for (const char* last : {"", ", channels_last"}) {
    bool is_last = last[0] != 0;
    add("conv_empty", Conv(is_last ? "tensor<1x5x5x0xf32>" : "tensor<1x0x5x5xf32>",
                           is_last ? "tensor<3x3x0x4xf32>" : "tensor<4x0x3x3xf32>",
                           is_last ? "tensor<1x5x5x4xf32>" : "tensor<1x4x5x5xf32>", same + last + "}"));
    add("conv_no_batch", Conv(is_last ? "tensor<0x5x5x2xf32>" : "tensor<0x2x5x5xf32>",
                              is_last ? "tensor<3x3x2x4xf32>" : "tensor<4x2x3x3xf32>",
                              is_last ? "tensor<0x5x5x4xf32>" : "tensor<0x4x5x5xf32>", same + last + "}"));
  }
  for (const char* op : {"reduce_sum", "reduce_prod", "reduce_max"})
    add("reduce_empty",
        Function("%x: tensor<3x0xf32>",
                 absl::StrCat("%r = nn.", op, " %x {axes = array<i64: 1>} : tensor<3x0xf32> -> tensor<3x1xf32>"),
                 "tensor<3x1xf32>"));
  add("max_pool_empty",
      Function("%x: tensor<0x2x5x5xf32>",
               "%r = nn.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 1, 1>, pads = array<i64: 0, 0, 0, "
               "0>, dilations = array<i64: 1, 1>} : tensor<0x2x5x5xf32> -> tensor<0x2x4x4xf32>",
               "tensor<0x2x4x4xf32>"));
  add("scalar", Unary("exp", "", "tensor<f32>"));
  add("empty", Unary("exp", "", "tensor<3x0xf32>"));
  // Outputs that are inputs, constants, or the same value twice.
  add("outputs",
      "func.func @main(%x: tensor<5xf32>) -> (tensor<5xf32>, tensor<2xi64>, tensor<5xf32>, tensor<5xf32>) {\n"
      "%c = nn.constant dense<[7, -9]> : tensor<2xi64>\n%e = nn.exp %x : tensor<5xf32>\n"
      "return %x, %c, %e, %e : tensor<5xf32>, tensor<2xi64>, tensor<5xf32>, tensor<5xf32>\n}\n");
  return cases;
}

class KernelTest : public ::testing::TestWithParam<std::string> {};

TEST_P(KernelTest, AgreesWithReference) {
  uint64_t seed = 1;
  for (const Case& c : Cases()) {
    for (int level : {0, 3}) {
      SCOPED_TRACE(absl::StrCat(c.name, " -O", level, "\n", c.module));
      auto result = testing::CompileAndCompare(c.module, GetParam(), level, seed++);
      if (!result.ok()) {
        ADD_FAILURE() << result.status();
        continue;
      }
      EXPECT_LE(result->error, c.tolerance);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Targets, KernelTest, ::testing::ValuesIn(testing::RunnableTargets()), [](const auto& info) {
  return absl::StrReplaceAll(info.param, {{"-", "_"}});
});

}  // namespace
}  // namespace aot::codegen
