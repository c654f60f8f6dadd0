#include "registry/blobs/blob_store.h"

#include "absl/strings/str_cat.h"

namespace aot::registry {

absl::StatusOr<BlobRef> PutBytes(BlobStore& store, absl::string_view data) {
  BlobRef ref = BlobRef::Of(data);
  // Opening verifies; a damaged copy is set aside by it and then written again.
  if (store.Open(ref, Verify::kAlways).ok()) return ref;
  absl::StatusOr<std::unique_ptr<BlobWriter>> writer = store.CreateBlob();
  if (!writer.ok()) return writer.status();
  if (absl::Status s = (*writer)->Append(data); !s.ok()) return s;
  return (*writer)->Commit();
}

absl::StatusOr<std::string> ReadAll(BlobStore& store, const BlobRef& ref, uint64_t limit) {
  if (ref.size > limit) {
    return absl::ResourceExhaustedError(
        absl::StrCat("blob ", ref.digest.Hex(), " has ", ref.size, " bytes; the limit here is ", limit));
  }
  absl::StatusOr<std::unique_ptr<BlobReader>> reader = store.Open(ref, Verify::kAlways);
  if (!reader.ok()) return reader.status();
  std::string data(ref.size, '\0');
  if (absl::Status s = (*reader)->ReadAt(0, data.data(), data.size()); !s.ok()) return s;
  return data;
}

}  // namespace aot::registry
