// All cases of a directory in ONNX's layout.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline.h"
#include "tests/conformance/case_result.h"
#include "tests/conformance/worker_pool.h"

namespace aot::tests {

// The cases below `directory`, as paths relative to it, sorted: directories that hold model.onnx and a data set.
// `pattern`: only names that contain it, where * stands for anything; empty: all. NOT_FOUND: there is none.
absl::StatusOr<std::vector<std::string>> ListCases(const std::string& directory, const std::string& pattern);

struct Totals {
  int pass = 0, fail = 0, unsupported = 0, bound = 0;
  int all() const { return pass + fail + unsupported; }
};

// Runs the cases in workers and gives their results in the order of `cases`. `each`, if given, sees every result when
// it comes.
std::vector<CaseResult> RunSuite(const std::string& directory, const std::vector<std::string>& cases,
                                 const compiler::Options& options, const WorkerOptions& workers,
                                 const std::function<void(const CaseResult&)>& each = nullptr);
Totals Count(const std::vector<CaseResult>& results);

}  // namespace aot::tests
