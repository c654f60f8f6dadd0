#include "clients/tensor_io/compare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/tensor_io/tensor_file.h"

namespace aot::clients {
namespace {

using reference::ElementType;
using reference::Tensor;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The flat index as the coordinates "[0,3,17]".
std::string Coordinates(int64_t index, const reference::Shape& shape) {
  std::string text;
  for (auto dim = shape.rbegin(); dim != shape.rend(); ++dim) {
    text = absl::StrCat(index % *dim, text.empty() ? "" : ",", text);
    index /= *dim;
  }
  return absl::StrCat("[", text, "]");
}

void CompareFloats(const Tensor& computed, const Tensor& reference, double relative, Comparison* result) {
  if (reference.element() == ElementType::kFloat16) relative = std::max(relative, std::ldexp(1.0, -10));
  if (reference.element() == ElementType::kBfloat16) relative = std::max(relative, std::ldexp(1.0, -7));
  for (int64_t i = 0; i < reference.size(); ++i) {
    double a = computed.GetFloat(i), b = reference.GetFloat(i);
    if (std::isfinite(b)) result->max_reference = std::max(result->max_reference, std::fabs(b));
    double difference = std::fabs(a - b);
    if (std::isnan(a) && std::isnan(b)) difference = 0;
    if (std::isinf(a) || std::isinf(b)) difference = a == b ? 0 : kInfinity;
    if (std::isnan(difference)) difference = kInfinity;
    if (difference > result->max_difference) {
      result->max_difference = difference;
      result->worst_index = i;
    }
  }
  double allowed = relative * result->max_reference;
  result->relative =
      result->max_reference > 0 ? result->max_difference / result->max_reference : result->max_difference;
  result->equal = result->max_difference <= allowed;
  if (result->equal) return;
  result->difference =
      absl::StrFormat("at %s: %.9g, reference %.9g; off by %.3g of the largest value, %.3g allowed",
                      Coordinates(result->worst_index, reference.shape()), computed.GetFloat(result->worst_index),
                      reference.GetFloat(result->worst_index), result->relative, relative);
}

void CompareIntegers(const Tensor& computed, const Tensor& reference, int64_t steps, Comparison* result) {
  uint64_t worst = 0;
  for (int64_t i = 0; i < reference.size(); ++i) {
    int64_t a = computed.GetInt(i), b = reference.GetInt(i);
    if (a == b) continue;
    bool less =
        reference.element() == ElementType::kUint64 ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
    uint64_t difference = less ? static_cast<uint64_t>(b) - static_cast<uint64_t>(a)
                               : static_cast<uint64_t>(a) - static_cast<uint64_t>(b);
    if (difference > worst) {
      worst = difference;
      result->worst_index = i;
    }
  }
  result->max_difference = result->relative = static_cast<double>(worst);
  result->equal = worst <= static_cast<uint64_t>(steps);
  if (result->equal) return;
  result->difference = absl::StrCat("at ", Coordinates(result->worst_index, reference.shape()), ": ",
                                    computed.GetInt(result->worst_index), ", reference ",
                                    reference.GetInt(result->worst_index), "; a difference of ", steps, " is allowed");
}

void CompareStrings(const Tensor& computed, const Tensor& reference, Comparison* result) {
  result->equal = *computed.strings == *reference.strings;
  if (!result->equal) result->difference = "the strings differ";
}

}  // namespace

Comparison Compare(const Tensor& computed, const Tensor& reference, const Tolerance& tolerance) {
  Comparison result;
  if (!(computed.type() == reference.type())) {
    result.max_difference = result.relative = kInfinity;
    result.difference = absl::StrCat("type ", ToString(computed.type()), ", reference ", ToString(reference.type()));
    return result;
  }
  if (reference.element() == ElementType::kString) {
    CompareStrings(computed, reference, &result);
  } else if (reference::IsFloat(reference.element())) {
    CompareFloats(computed, reference, tolerance.relative_to_max, &result);
  } else {
    CompareIntegers(computed, reference, tolerance.integer_steps, &result);
  }
  return result;
}

}  // namespace aot::clients
