#include "clients/aotctl/download.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "clients/model/model_digest.h"

namespace aot::clients {
namespace {

constexpr int kAttempts = 3;
// Memory is taken as data arrives; an announced size only saves copies up to here.
constexpr int64_t kMaxReserve = int64_t{256} << 20;

}  // namespace

absl::StatusOr<std::string> Download(const Connection& connection, const std::string& key, v1::ArtifactPart part,
                                     Progress& progress, v1::Artifact* artifact) {
  std::string bytes;
  v1::Digest digest;
  absl::Status status;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    v1::GetArtifactRequest request;
    request.set_key(key);
    request.set_part(part);
    request.set_offset(static_cast<int64_t>(bytes.size()));
    grpc::ClientContext context;
    auto reader = connection.registry().GetArtifact(&context, request);
    v1::GetArtifactResponse response;
    bool first = true;
    bool too_long = false, changed = false;
    while (!too_long && reader->Read(&response)) {
      if (first) {
        changed = !bytes.empty() && digest.hash() != response.digest().hash();
        if (changed) break;
        digest = response.digest();
        if (artifact != nullptr) *artifact = response.artifact();
        if (bytes.empty()) bytes.reserve(static_cast<size_t>(std::clamp<int64_t>(digest.size_bytes(), 0, kMaxReserve)));
        first = false;
      }
      bytes.append(response.data());
      too_long = static_cast<int64_t>(bytes.size()) > digest.size_bytes();
      progress.Update("downloading", static_cast<int64_t>(bytes.size()), digest.size_bytes());
    }
    if (too_long || changed) context.TryCancel();
    status = connection.ToStatus(reader->Finish());
    progress.Clear();
    if (changed || (absl::IsOutOfRange(status) && !bytes.empty())) {
      // The part changed between two attempts, so what came before is of no use: once more from the start.
      bytes.clear();
      status = absl::UnavailableError(absl::StrCat("artifact ", key, " changed while it was being downloaded"));
      continue;
    }
    if (too_long) status = absl::OkStatus();  // judged below
    if (!absl::IsUnavailable(status)) break;
  }
  if (!status.ok()) return status;
  Digest actual = DigestOf(bytes);
  if (actual.hash != digest.hash() || actual.size != digest.size_bytes()) {
    return absl::DataLossError(absl::StrCat("artifact ", key, ": got ", actual.size, " bytes with SHA-256 ",
                                            actual.hash, ", announced were ", digest.size_bytes(), " with ",
                                            digest.hash()));
  }
  return bytes;
}

}  // namespace aot::clients
