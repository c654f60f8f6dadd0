#include "tests/conformance/suite.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "tests/conformance/conformance_case.h"

namespace aot::tests {
namespace {

namespace fs = std::filesystem;

bool Matches(absl::string_view name, absl::string_view pattern) {
  size_t from = 0;
  for (absl::string_view part : absl::StrSplit(pattern, '*')) {
    size_t at = name.find(part, from);
    if (at == absl::string_view::npos) return false;
    from = at + part.size();
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ListCases(const std::string& directory, const std::string& pattern) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (it->path().filename() != "model.onnx") continue;
    const fs::path home = it->path().parent_path();
    std::error_code ignored;
    if (!fs::is_directory(home / "test_data_set_0", ignored)) continue;
    const std::string name = home.lexically_relative(directory).string();
    if (Matches(name, pattern)) names.push_back(name);
  }
  if (error) return absl::NotFoundError(absl::StrCat(directory, ": ", error.message()));
  if (names.empty()) {
    return absl::NotFoundError(absl::StrCat(directory, " has no case",
                                            pattern.empty() ? "" : absl::StrCat(" that matches '", pattern, "'"),
                                            ": a directory with model.onnx and test_data_set_0"));
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::vector<CaseResult> RunSuite(const std::string& directory, const std::vector<std::string>& cases,
                                 const compiler::Options& options, const WorkerOptions& workers,
                                 const std::function<void(const CaseResult&)>& each) {
  std::vector<CaseResult> results(cases.size());
  auto work = [&](size_t i) { return ToJson(RunCase(absl::StrCat(directory, "/", cases[i]), options)); };
  auto done = [&](size_t i, const WorkResult& work_result) {
    CaseResult& result = results[i];
    if (work_result.failure.empty()) {
      result = FromJson(work_result.value);
    } else {
      result.message = absl::StrCat("CRASH: ", work_result.failure);
    }
    result.name = cases[i];
    if (each) each(result);
  };
  RunInWorkers(cases.size(), workers, work, done);
  return results;
}

Totals Count(const std::vector<CaseResult>& results) {
  Totals totals;
  for (const CaseResult& result : results) {
    ++(result.outcome == Outcome::kPass   ? totals.pass
       : result.outcome == Outcome::kFail ? totals.fail
                                          : totals.unsupported);
    if (!result.bound.empty()) ++totals.bound;
  }
  return totals;
}

}  // namespace aot::tests
