// What devices are told about an artifact before they fetch it, out of its manifest.
#pragma once

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "registry/records.h"

namespace aot::server {

// INTERNAL: the bytes are no manifest of this format, or not that of `artifact`.
absl::StatusOr<registry::ReleaseArtifact> DescribeForRelease(const registry::ArtifactRecord& artifact,
                                                             absl::string_view manifest);

}  // namespace aot::server
