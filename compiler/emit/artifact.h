// The end of the pipeline: the three parts with their digests, as compiler/pipeline.h hands them out.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/emit/assemble.h"
#include "compiler/emit/manifest_data.h"
#include "compiler/pipeline.h"

namespace aot::emit {

// BuildManifest, and the digests of all three parts. Errors as BuildManifest.
absl::StatusOr<compiler::Artifact> BuildArtifact(const ManifestData& data, std::string code, std::string weights);

// The `.so` form. Errors as for the parts (assemble.h).
absl::StatusOr<std::string> SharedObject(const compiler::Artifact& artifact);

}  // namespace aot::emit
