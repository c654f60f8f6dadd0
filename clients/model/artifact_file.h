// Reading a `.so` artifact without loading it: for any target, on any machine.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/model/session.h"
#include "runtime/format/container.h"
#include "runtime/format/manifest.h"

namespace aot::clients {

// Both point into the bytes that were opened.
struct ArtifactFile {
  aot_container container;
  aot_manifest manifest;
};

// `where` names the file in messages. INVALID_ARGUMENT: not an artifact, of another version, truncated or malformed;
// DATA_LOSS: the manifest doesn't have the digest that it states. Both with the offset.
absl::StatusOr<ArtifactFile> OpenArtifact(absl::string_view bytes, absl::string_view where);

std::vector<Port> Inputs(const aot_manifest& manifest);
std::vector<Port> Outputs(const aot_manifest& manifest);

}  // namespace aot::clients
