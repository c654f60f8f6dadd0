// The model digest from the digests of its files, as Model.digest in proto/aot/v1/artifact.proto defines it, and the
// checks of what clients announce. The bytes are not needed: each file's own digest is verified as it arrives.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "proto/aot/v1/compile.pb.h"
#include "registry/digest.h"
#include "registry/records.h"

namespace aot::server {

// INVALID_ARGUMENT: the hash isn't 64 lower-case hexadecimal digits or the size is negative; `what` names the field.
absl::StatusOr<registry::BlobRef> ParseDigest(absl::string_view what, const aot::v1::Digest& digest);
aot::v1::Digest ToProto(const registry::BlobRef& ref);

// `external` in any order. The size is the sum of all sizes.
registry::BlobRef ModelDigestOf(const registry::BlobRef& file, std::vector<registry::ExternalBlob> external);

struct AnnouncedLimits {
  int64_t max_model_bytes;
  int max_external_blobs;
};
// What an upload's header announces, checked. INVALID_ARGUMENT: a digest, a name or a location is malformed or used
// twice, or the model digest isn't that of its files. RESOURCE_EXHAUSTED: too large, or too many files.
absl::StatusOr<registry::ModelRecord> ParseHeader(const aot::v1::UploadHeader& header, const AnnouncedLimits& limits);

}  // namespace aot::server
