#include "server/services/part_reader.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/format/container.h"
#include "runtime/format/manifest.h"

namespace aot::server {
namespace {

constexpr size_t kHashBytes = 1 << 20;
constexpr size_t kMaxDigests = 4096;  // then the table starts over: it only saves time

std::string PartsOf(const registry::ArtifactRecord& artifact) {
  return absl::StrCat(artifact.manifest.digest.Raw(), artifact.code.digest.Raw(), artifact.weights.digest.Raw());
}

absl::StatusOr<std::unique_ptr<registry::BlobReader>> OpenStored(registry::Registry& registry,
                                                                 const registry::ArtifactRecord& artifact,
                                                                 const registry::BlobRef& ref) {
  absl::StatusOr<std::unique_ptr<registry::BlobReader>> blob = registry.OpenBlob(ref, registry::Verify::kRecently);
  if (absl::IsNotFound(blob.status())) {
    return absl::DataLossError(absl::StrCat("the stored bytes of artifact ", artifact.key.Hex(),
                                            " were damaged and are set aside; compile it again"));
  }
  return blob;
}

class StoredPart final : public PartReader {
 public:
  explicit StoredPart(std::unique_ptr<registry::BlobReader> blob) : blob_(std::move(blob)) {}
  const registry::BlobRef& ref() const override { return blob_->ref(); }
  absl::Status ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    return blob_->ReadAt(offset, buffer, size);
  }

 private:
  std::unique_ptr<registry::BlobReader> blob_;
};

// code | zeros | weights | zeros | manifest | trailer
class SharedObjectPart final : public PartReader {
 public:
  SharedObjectPart(const aot_container& layout, std::unique_ptr<registry::BlobReader> code,
                   std::unique_ptr<registry::BlobReader> weights, std::unique_ptr<registry::BlobReader> manifest)
      : code_(std::move(code)), weights_(std::move(weights)), manifest_(std::move(manifest)) {
    aot_container_write_trailer(&layout, reinterpret_cast<uint8_t*>(trailer_.data()));
    extents_ = {{0, layout.code_size, code_.get()},
                {layout.weights_offset, layout.weights_size, weights_.get()},
                {layout.manifest_offset, layout.manifest_size, manifest_.get()},
                {layout.total_size - trailer_.size(), trailer_.size(), nullptr}};
    ref_.size = layout.total_size;
  }

  void set_digest(const registry::Digest& digest) { ref_.digest = digest; }

  absl::Status ComputeDigest(const std::function<bool()>& cancelled) {
    registry::DigestBuilder builder;
    std::vector<char> buffer(kHashBytes);
    for (uint64_t offset = 0; offset < ref_.size;) {
      if (cancelled()) return absl::CancelledError("the client gave up");
      size_t size = std::min<uint64_t>(buffer.size(), ref_.size - offset);
      if (absl::Status status = ReadAt(offset, buffer.data(), size); !status.ok()) return status;
      builder.Append({buffer.data(), size});
      offset += size;
    }
    ref_.digest = builder.Finish();
    return absl::OkStatus();
  }

  const registry::BlobRef& ref() const override { return ref_; }

  absl::Status ReadAt(uint64_t offset, char* buffer, size_t size) const override {
    std::fill(buffer, buffer + size, '\0');  // the padding between the extents
    uint64_t end = offset + size;
    for (const Extent& extent : extents_) {
      uint64_t from = std::max(offset, extent.offset), to = std::min(end, extent.offset + extent.size);
      if (from >= to) continue;
      char* out = buffer + (from - offset);
      size_t count = static_cast<size_t>(to - from);
      if (extent.blob == nullptr) {
        std::copy_n(trailer_.data() + (from - extent.offset), count, out);
      } else if (absl::Status status = extent.blob->ReadAt(from - extent.offset, out, count); !status.ok()) {
        return status;
      }
    }
    return absl::OkStatus();
  }

