// Sorting inside a kernel.
#pragma once

#include "compiler/codegen/emitter.h"

namespace aot::codegen {

// Sorts the first `count` (an index value, at most `most`) elements of `order`, i64 element numbers, so that
// before(a, b), an i1, tells which come first; equal ones keep their order. `room` is another `most` elements of
// scratch. O(n log n) comparisons.
void SortIndices(Emitter& e, Value count, int64_t most, const Buffer& order, const Buffer& room,
                 llvm::function_ref<Value(Value, Value)> before);

}  // namespace aot::codegen
