// The three parts of an artifact put together, and the `.so` form made of them.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/emit/manifest_data.h"
#include "compiler/pipeline.h"

namespace aot::emit {

// Checks that code (of LinkCode), weights and data belong together: key, arena size and weights size of the code's
// descriptor, architecture, and writes the manifest with the digests of both. INTERNAL says which don't match; others
// as WriteManifest.
absl::StatusOr<compiler::Artifact> BuildArtifact(const ManifestData& data, std::string code, std::string weights);

// code | weights | manifest in one file that dlopen takes as it is. INVALID_ARGUMENT if the manifest is none, or the
// sizes or digests that it states are not those of the parts.
absl::StatusOr<std::string> SharedObject(absl::string_view manifest, absl::string_view code, absl::string_view weights);
absl::StatusOr<std::string> SharedObject(const compiler::Artifact& artifact);

}  // namespace aot::emit
