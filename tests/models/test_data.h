// Where the development model set is: no part of the project, so tests must do without it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace aot::tests {

// The directory of models, by AOT_TESTDATA or beside the workspace; empty if there is none.
inline std::filesystem::path FindModels() {
  namespace fs = std::filesystem;
  std::error_code ignored;
  if (const char* testdata = getenv("AOT_TESTDATA"); testdata != nullptr) {
    fs::path models = fs::path(testdata) / "models";
    return fs::is_directory(models, ignored) ? models : fs::path();
  }
  // Runfiles are links into the workspace, which has the test data beside it.
  fs::path here = fs::canonical("tests/models/README.md", ignored);
  if (ignored) return {};
  fs::path models = here.parent_path().parent_path().parent_path().parent_path() / "shared/testdata/models";
  return fs::is_directory(models, ignored) ? models : fs::path();
}

}  // namespace aot::tests
