#include "clients/model/model_digest.h"

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/format/sha256.h"

namespace aot::clients {

Digest DigestOf(absl::string_view bytes) {
  uint8_t hash[AOT_SHA256_SIZE];
  aot_sha256(bytes.data(), bytes.size(), hash);
  absl::string_view raw(reinterpret_cast<const char*>(hash), sizeof(hash));
  return {absl::BytesToHexString(raw), static_cast<int64_t>(bytes.size())};
}

ModelDigests DigestsOf(const compiler::Model& model) {
  ModelDigests digests;
  digests.model = digests.file = DigestOf(model.bytes);
  if (model.external.empty()) return digests;
  std::string text = absl::StrCat("aot-model-v1\nmodel ", digests.file.hash, " ", digests.file.size, "\n");
  int64_t total = digests.file.size;
  for (const auto& [location, bytes] : model.external) {  // std::map: byte order, as the definition wants
    Digest digest = DigestOf(bytes);
    absl::StrAppend(&text, "external ", digest.hash, " ", digest.size, " ", location.size(), " ", location, "\n");
    total += digest.size;
    digests.external.emplace(location, std::move(digest));
  }
  digests.model = {DigestOf(text).hash, total};
  return digests;
}

}  // namespace aot::clients