 private:
  struct Extent {
    uint64_t offset, size;
    const registry::BlobReader* blob;  // null: the trailer
  };
  std::unique_ptr<registry::BlobReader> code_, weights_, manifest_;
  std::array<char, AOT_TRAILER_SIZE> trailer_;
  std::vector<Extent> extents_;
  registry::BlobRef ref_;
};

absl::StatusOr<std::unique_ptr<PartReader>> OpenSharedObject(registry::Registry& registry, SharedObjectDigests& digests,
                                                             const registry::ArtifactRecord& artifact,
                                                             const std::function<bool()>& cancelled) {
  absl::StatusOr<std::string> bytes = ReadManifest(registry, artifact);
  if (!bytes.ok()) return bytes.status();
  aot_manifest manifest;
  aot_fault fault;
  if (!aot_manifest_open(bytes->data(), bytes->size(), &manifest, &fault)) {
    char text[256];
    aot_fault_text(&fault, text, sizeof(text));
    return absl::InternalError(absl::StrCat("artifact ", artifact.key.Hex(), ": ", text));
  }
  aot_container layout;
  if (!aot_container_plan(artifact.code.size, artifact.weights.size, artifact.manifest.size, manifest.info.page_size,
                          &layout)) {
    return absl::InternalError(absl::StrCat("artifact ", artifact.key.Hex(), " is too large for one file"));
  }
  std::array<std::unique_ptr<registry::BlobReader>, 3> blobs;
  const registry::BlobRef refs[] = {artifact.code, artifact.weights, artifact.manifest};
  for (size_t i = 0; i < blobs.size(); ++i) {
    absl::StatusOr<std::unique_ptr<registry::BlobReader>> blob = OpenStored(registry, artifact, refs[i]);
    if (!blob.ok()) return blob.status();
    blobs[i] = *std::move(blob);
  }
  auto part = std::make_unique<SharedObjectPart>(layout, std::move(blobs[0]), std::move(blobs[1]), std::move(blobs[2]));
  if (std::optional<registry::Digest> known = digests.Find(artifact); known.has_value()) {
    part->set_digest(*known);
    return part;
  }
  if (absl::Status status = part->ComputeDigest(cancelled); !status.ok()) return status;
  digests.Add(artifact, part->ref().digest);
  return part;
}

}  // namespace

std::optional<registry::Digest> SharedObjectDigests::Find(const registry::ArtifactRecord& artifact) const {
  absl::MutexLock lock(&mutex_);
  auto it = digests_.find(PartsOf(artifact));
  return it == digests_.end() ? std::nullopt : std::make_optional(it->second);
}

void SharedObjectDigests::Add(const registry::ArtifactRecord& artifact, const registry::Digest& digest) {
  absl::MutexLock lock(&mutex_);
  if (digests_.size() >= kMaxDigests) digests_.clear();
  digests_[PartsOf(artifact)] = digest;
}

absl::StatusOr<std::unique_ptr<PartReader>> OpenPart(registry::Registry& registry, SharedObjectDigests& digests,
                                                     const registry::ArtifactRecord& artifact,
                                                     aot::v1::ArtifactPart part,
                                                     const std::function<bool()>& cancelled) {
  registry::BlobRef ref;
  switch (part) {
    case aot::v1::ARTIFACT_PART_MANIFEST:
      ref = artifact.manifest;
      break;
    case aot::v1::ARTIFACT_PART_CODE:
      ref = artifact.code;
      break;
    case aot::v1::ARTIFACT_PART_WEIGHTS:
      ref = artifact.weights;
      break;
    case aot::v1::ARTIFACT_PART_SHARED_OBJECT:
      return OpenSharedObject(registry, digests, artifact, cancelled);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("part ", static_cast<int>(part), " isn't one of manifest, code, weights and shared object"));
  }
  absl::StatusOr<std::unique_ptr<registry::BlobReader>> blob = OpenStored(registry, artifact, ref);
  if (!blob.ok()) return blob.status();
  return std::make_unique<StoredPart>(*std::move(blob));
}

absl::StatusOr<std::string> ReadManifest(registry::Registry& registry, const registry::ArtifactRecord& artifact) {
  if (artifact.manifest.size > AOT_MANIFEST_MAX_SIZE) {
    return absl::InternalError(absl::StrCat("artifact ", artifact.key.Hex(), " has a manifest of ",
                                            artifact.manifest.size, " bytes; the format allows ",
                                            static_cast<int>(AOT_MANIFEST_MAX_SIZE)));
  }
  absl::StatusOr<std::unique_ptr<registry::BlobReader>> blob = OpenStored(registry, artifact, artifact.manifest);
  if (!blob.ok()) return blob.status();
  std::string bytes(artifact.manifest.size, '\0');
  if (absl::Status status = (*blob)->ReadAt(0, bytes.data(), bytes.size()); !status.ok()) return status;
  return bytes;
}

}  // namespace aot::server
