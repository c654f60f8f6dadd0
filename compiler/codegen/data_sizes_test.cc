// Operations whose number of results the data decides, against reference/: on each x86-64 level that the machine runs,
// at both ends of the optimisation levels, with edge shapes.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "compiler/testing/compiled_function.h"

namespace aot::codegen {
namespace {

void Check(const std::string& arguments, const std::string& body, const std::vector<std::string>& results) {
  std::string types, values;
  for (size_t i = 0; i < results.size(); ++i) {
    absl::StrAppend(&types, i ? ", " : "", results[i]);
    absl::StrAppend(&values, i ? ", " : "", "%r", i);
  }
  const std::string module = absl::StrCat("func.func @main(", arguments, ") -> (", types, ") {\n", body, "\nreturn ",
                                          values, " : ", types, "\n}\n");
  // Which target it is decides little here: no vectors are involved. The first and the last stand for all.
  const std::vector<std::string> targets = testing::RunnableTargets();
  for (const auto& [target, opt_level] : {std::pair(targets.front(), 3), std::pair(targets.back(), 0)}) {
    auto comparison = testing::CompileAndCompare(module, target, opt_level, /*seed=*/1);
    ASSERT_TRUE(comparison.ok()) << comparison.status() << "\n" << module;
    EXPECT_EQ(comparison->error, 0) << target << " -O" << opt_level << "\n" << module;
  }
}

std::string Vector(int64_t size) { return absl::StrCat("tensor<", size, "xi64>"); }

TEST(DataSizes, NonZero) {
  for (const auto& [shape, size] :
       {std::pair("5x7x", 35), std::pair("", 1), std::pair("1x", 1), std::pair("0x3x", 0), std::pair("300x", 300)}) {
    const std::string x = absl::StrCat("tensor<", shape, "i1>");
    Check("%x: " + x, absl::StrCat("%r0, %r1 = nn.nonzero %x : (", x, ") -> (", Vector(size), ", tensor<1xi64>)"),
          {Vector(size), "tensor<1xi64>"});
  }
}

TEST(DataSizes, NonZeroOfWhichTheNumberAloneIsUsed) {
  Check("%x: tensor<67xi1>", "%p, %r0 = nn.nonzero %x : (tensor<67xi1>) -> (tensor<67xi64>, tensor<1xi64>)",
        {"tensor<1xi64>"});
}

TEST(DataSizes, Unique) {
  for (const char* sorted : {"true", "false"}) {
    for (const auto& [rows, columns] : {std::pair(1, 1), std::pair(0, 3), std::pair(4, 0), std::pair(37, 1),
                                        std::pair(64, 1), std::pair(65, 2), std::pair(20, 3)}) {
      const std::string x = absl::StrCat("tensor<", rows, "x", columns, "xi32>"), n = Vector(rows);
      Check("%x: " + x,
            absl::StrCat("%r0, %r1, %r2, %r3 = nn.unique %x {sorted = ", sorted, "} : (", x, ") -> (", n, ", ", n, ", ",
                         n, ", tensor<1xi64>)"),
            {n, n, n, "tensor<1xi64>"});
    }
  }
}

TEST(DataSizes, UniqueOfEachType) {
  // What is left of small numbers when it was narrowed has repetitions.
  for (const char* type :
       {"i1", "i8", "ui8", "i16", "ui16", "ui32", "i64", "ui64", "f16", "bf16", "f64", "f8E4M3FN", "i4", "ui4"}) {
    const std::string x = absl::StrCat("tensor<40x1x", type, ">"), n = Vector(40);
    Check("%i: tensor<40x1xi32>",
          absl::StrCat("%x = nn.cast %i : tensor<40x1xi32> -> ", x,
                       "\n%r0, %r1, %r2, %r3 = nn.unique %x {sorted = true} : (", x, ") -> (", n, ", ", n, ", ", n,
                       ", tensor<1xi64>)"),
          {n, n, n, "tensor<1xi64>"});
  }
}

TEST(DataSizes, UniqueSortsNanLast) {
  // The logarithm of negative numbers; one result alone is used.
  Check("%i: tensor<30x1xi32>",
        "%f = nn.cast %i : tensor<30x1xi32> -> tensor<30x1xf32>\n%x = nn.log %f : tensor<30x1xf32>\n"
        "%p, %r0, %c, %n = nn.unique %x {sorted = true} : (tensor<30x1xf32>) -> (tensor<30xi64>, tensor<30xi64>, "
        "tensor<30xi64>, tensor<1xi64>)",
        {"tensor<30xi64>"});
}

TEST(DataSizes, NonMaxSuppression) {
  struct Shape {
    int batches, classes, boxes, room;
  };
  for (const Shape& s : {Shape{1, 1, 1, 1}, Shape{2, 3, 17, 102}, Shape{1, 2, 40, 20}, Shape{1, 1, 0, 0}}) {
    const std::string boxes = absl::StrCat("tensor<", s.batches, "x", s.boxes, "x4xf32>");
    const std::string scores = absl::StrCat("tensor<", s.batches, "x", s.classes, "x", s.boxes, "xf32>");
    const std::string selected = absl::StrCat("tensor<", s.room, "x3xi64>");
    for (const char* center : {"true", "false"}) {
      Check(absl::StrCat("%b: ", boxes, ", %s: ", scores, ", %l: tensor<1xi64>, %i: tensor<1xf32>, %t: tensor<1xf32>"),
            absl::StrCat("%ten = nn.constant dense<10> : tensor<1xi64>\n%limit = nn.add %l, %ten : tensor<1xi64>, "
                         "tensor<1xi64> -> tensor<1xi64>\n"
                         "%r0, %r1 = nn.non_max_suppression %b, %s, %limit iou %i score %t {center = ",
                         center, "} : (", boxes, ", ", scores, ", tensor<1xi64>, tensor<1xf32>, tensor<1xf32>) -> (",
                         selected, ", tensor<1xi64>)"),
            {selected, "tensor<1xi64>"});
      Check(absl::StrCat("%b: ", boxes, ", %s: ", scores, ", %l: tensor<1xi64>"),
            absl::StrCat("%r0, %r1 = nn.non_max_suppression %b, %s, %l {center = ", center, "} : (", boxes, ", ",
                         scores, ", tensor<1xi64>) -> (", selected, ", tensor<1xi64>)"),
            {selected, "tensor<1xi64>"});
    }
  }
}

TEST(DataSizes, Pack) {
  for (const auto& [shape, rank] : {std::pair("8x3x", 2), std::pair("3x8x", 2), std::pair("2x5x4x", 3),
                                    std::pair("9x", 1), std::pair("", 0), std::pair("0x4x", 2)}) {
    for (const char* type : {"f32", "i1", "i64", "f16", "f8E5M2"}) {
      const std::string x = absl::StrCat("tensor<", shape, type, ">");
      const std::string dims = absl::StrCat("tensor<", rank, "xi64>");
      // Sizes from 0 to 4, some beyond the dimension.
      Check(absl::StrCat("%f: tensor<", shape, "f32>, %d: ", dims),
            absl::StrCat("%x = nn.cast %f : tensor<", shape, "f32> -> ", x, "\n%a = nn.abs %d : ", dims,
                         "\n%r0 = nn.pack %x, %a : (", x, ", ", dims, ") -> ", x),
            {x});
    }
  }
}

}  // namespace
}  // namespace aot::codegen
