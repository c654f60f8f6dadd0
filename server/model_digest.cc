#include "server/model_digest.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"

namespace aot::server {
namespace {

constexpr size_t kMaxNameBytes = 256;
constexpr size_t kMaxLocationBytes = 4096;

absl::StatusOr<registry::ExternalBlob> ParseExternal(const aot::v1::ExternalBlob& proto) {
  if (proto.location().empty() || proto.location().size() > kMaxLocationBytes) {
    return absl::InvalidArgumentError(absl::StrCat("an external blob's location has ", proto.location().size(),
                                                   " bytes; 1 to ", kMaxLocationBytes, " are allowed"));
  }
  absl::StatusOr<registry::BlobRef> blob = ParseDigest("external digest", proto.digest());
  if (!blob.ok()) return blob.status();
  return registry::ExternalBlob{proto.location(), *blob};
}

absl::Status TooLarge(int64_t limit) {
  return absl::ResourceExhaustedError(
      absl::StrCat("the model's files have more than ", limit, " bytes (--max-model-size of the server)"));
}

}  // namespace

absl::StatusOr<registry::BlobRef> ParseDigest(absl::string_view what, const aot::v1::Digest& digest) {
  absl::StatusOr<registry::Digest> hash = registry::Digest::FromHex(digest.hash());
  if (!hash.ok()) return absl::InvalidArgumentError(absl::StrCat(what, ": ", hash.status().message()));
  if (digest.size_bytes() < 0) {
    return absl::InvalidArgumentError(absl::StrCat(what, ": size_bytes is ", digest.size_bytes(), ", below zero"));
  }
  return registry::BlobRef{*hash, static_cast<uint64_t>(digest.size_bytes())};
}

aot::v1::Digest ToProto(const registry::BlobRef& ref) {
  aot::v1::Digest proto;
  proto.set_hash(ref.digest.Hex());
  proto.set_size_bytes(static_cast<int64_t>(ref.size));
  return proto;
}

registry::BlobRef ModelDigestOf(const registry::BlobRef& file, std::vector<registry::ExternalBlob> external) {
  if (external.empty()) return file;
  std::sort(external.begin(), external.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  std::string text = absl::StrCat("aot-model-v1\nmodel ", file.digest.Hex(), " ", file.size, "\n");
  uint64_t size = file.size;
  for (const registry::ExternalBlob& blob : external) {
    absl::StrAppend(&text, "external ", blob.blob.digest.Hex(), " ", blob.blob.size, " ", blob.name.size(), " ",
                    blob.name, "\n");
    size += blob.blob.size;
  }
  return {registry::Digest::Of(text), size};
}

absl::StatusOr<registry::ModelRecord> ParseHeader(const aot::v1::UploadHeader& header, const AnnouncedLimits& limits) {
  registry::ModelRecord record;
  if (header.name().size() > kMaxNameBytes) {
    return absl::InvalidArgumentError(
        absl::StrCat("header.name has ", header.name().size(), " bytes; at most ", kMaxNameBytes, " are allowed"));
  }
  record.name = header.name();
  absl::StatusOr<registry::BlobRef> model = ParseDigest("header.model", header.model());
  if (!model.ok()) return model.status();
  absl::StatusOr<registry::BlobRef> file = ParseDigest("header.file", header.file());
  if (!file.ok()) return file.status();
  if (header.external_size() > limits.max_external_blobs) {
    return absl::ResourceExhaustedError(absl::StrCat("the model has ", header.external_size(),
                                                     " external blobs; at most ", limits.max_external_blobs,
                                                     " are allowed"));
  }
  record.digest = model->digest;
  record.blob = *file;
  uint64_t left = static_cast<uint64_t>(limits.max_model_bytes);
  if (file->size > left) return TooLarge(limits.max_model_bytes);
  left -= file->size;
  for (const aot::v1::ExternalBlob& proto : header.external()) {
    absl::StatusOr<registry::ExternalBlob> blob = ParseExternal(proto);
    if (!blob.ok()) return blob.status();
    for (const registry::ExternalBlob& other : record.external) {
      if (other.name == blob->name) {
        return absl::InvalidArgumentError(absl::StrCat("two external blobs have the location '", blob->name, "'"));
      }
    }
    if (blob->blob.size > left) return TooLarge(limits.max_model_bytes);
    left -= blob->blob.size;
    record.external.push_back(*std::move(blob));
  }
  registry::BlobRef computed = ModelDigestOf(record.blob, record.external);
  if (computed != *model) {
    return absl::InvalidArgumentError(absl::StrCat("header.model announces ", model->digest.Hex(), " of ", model->size,
                                                   " bytes, but its files give ", computed.digest.Hex(), " of ",
                                                   computed.size, " bytes"));
  }
  return record;
}

}  // namespace aot::server
