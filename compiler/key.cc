// Digests and keys: what decides whether two requests mean the same artifact. No MLIR, so that a server can link it
// alone.
#include <sodium.h>

#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "compiler/build_digest.h"
#include "compiler/pipeline.h"
#include "compiler/target/target.h"

namespace aot::compiler {
namespace {

std::string Sha256(absl::string_view bytes) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), sizeof digest));
}

// Names come from users: what would end a line or a key is escaped.
std::string Quoted(absl::string_view name) { return absl::StrCat("\"", absl::CHexEscape(name), "\""); }

}  // namespace

// The text that is hashed for a model with external data is specified at Model.digest in proto/aot/v1/artifact.proto.
std::string ModelDigest(const Model& model) {
  std::string digest = Sha256(model.bytes);
  if (model.external.empty()) return digest;
  std::string text = absl::StrCat("aot-model-v1\nmodel ", digest, " ", model.bytes.size(), "\n");
  for (const auto& [name, bytes] : model.external)
    absl::StrAppend(&text, "external ", Sha256(bytes), " ", bytes.size(), " ", name.size(), " ", name, "\n");
  return Sha256(text);
}

absl::Status CheckOptions(const Options& options) {
  if (options.opt_level < 0 || options.opt_level > 3)
    return absl::InvalidArgumentError(absl::StrCat("opt_level is ", options.opt_level, "; 0 to 3 are allowed"));
  if (options.threads < 0 || options.threads > 1024)
    return absl::InvalidArgumentError(
        absl::StrCat("threads is ", options.threads, "; 0 (one for each core) to 1024 are allowed"));
  if (options.buckets.size() > kMaxBuckets)
    return absl::InvalidArgumentError(
        absl::StrCat(options.buckets.size(), " buckets; at most ", kMaxBuckets, " are allowed"));
  std::set<std::map<std::string, int64_t>> known;
  for (const auto& bucket : options.buckets) {
    std::string name = absl::StrCat("bucket ", BucketName(bucket));
    if (bucket.empty()) return absl::InvalidArgumentError("a bucket binds no dimension; write batch=8");
    if (!known.insert(bucket).second) return absl::InvalidArgumentError(absl::StrCat(name, " is given twice"));
    for (const auto& [dim, size] : bucket) {
      if (size < 1)
        return absl::InvalidArgumentError(absl::StrCat(name, ": dimension '", dim, "' is ", size, ", not at least 1"));
      if (options.dims.count(dim) != 0)
        return absl::InvalidArgumentError(absl::StrCat(name, ": dimension '", dim, "' is bound for all buckets too"));
      if (options.buckets.front().count(dim) == 0)
        return absl::InvalidArgumentError(absl::StrCat(name, " binds dimension '", dim, "', bucket ",
                                                       BucketName(options.buckets.front()),
                                                       " doesn't; all buckets bind the same dimensions"));
    }
    if (bucket.size() != options.buckets.front().size())
      return absl::InvalidArgumentError(absl::StrCat(name, " binds fewer dimensions than bucket ",
                                                     BucketName(options.buckets.front()),
                                                     "; all buckets bind the same dimensions"));
  }
  std::map<absl::string_view, absl::string_view> taken;  // output -> input
  for (const auto& [input, output] : options.states) {
    auto [other, fresh] = taken.try_emplace(output, input);
    if (!fresh)
      return absl::InvalidArgumentError(absl::StrCat("output '", output, "' is the state of inputs '", other->second,
                                                     "' and '", input, "'; each output can be the state of one"));
  }
  return absl::OkStatus();
}

std::string BucketName(const std::map<std::string, int64_t>& bucket) {
  return absl::StrJoin(bucket, ",", absl::PairFormatter("="));
}

std::string CanonicalOptions(const Options& options) {
  // Sorted by construction; maps are sorted by name.
  std::string text;
  for (const auto& [name, value] : options.bind_inputs) {
    const absl::Span<const uint8_t> bytes = value.bytes();
    absl::StrAppend(&text, "bind_input.", Quoted(name), "=", reference::Name(value.element()), ":",
                    absl::StrJoin(value.shape(), "x"), ":",
                    Sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()}), "\n");
  }
  for (size_t b = 0; b < options.buckets.size(); ++b)
    for (const auto& [name, size] : options.buckets[b])
      absl::StrAppend(&text, absl::StrFormat("bucket.%02d.", b), Quoted(name), "=", size, "\n");
  for (const auto& [name, size] : options.dims) absl::StrAppend(&text, "dim.", Quoted(name), "=", size, "\n");
  for (const auto& [name, count] : options.input_elements)
    absl::StrAppend(&text, "input_elements.", Quoted(name), "=", count, "\n");
  for (const auto& [name, shape] : options.input_shapes)
    absl::StrAppend(&text, "input_shape.", Quoted(name), "=", absl::StrJoin(shape, "x"), "\n");
  absl::StrAppend(&text, "math=", options.strict_math ? "strict" : "default", "\n");
  if (!options.model_name.empty()) absl::StrAppend(&text, "model_name=", Quoted(options.model_name), "\n");
  absl::StrAppend(&text, "opt=", options.opt_level, "\n");
  absl::StrAppend(&text, "optimize_for=", Name(options.optimize_for), "\n");
  for (const auto& [input, output] : options.states)
    absl::StrAppend(&text, "state.", Quoted(input), "=", Quoted(output), "\n");
  return text;
}

absl::StatusOr<std::string> ArtifactKey(absl::string_view model_digest, const Options& options) {
  auto target = target::Find(options.target);
  if (!target.ok()) return target.status();
  return Sha256(absl::StrCat("aot-artifact-v1\nmodel ", model_digest, "\ntarget ", target::Digest(**target),
                             "\ncompiler ", AOT_BUILD_DIGEST, "\n", CanonicalOptions(options)));
}

std::string CompilerVersion() { return absl::StrCat("aot 0.1.0+", absl::string_view(AOT_BUILD_DIGEST).substr(0, 12)); }

absl::string_view Name(OptimizeFor optimize_for) {
  switch (optimize_for) {
    case OptimizeFor::kLatency:
      return "latency";
    case OptimizeFor::kBalanced:
      return "balanced";
    case OptimizeFor::kSize:
      return "size";
  }
  return "unknown";
}

std::optional<OptimizeFor> ParseOptimizeFor(absl::string_view name) {
  for (OptimizeFor value : {OptimizeFor::kLatency, OptimizeFor::kBalanced, OptimizeFor::kSize})
    if (Name(value) == name) return value;
  return std::nullopt;
}

absl::string_view Name(Stage stage) {
  switch (stage) {
    case Stage::kImport:
      return "import";
    case Stage::kOptimize:
      return "optimize";
    case Stage::kSchedule:
      return "schedule";
    case Stage::kGenerate:
      return "generate";
    case Stage::kEmit:
      return "emit";
  }
  return "unknown";
}

}  // namespace aot::compiler
