#include "clients/aotctl/compile_flags.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace aot::clients {
namespace {

using ::testing::HasSubstr;

TEST(CompileFlagsTest, BindsDimensionsAndShapes) {
  CompileFlags flags;
  flags.targets = {"cortex-a75", "cortex-a53", "cortex-a75"};
  flags.dims = {"batch=1", "a=b=2"};
  flags.input_shapes = {"x:0=1x3x48x320", "s=scalar", "empty=1x0"};
  flags.input_elements = {"s=3", "none=0", "o=absent"};
  flags.math = "strict";
  absl::StatusOr<std::vector<compiler::Options>> options = ToOptions(flags);
  ASSERT_TRUE(options.ok()) << options.status();
  ASSERT_EQ(options->size(), 2u);
  EXPECT_EQ((*options)[0].target, "cortex-a75");
  EXPECT_EQ((*options)[1].target, "cortex-a53");
  EXPECT_TRUE((*options)[0].strict_math);
  EXPECT_EQ((*options)[0].dims.at("batch"), 1);
  EXPECT_EQ((*options)[0].dims.at("a=b"), 2);
  EXPECT_EQ((*options)[0].input_shapes.at("x:0"), (std::vector<int64_t>{1, 3, 48, 320}));
  EXPECT_TRUE((*options)[0].input_shapes.at("s").empty());
  EXPECT_EQ((*options)[0].input_shapes.at("empty"), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ((*options)[0].input_elements,
            (std::map<std::string, int64_t>{{"none", 0}, {"o", compiler::kAbsent}, {"s", 3}}));
}

TEST(CompileFlagsTest, StatesAndBuckets) {
  CompileFlags flags;
  flags.targets = {"cortex-a75"};
  flags.states = {"h=h_next", "c=c_next"};
  flags.buckets = {"n=1,m=2", "m=3,n=4"};
  absl::StatusOr<std::vector<compiler::Options>> options = ToOptions(flags);
  ASSERT_TRUE(options.ok()) << options.status();
  EXPECT_EQ((*options)[0].states, (std::map<std::string, std::string>{{"c", "c_next"}, {"h", "h_next"}}));
  ASSERT_EQ((*options)[0].buckets.size(), 2u);
  EXPECT_EQ((*options)[0].buckets[1], (std::map<std::string, int64_t>{{"m", 3}, {"n", 4}}));
  for (const char* state : {"h", "h=", "=h", "a=b=c"}) {
    CompileFlags wrong;
    wrong.targets = {"cortex-a75"};
    wrong.states = {state};
    EXPECT_EQ(ToExitCode(ToOptions(wrong).status()), ExitCode::kUsage) << state;
  }
  for (const char* bucket : {"n", "n=", "=1", "n=0", "n=x", "n=1,", "n=1,n=2"}) {
    CompileFlags wrong;
    wrong.targets = {"cortex-a75"};
    wrong.buckets = {bucket};
    EXPECT_EQ(ToExitCode(ToOptions(wrong).status()), ExitCode::kUsage) << bucket;
  }
  flags.buckets.push_back("m=3,n=4");
  EXPECT_EQ(ToExitCode(ToOptions(flags).status()), ExitCode::kUsage);
}

TEST(CompileFlagsTest, MalformedBindingsAreUsageErrors) {
  for (const char* dim : {"batch", "=1", "batch=", "batch=0", "batch=x", "batch=99999999999999999999"}) {
    CompileFlags flags;
    flags.targets = {"cortex-a75"};
    flags.dims = {dim};
    absl::Status status = ToOptions(flags).status();
    EXPECT_EQ(ToExitCode(status), ExitCode::kUsage) << dim;
    EXPECT_THAT(std::string(status.message()), HasSubstr("--dim")) << dim;
  }
  for (const char* shape : {"x=", "x=1x", "x=1xa", "x=-1", "x=1,2"}) {
    CompileFlags flags;
    flags.targets = {"cortex-a75"};
    flags.input_shapes = {shape};
    EXPECT_EQ(ToExitCode(ToOptions(flags).status()), ExitCode::kUsage) << shape;
  }
  for (const char* elements : {"x=", "x=-1", "x=none", "x"}) {
    CompileFlags flags;
    flags.targets = {"cortex-a75"};
    flags.input_elements = {elements};
    EXPECT_EQ(ToExitCode(ToOptions(flags).status()), ExitCode::kUsage) << elements;
  }
  CompileFlags twice;
  twice.targets = {"cortex-a75"};
  twice.dims = {"n=1", "n=2"};
  EXPECT_THAT(std::string(ToOptions(twice).status().message()), HasSubstr("twice"));
}

TEST(CompileFlagsTest, TheCommandLineFillsThem) {
  CLI::App app;
  CompileFlags flags;
  AddCompileFlags(&app, &flags);
  app.parse("--model m.onnx --target cortex-a75,cortex-a53 --dim a=1 --dim b=2 --opt 0 --local", false);
  EXPECT_EQ(flags.targets, (std::vector<std::string>{"cortex-a75", "cortex-a53"}));
  EXPECT_EQ(flags.dims, (std::vector<std::string>{"a=1", "b=2"}));
  EXPECT_EQ(flags.opt_level, 0);
  EXPECT_TRUE(flags.local);
  CLI::App again;
  CompileFlags defaults;
  AddCompileFlags(&again, &defaults);
  again.parse("-m m.onnx", false);
  EXPECT_EQ(defaults.targets, std::vector<std::string>{"native"});
}

}  // namespace
}  // namespace aot::clients
