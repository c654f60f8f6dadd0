// What a serialised model holds, counted before it is parsed.
//
// A message takes at least two bytes on the wire and some hundred in memory, so that parsing first and counting then
// would let a small upload take all memory. The scan reads the wire format alone, takes no memory, and is linear.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "compiler/import/onnx/proto_reader.h"

namespace aot::import::onnx {

// Limits beside those of proto_reader.h.
//
// Initialisers, and tensors in attributes.
constexpr int64_t kMostTensors = 2'000'000;
// Messages of any kind: the dimensions of shapes are the most numerous of the others.
constexpr int64_t kMostMessages = 32'000'000;
// Names and other short texts, the operands of nodes for example.
constexpr int64_t kMostTexts = 64'000'000;
// Integers that the format stores with variable length (int64_data, dims, ints): one byte becomes eight.
constexpr int64_t kMostIntegers = 64'000'000;
// Bytes of one name: of a value, node, operator, domain, attribute or dimension.
constexpr int64_t kLongestName = 65'536;
// Messages within messages, which other nested things (types of sequences of types ...) may use up as well.
constexpr int kDeepestMessage = 3 * kDeepestGraph + 16;

struct WireCounts {
  int64_t nodes = 0, tensors = 0, messages = 0, texts = 0, integers = 0;
};

// INVALID_ARGUMENT if the bytes are no serialised model, or hold more than the limits above; the message says of what,
// how much there is and what is allowed. Fills `counts` (if not null) with what was seen until then.
absl::Status ScanModel(absl::string_view bytes, WireCounts* counts = nullptr);

}  // namespace aot::import::onnx
