// The parts of an artifact held against each other: the manifest for a code object and its weights, and one file made
// of the three.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/emit/manifest_data.h"

namespace aot::emit {

// Checks that code (of LinkCode), weights and data belong together: key, arena size and weights size of the code's
// descriptor, the place of the weights; then writes the manifest with the digests of both. INTERNAL says what doesn't
// match; others as WriteManifest.
absl::StatusOr<std::string> BuildManifest(const ManifestData& data, absl::string_view code, absl::string_view weights);

// code | weights | manifest in one file that dlopen takes as it is. INVALID_ARGUMENT if the manifest is none, or the
// sizes or digests that it states are not those of the parts.
absl::StatusOr<std::string> SharedObject(absl::string_view manifest, absl::string_view code, absl::string_view weights);

}  // namespace aot::emit
