// Target descriptions: what a compile may assume of a device. Data only; one file a family beside this header.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"

namespace aot::target {

enum class Form { kSharedObject };  // how the artifact is delivered

// The instruction that sums products of 8-bit integers into 32 bits.
enum class DotProduct {
  kNone,
  kPairs,           // two products of 16-bit integers a lane (pmaddwd): operands are widened first
  kUnsignedSigned,  // four products of unsigned and signed bytes a lane (vpdpbusd)
  kSigned,          // four products of signed bytes a lane (sdot)
};

struct Description {
  std::string name;      // "cortex-a75"; what users type
  std::string summary;   // one line for `aotctl targets`
  std::string triple;    // "aarch64-linux-gnu"
  std::string cpu;       // LLVM's name
  std::string features;  // LLVM's feature string, "+a,-b"
  // Names of CPU features that a device must have, as the loader checks them (runtime/format/cpu_features.h).
  std::vector<std::string> required_features;
  int vector_bits = 128;  // native SIMD width
  int vector_registers = 16;
  bool fused_multiply_add = false;
  DotProduct dot_product = DotProduct::kNone;
  int64_t l1_bytes = 32 << 10;
  int64_t l2_bytes = 512 << 10;
  int64_t max_page_size = 16384;  // of the linked object
  // Arguments for a user-mode emulator that can stand in for the device in tests, or empty.
  std::string emulator;

  int lanes(int element_bits) const { return vector_bits / element_bits; }
};

// All descriptions, sorted by name. Immutable, lives for ever.
absl::Span<const Description> All();
// NOT_FOUND lists the names that exist.
absl::StatusOr<const Description*> Find(absl::string_view name);
// SHA-256 (hex) over every field, part of the artifact key.
std::string Digest(const Description& description);

}  // namespace aot::target
