// ONNX's own suite against the list of expected results: a case that starts to pass breaks the test as well as one that
// stops. Debian's package libonnx-testdata holds version 1.12 of the suite; a newer one is found through AOT_TESTDATA
// or beside the workspace, and where it is missing it is left out, said aloud.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/model/native_target.h"
#include "clients/tensor_io/file.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/suite.h"

namespace aot::tests {
namespace {

namespace fs = std::filesystem;

constexpr char kExpected[] = "tests/conformance/expected.json";
constexpr char kDebian[] = "/usr/share/libonnx-testdata/data";
// A slice is every kSlices-th case: the slices take about the same time, and Bazel's shards share them out.
constexpr int kSlices = 8;

std::string FindNewerSuite() {
  std::error_code ignored;
  fs::path data;
  if (const char* testdata = getenv("AOT_TESTDATA"); testdata != nullptr) {
    data = testdata;
  } else {
    // Runfiles are links into the workspace, which has the test data beside it.
    fs::path here = fs::canonical(kExpected, ignored);
    if (ignored) return "";
    data = here.parent_path().parent_path().parent_path().parent_path() / "shared/testdata";
  }
  return (data / "onnx-conformance").string();
}

struct Part {
  std::string name;  // in the list
  std::string directory;
  int opt_level;
  int slice;
};

std::vector<Part> Parts() {
  std::vector<Part> parts;
  for (int slice = 0; slice < kSlices; ++slice) {
    parts.push_back({"onnx-1.12", kDebian, 3, slice});
    parts.push_back({"onnx-1.12", kDebian, 0, slice});
    parts.push_back({"onnx-1.22", FindNewerSuite(), 3, slice});
    parts.push_back({"onnx-1.22", FindNewerSuite(), 0, slice});
  }
  return parts;
}

class SuiteTest : public ::testing::TestWithParam<Part> {};

TEST_P(SuiteTest, GivesWhatIsExpected) {
  const Part& part = GetParam();
  std::error_code ignored;
  if (!fs::is_directory(part.directory, ignored)) GTEST_SKIP() << "left out: no " << part.directory;
  absl::StatusOr<std::string> text = clients::ReadFile(kExpected);
  ASSERT_TRUE(text.ok()) << text.status();
  absl::StatusOr<Expected> expected = ParseExpected(*text);
  ASSERT_TRUE(expected.ok()) << expected.status();
  absl::StatusOr<std::vector<std::string>> cases = ListCases(part.directory, "");
  ASSERT_TRUE(cases.ok()) << cases.status();
  EXPECT_EQ(static_cast<int>(cases->size()), (*expected)[part.name].cases)
      << "the list is of another version of the suite";
  std::vector<std::string> slice;
  for (size_t i = static_cast<size_t>(part.slice); i < cases->size(); i += kSlices) slice.push_back((*cases)[i]);

  absl::StatusOr<std::string> target = clients::ResolveTarget("native");
  ASSERT_TRUE(target.ok()) << target.status();
  compiler::Options options;
  options.target = *target;
  options.opt_level = part.opt_level;
  options.threads = 1;
  const std::vector<CaseResult> results = RunSuite(part.directory, slice, options, WorkerOptions());
  const Totals totals = Count(results);
  printf("%s at -O%d, slice %d: %d pass, %d fail, %d unsupported, of %d\n", part.name.c_str(), part.opt_level,
         part.slice, totals.pass, totals.fail, totals.unsupported, totals.all());
  const std::vector<std::string> deviations = Deviations((*expected)[part.name], results);
  EXPECT_TRUE(deviations.empty()) << absl::StrJoin(deviations, "\n");
}

INSTANTIATE_TEST_SUITE_P(Slices, SuiteTest, ::testing::ValuesIn(Parts()), [](const auto& info) {
  return absl::StrCat("Onnx", info.param.name == "onnx-1.12" ? "112" : "122", "Opt", info.param.opt_level, "Slice",
                      info.param.slice);
});

}  // namespace
}  // namespace aot::tests
