#include "tests/conformance/closeness.h"

#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/tensor_io/tensor_file.h"

namespace aot::tests {
namespace {

using reference::ElementType;
using reference::Tensor;

bool Close(double computed, double reference) {
  if (std::isnan(reference)) return std::isnan(computed);
  if (std::isinf(reference) || std::isinf(computed)) return computed == reference;
  return std::fabs(computed - reference) <= kAbsoluteTolerance + kRelativeTolerance * std::fabs(reference);
}

std::string FloatDifference(const Tensor& computed, const Tensor& reference) {
  int64_t count = 0, first = -1;
  for (int64_t i = 0; i < reference.size(); ++i) {
    if (Close(computed.GetFloat(i), reference.GetFloat(i))) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return "";
  return absl::StrFormat("%d of %d elements differ, the first at %d: %.9g, expected %.9g", count, reference.size(),
                         first, computed.GetFloat(first), reference.GetFloat(first));
}

std::string IntegerDifference(const Tensor& computed, const Tensor& reference) {
  int64_t count = 0, first = -1;
  for (int64_t i = 0; i < reference.size(); ++i) {
    if (computed.GetInt(i) == reference.GetInt(i)) continue;
    if (count++ == 0) first = i;
  }
  if (count == 0) return "";
  return absl::StrFormat("%d of %d elements differ, the first at %d: %d, expected %d", count, reference.size(), first,
                         computed.GetInt(first), reference.GetInt(first));
}

}  // namespace

std::string Difference(const Tensor& computed, const Tensor& reference) {
  if (!(computed.type() == reference.type())) {
    return absl::StrCat("type ", clients::ToString(computed.type()), ", expected ",
                        clients::ToString(reference.type()));
  }
  if (reference.element() == ElementType::kString) {
    return *computed.strings == *reference.strings ? "" : "the strings differ";
  }
  return reference::IsFloat(reference.element()) ? FloatDifference(computed, reference)
                                                 : IntegerDifference(computed, reference);
}

}  // namespace aot::tests
