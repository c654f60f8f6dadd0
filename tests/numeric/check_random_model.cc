#include "tests/numeric/check_random_model.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "compiler/testing/compiled_model.h"

namespace aot::numeric {
namespace {

using reference::Tensor;

// "" or the first element that differs too much.
std::string Difference(const Tensor& got, const Tensor& want) {
  if (!(got.type() == want.type())) {
    return absl::StrCat("type or shape ", reference::Name(got.element()), " ", reference::ToString(got.shape()),
                        ", want ", reference::Name(want.element()), " ", reference::ToString(want.shape()));
  }
  double largest = 1;
  const bool is_float = reference::IsFloat(want.element());
  for (int64_t i = 0; is_float && i < want.size(); ++i) {
    if (std::isfinite(want.GetFloat(i))) largest = std::max(largest, std::fabs(want.GetFloat(i)));
  }
  for (int64_t i = 0; i < want.size(); ++i) {
    if (!is_float) {
      if (got.GetInt(i) == want.GetInt(i)) continue;
      return absl::StrCat("element ", i, " is ", got.GetInt(i), ", want ", want.GetInt(i));
    }
    const double a = got.GetFloat(i), b = want.GetFloat(i);
    if ((std::isnan(a) && std::isnan(b)) || a == b || std::fabs(a - b) <= 1e-4 * largest) continue;
    return absl::StrCat("element ", i, " is ", a, ", want ", b, "; the largest is ", largest);
  }
  return "";
}

}  // namespace

std::string CheckRandomModel(const RandomModel& model, const std::string& target) {
  auto want = compiler::RunReference(model.model, {}, model.inputs);
  if (!want.ok()) return absl::StrCat("the reference: ", want.status().ToString());
  for (int level : {0, 3}) {
    compiler::Options options;
    options.target = target;
    options.opt_level = level;
    options.threads = 1;
    auto got = testing::CompileAndRun(model.model, options, model.inputs);
    if (!got.ok()) return absl::StrCat("-O", level, ": ", got.status().ToString());
    if (got->size() != want->size()) return absl::StrCat("-O", level, ": ", got->size(), " outputs");
    for (size_t i = 0; i < want->size(); ++i) {
      const std::string difference = Difference((*got)[i], (*want)[i]);
      if (!difference.empty()) return absl::StrCat("-O", level, ", output ", i, ": ", difference);
    }
  }
  return "";
}

}  // namespace aot::numeric
