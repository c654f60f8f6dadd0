// What the classifiers and regressors of ai.onnx.ml share: their input, labels, and what becomes of scores.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/import/onnx/node.h"

namespace aot::import::onnx {

// The domain's input [rows, features] as floats: float64 stays, other types become float32. A vector is one row.
absl::StatusOr<Value> FeatureRows(Node& n, size_t input);

// post_transform on scores [rows, columns], which must be at least two columns for SOFTMAX to mean anything.
absl::StatusOr<Value> PostTransform(Node& n, const Value& scores, const std::string& transform);

// The labels of a classifier. UNIMPLEMENTED for strings, of which artifacts have no tensors.
absl::StatusOr<std::vector<int64_t>> ClassLabels(Node& n, absl::string_view ints, absl::string_view strings);

// labels[index] for indices [rows].
Value PickLabel(Builder& b, const std::vector<int64_t>& labels, const Value& index);
// The label of the largest score of each row, the first of equal ones.
Value BestLabel(Builder& b, const std::vector<int64_t>& labels, const Value& scores);

// A float32 constant.
Value FloatConstant(Builder& b, const std::vector<double>& values, reference::Shape shape);

}  // namespace aot::import::onnx
