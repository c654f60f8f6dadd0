#include "server/services/conversions.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "server/model_digest.h"
#include "server/status.h"

namespace aot::server {
namespace {

// Length of the well-formed UTF-8 sequence at the start of `text`, or 0.
size_t SequenceLength(absl::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  if (byte(0) < 0x80) return 1;
  size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  if (byte(0) < 0xc2 || byte(0) > 0xf4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and past U+10FFFF.
  if ((byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xed && byte(1) > 0x9f) ||
      (byte(0) == 0xf0 && byte(1) < 0x90) || (byte(0) == 0xf4 && byte(1) > 0x8f)) {
    return 0;
  }
  return length;
}

// A client takes messages of some MiB; nobody reads more.
constexpr size_t kMaxFailureBytes = 4 << 20;

std::string ValidUtf8(absl::string_view text) {
  std::string valid;
  while (!text.empty()) {
    size_t length = SequenceLength(text);
    absl::StrAppend(&valid, length == 0 ? "\xef\xbf\xbd" : text.substr(0, length));
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

}  // namespace

aot::v1::Model ToProto(const registry::ModelRecord& model) {
  aot::v1::Model proto;
  *proto.mutable_digest() = ToProto(ModelDigestOf(model.blob, model.external));
  *proto.mutable_file() = ToProto(model.blob);
  for (const registry::ExternalBlob& blob : model.external) {
    aot::v1::ExternalBlob& external = *proto.add_external();
    external.set_location(blob.name);
    *external.mutable_digest() = ToProto(blob.blob);
  }
  proto.set_external_count(static_cast<int32_t>(model.external.size()));
  proto.set_name(model.name);
  proto.set_created_unix_seconds(absl::ToUnixSeconds(model.created));
  proto.set_last_used_unix_seconds(absl::ToUnixSeconds(model.last_used));
  return proto;
}

aot::v1::Artifact ToProto(const registry::ArtifactRecord& artifact) {
  aot::v1::Artifact proto;
  proto.set_key(artifact.key.Hex());
  proto.set_model_hash(artifact.model.Hex());
  proto.set_target(artifact.target);
  proto.set_options(artifact.options);
  proto.set_compiler_version(artifact.compiler);
  *proto.mutable_manifest() = ToProto(artifact.manifest);
  *proto.mutable_code() = ToProto(artifact.code);
  *proto.mutable_weights() = ToProto(artifact.weights);
  proto.set_created_unix_seconds(absl::ToUnixSeconds(artifact.created));
  proto.set_last_used_unix_seconds(absl::ToUnixSeconds(artifact.last_used));
  proto.set_compile_seconds(absl::ToDoubleSeconds(artifact.compile_time));
  return proto;
}

aot::v1::Failure ToFailure(const absl::Status& status) {
  aot::v1::Failure failure;
  failure.set_code(static_cast<int>(status.code()));
  failure.set_message(ValidUtf8(CutAtLine(status.message(), kMaxFailureBytes)));
  return failure;
}

}  // namespace aot::server
