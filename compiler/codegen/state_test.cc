// States in place against reference/ with every value handed over: whatever the order in which a model reads and writes
// them, no element of the old value is lost. Several runs each, so that a wrong state shows.
#include <gtest/gtest.h>

#include "compiler/testing/compiled_function.h"

namespace aot::codegen {
namespace {

using States = std::vector<std::pair<unsigned, unsigned>>;

// Right at both ends of the optimisation levels; returns the number of steps at the highest.
size_t ExpectRight(const char* text, const States& states) {
  size_t steps = 0;
  for (int level : {0, 3}) {
    auto result = testing::CompileAndCompare(text, testing::HostTarget(), level, 7, states, 4);
    EXPECT_TRUE(result.ok()) << result.status();
    if (!result.ok()) return 0;
    EXPECT_LE(result->error, 1e-5) << "at level " << level;
    steps = result->program_steps;
  }
  return steps;
}

TEST(State, ElementwiseUpdateNeedsNoCopy) {
  EXPECT_EQ(ExpectRight(R"(
    func.func @main(%x: tensor<5x7xf32>, %h: tensor<5x7xf32>) -> (tensor<5x7xf32>) {
      %0 = nn.mul %x, %h : tensor<5x7xf32>, tensor<5x7xf32> -> tensor<5x7xf32>
      %1 = nn.sigmoid %0 : tensor<5x7xf32>
      %2 = nn.add %1, %h : tensor<5x7xf32>, tensor<5x7xf32> -> tensor<5x7xf32>
      return %2 : tensor<5x7xf32>
    })",
                        {{1, 0}}),
            1u);
}

// A cache of keys and values: one row changes, the others stay where they are.
TEST(State, ScatterWritesIntoTheState) {
  EXPECT_EQ(ExpectRight(R"(
    func.func @main(%i: tensor<1x1xi64>, %new: tensor<1x6xf32>, %cache: tensor<9x6xf32>) -> (tensor<9x6xf32>) {
      %0 = nn.scatter_nd %cache, %i, %new {reduction = "none"}
          : (tensor<9x6xf32>, tensor<1x1xi64>, tensor<1x6xf32>) -> tensor<9x6xf32>
      return %0 : tensor<9x6xf32>
    })",
                        {{2, 0}}),
            1u);
}

// The old value is read by the product, whose result is also wanted: the state is written after it.
TEST(State, ReadByAProductBeforeItIsWritten) {
  ExpectRight(R"(
    func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>, %h: tensor<4x6xf32>)
        -> (tensor<4x6xf32>, tensor<4x6xf32>) {
      %0 = nn.matmul %h, %w : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
      %1 = nn.add %0, %x : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
      %2 = nn.tanh %1 : tensor<4x6xf32>
      return %2, %2 : tensor<4x6xf32>, tensor<4x6xf32>
    })",
              {{2, 1}});
}

TEST(State, WrittenByTheProductThatReadsIt) {
  ExpectRight(R"(
    func.func @main(%w: tensor<6x6xf32>, %h: tensor<4x6xf32>) -> (tensor<4x6xf32>) {
      %0 = nn.matmul %h, %w : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
      %1 = nn.tanh %0 : tensor<4x6xf32>
      return %1 : tensor<4x6xf32>
    })",
              {{1, 0}});
}

// What is written early in the model's order is needed in its old form later on.
TEST(State, ReadAfterItsNewValueIsKnown) {
  ExpectRight(R"(
    func.func @main(%x: tensor<4x6xf32>, %w: tensor<6x6xf32>, %h: tensor<4x6xf32>)
        -> (tensor<4x6xf32>, tensor<4x6xf32>) {
      %0 = nn.mul %x, %x : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
      %1 = nn.matmul %0, %w : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
      %2 = nn.matmul %1, %w : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
      %3 = nn.matmul %h, %w : tensor<4x6xf32>, tensor<6x6xf32> -> tensor<4x6xf32>
      %4 = nn.add %3, %2 : tensor<4x6xf32>, tensor<4x6xf32> -> tensor<4x6xf32>
      %5 = nn.tanh %1 : tensor<4x6xf32>
      return %5, %4 : tensor<4x6xf32>, tensor<4x6xf32>
    })",
              {{2, 0}});
}

TEST(State, TwoThatChangePlaces) {
  ExpectRight(R"(
    func.func @main(%a: tensor<3x5xf32>, %b: tensor<3x5xf32>) -> (tensor<3x5xf32>, tensor<3x5xf32>) {
      return %b, %a : tensor<3x5xf32>, tensor<3x5xf32>
    })",
              {{0, 0}, {1, 1}});
}

TEST(State, TwoThatDependOnEachOther) {
  ExpectRight(R"(
    func.func @main(%x: tensor<3x5xf32>, %a: tensor<3x5xf32>, %b: tensor<3x5xf32>)
        -> (tensor<3x5xf32>, tensor<3x5xf32>) {
      %0 = nn.sub %a, %b : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
      %1 = nn.add %a, %x : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
      %2 = nn.mul %1, %b : tensor<3x5xf32>, tensor<3x5xf32> -> tensor<3x5xf32>
      %3 = nn.sigmoid %2 : tensor<3x5xf32>
      return %0, %3 : tensor<3x5xf32>, tensor<3x5xf32>
    })",
              {{1, 0}, {2, 1}});
}

TEST(State, UnchangedNeedsNoStep) {
  EXPECT_EQ(ExpectRight(R"(
    func.func @main(%x: tensor<3xf32>, %h: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
      %0 = nn.add %x, %h : tensor<3xf32>, tensor<3xf32> -> tensor<3xf32>
      return %h, %0 : tensor<3xf32>, tensor<3xf32>
    })",
                        {{1, 0}}),
            1u);
}

// A window over the last values: each element moves.
TEST(State, SlidingWindow) {
  ExpectRight(R"(
    func.func @main(%x: tensor<1x4xf32>, %h: tensor<7x4xf32>) -> (tensor<7x4xf32>) {
      %0 = nn.slice %h {starts = array<i64: 1, 0>, steps = array<i64: 1, 1>} : tensor<7x4xf32> -> tensor<6x4xf32>
      %1 = nn.concat %0, %x {axis = 0} : (tensor<6x4xf32>, tensor<1x4xf32>) -> tensor<7x4xf32>
      return %1 : tensor<7x4xf32>
    })",
              {{1, 0}});
}

// Transposed, every element is read after another was written in its place.
TEST(State, Transposed) {
  ExpectRight(R"(
    func.func @main(%x: tensor<6x6xf32>, %h: tensor<6x6xf32>) -> (tensor<6x6xf32>) {
      %0 = nn.transpose %h {perm = array<i64: 1, 0>} : tensor<6x6xf32> -> tensor<6x6xf32>
      %1 = nn.add %0, %x : tensor<6x6xf32>, tensor<6x6xf32> -> tensor<6x6xf32>
      return %1 : tensor<6x6xf32>
    })",
              {{1, 0}});
}

// Another output is made of the old value: it comes first, or from a copy.
TEST(State, OldValueIsAnOutputToo) {
  ExpectRight(R"(
    func.func @main(%x: tensor<5xf32>, %h: tensor<5xf32>) -> (tensor<5xf32>, tensor<5xf32>, tensor<5xf32>) {
      %0 = nn.add %x, %h : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
      %1 = nn.mul %h, %h : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
      return %0, %h, %1 : tensor<5xf32>, tensor<5xf32>, tensor<5xf32>
    })",
              {{1, 0}});
}

}  // namespace
}  // namespace aot::codegen
