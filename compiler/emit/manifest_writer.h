// Writes the manifest of an artifact (docs/formats/artifact.md).
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/emit/manifest_data.h"

namespace aot::emit {

// What the manifest says about the other two parts. Digests are 32 raw bytes.
struct PartFacts {
  uint64_t code_size = 0, weights_size = 0;
  std::string code_digest, weights_digest;
  uint64_t descriptor_address = 0;
};

// Bytes that runtime/format/manifest.h reads back. Depends on the arguments alone.
//
// INVALID_ARGUMENT: a name with a NUL, a digest that is not 64 hexadecimal digits, a value beyond the limits of the
// format. RESOURCE_EXHAUSTED: the manifest or its self-test vector is too large.
absl::StatusOr<std::string> WriteManifest(const ManifestData& data, const PartFacts& parts);

}  // namespace aot::emit
