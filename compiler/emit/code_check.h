// What a linked code object may be, checked after the linker and before anything vouches for the bytes.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "runtime/format/entry.h"

namespace aot::emit {

struct CodeFacts {
  uint64_t descriptor_address = 0;
  aot_descriptor descriptor = {};
  uint64_t weights_offset = 0, weights_size = 0;  // of the weights segment in the `.so` form; 0: none
};

// INTERNAL names what breaks the policy: a symbol that is exported beside the descriptor or imported, a relocation with
// the section and symbol it lies in, a writable segment.
absl::StatusOr<CodeFacts> CheckCode(absl::string_view code);

}  // namespace aot::emit
