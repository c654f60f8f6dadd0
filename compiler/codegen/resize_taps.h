// Resampling as tables: for each output coordinate of a dimension the input coordinates that it reads and their
// weights.
#pragma once

#include <vector>

#include "compiler/codegen/emitter.h"
#include "compiler/ir/NnDialect.h"

namespace aot::codegen {

struct ResizeTaps {
  int count = 1;                 // taps for each output coordinate
  std::vector<int32_t> indices;  // [out][count], inside the input
  std::vector<float> weights;    // [out][count]; NaN marks a coordinate outside (tf_crop_and_resize)
};

// As reference::ResizeTaps gives them, made rectangular.
ResizeTaps MakeResizeTaps(nn::ResizeOp op, size_t dimension);

// A read-only table in the kernel's object.
Buffer TableOf(Emitter& emitter, const std::vector<int32_t>& values);
Buffer TableOf(Emitter& emitter, const std::vector<float>& values);

}  // namespace aot::codegen
