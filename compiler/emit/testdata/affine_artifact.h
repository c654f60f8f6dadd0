// The artifact of affine.c, for tests of everything that handles artifacts: through the real linker and writer, with a
// hand-written manifest.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/emit/manifest_data.h"

namespace aot::emit {

struct AffineArtifact {
  ManifestData data;
  std::string manifest, code, weights;

  // Writes the manifest again after a change of `data`.
  absl::Status Rebuild();
  // The `.so` form.
  absl::StatusOr<std::string> File() const;
};

// y = x * {1, 2, 3, 4} + {0.5, 0.25, 0, -1} over float32[2x4]; the state "count" (int64[1]) goes up by one. `object` is
// affine.<architecture>.o.
absl::StatusOr<AffineArtifact> MakeAffine(absl::string_view target, absl::string_view object);

// Says that y, now float32[8], has as many elements as the state counts: at most 8. (Its code doesn't care.)
absl::Status Bound(AffineArtifact& artifact);

}  // namespace aot::emit
