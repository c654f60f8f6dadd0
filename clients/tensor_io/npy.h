// NumPy's .npy format (NEP 1 and its version 2.0 and 3.0 headers), C order, the element types that NumPy and ONNX
// share.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/reference/tensor.h"

namespace aot::clients {

// A tensor that owns its bytes. Big-endian data is swapped. INVALID_ARGUMENT names `where` (the file) and what is
// wrong; Fortran order, strings, complex numbers and structured types are refused with what to do instead.
absl::StatusOr<reference::Tensor> ParseNpy(absl::string_view bytes, absl::string_view where);

// A version 1.0 file. INVALID_ARGUMENT for element types that NumPy lacks (bfloat16, 8-bit floats, strings).
absl::StatusOr<std::string> SerializeNpy(const reference::Tensor& tensor);

}  // namespace aot::clients
