// Heads of attention, which several operators share. Tensors of them are [batch, heads, sequence, size].
#pragma once

#include "absl/status/statusor.h"
#include "compiler/import/onnx/node.h"

namespace aot::import::onnx {

// [batch, sequence, heads * size] in heads; tensors of four dimensions are that already.
absl::StatusOr<Value> SplitHeads(Node& n, const Value& x, int64_t heads);
// The reverse: [batch, sequence, heads * size].
Value MergeHeads(Builder& b, const Value& x);
// Key and value heads that several query heads share, once for each of those.
Value RepeatHeads(Builder& b, const Value& x, int64_t heads);

// What is added to the scores: 0, or minus infinity where the mask forbids.
Value MaskBias(Builder& b, const Value& allowed, reference::ElementType element);
// Rotates pairs of the first features of each head by angles whose cosines and sines are [..., rotated / 2] and
// broadcast to [batch, heads, sequence, rotated / 2]. Pairs are neighbours if `interleaved`, else half of the features
// apart.
Value RotatePairs(Builder& b, const Value& x, const Value& cosines, const Value& sines, bool interleaved);
// first, first + 1, ...
Value Positions(Builder& b, int64_t first, int64_t count);

}  // namespace aot::import::onnx
