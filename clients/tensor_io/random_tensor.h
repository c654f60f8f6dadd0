// Seeded inputs for comparing an artifact with the reference where a model comes without data.
#pragma once

#include <cstdint>

#include "compiler/reference/tensor.h"

namespace aot::clients {

// The same seed and type give the same values on every machine. Floats are uniform in [-1, 1); 8-bit integers take
// their whole range; wider integers are 0 or 1, since they are mostly indices or token numbers and those two exist
// nearly everywhere; booleans are either. Strings stay empty.
reference::Tensor RandomTensor(const reference::TensorType& type, uint64_t seed);

}  // namespace aot::clients
