#include "compiler/import/onnx/shape_error.h"

namespace aot::import::onnx {
namespace {
constexpr char kPayload[] = "aot/shape";
}

absl::Status ShapeError(absl::string_view message) {
  absl::Status status = absl::InvalidArgumentError(message);
  status.SetPayload(kPayload, absl::Cord());
  return status;
}

bool IsShapeError(const absl::Status& status) { return status.GetPayload(kPayload).has_value(); }

}  // namespace aot::import::onnx
