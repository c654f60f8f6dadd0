#include "compiler/emit/testdata/affine_artifact.h"

#include <cstring>

#include "absl/strings/str_format.h"
#include "compiler/emit/assemble.h"
#include "compiler/emit/link.h"
#include "runtime/format/self_test_input.h"

namespace aot::emit {
namespace {

constexpr float kWeights[8] = {1, 2, 3, 4, 0.5f, 0.25f, 0, -1};

SelfTest MakeSelfTest() {
  SelfTest test;
  test.seed = 7;
  test.inputs = {{AOT_SELF_TEST_GENERATED, 8, -256, 256, ""}, {AOT_SELF_TEST_GENERATED, 0, 0, 1000, ""}};
  float x[8];
  int64_t count;
  aot_self_test_fill(AOT_FLOAT32, test.seed, 0, 8, -256, 256, 8, x);
  aot_self_test_fill(AOT_INT64, test.seed, 1, 0, 0, 1000, 1, &count);
  SelfTestOutput y = {AOT_TOLERANCE_FLOAT, 1e-5, 1e-7, {}};
  for (uint64_t i = 0; i < 8; ++i) y.samples.push_back({i, x[i] * kWeights[i % 4] + kWeights[4 + i % 4], 0});
  test.outputs = {y, {AOT_TOLERANCE_EXACT, 0, 0, {{0, 0, count + 1}}}};
  return test;
}

}  // namespace

absl::Status AffineArtifact::Rebuild() {
  absl::StatusOr<std::string> bytes = BuildManifest(data, code, weights);
  if (bytes.ok()) manifest = *std::move(bytes);
  return bytes.status();
}

absl::StatusOr<std::string> AffineArtifact::File() const { return SharedObject(manifest, code, weights); }

absl::Status Bound(AffineArtifact& artifact) {
  artifact.data.outputs[0].dims = {8};
  artifact.data.bounds = {{0, 1}};
  return artifact.Rebuild();
}

absl::StatusOr<AffineArtifact> MakeAffine(absl::string_view target_name, absl::string_view object) {
  absl::StatusOr<const target::Description*> target = target::Find(target_name);
  if (!target.ok()) return target.status();
  AffineArtifact artifact;
  artifact.weights.assign(reinterpret_cast<const char*>(kWeights), sizeof kWeights);
  absl::StatusOr<std::string> code = LinkCode({std::string(object)}, **target, artifact.weights.size());
  if (!code.ok()) return code.status();
  artifact.code = *std::move(code);

  ManifestData& data = artifact.data;
  data.SetTarget(**target);
  for (int i = 0; i < 32; ++i) absl::StrAppendFormat(&data.key, "%02x", i);
  data.model_digest = std::string(64, 'a');
  data.model_name = "affine";
  data.compiler_version = "0.1.0";
  data.options = "opt=3\n";
  data.arena_size = 64;
  data.scratch_size = 32;
  data.inputs = {{"x", AOT_FLOAT32, {2, 4}, {}}, {"count", AOT_INT64, {1}, {}}};
  data.outputs = {{"y", AOT_FLOAT32, {2, 4}, {}}, {"count_out", AOT_INT64, {1}, {}}};
  data.states = {{1, 1}};
  data.plan = {{"product", 0, 32, 0, 1}};
  data.operators = {{"Add", 1}, {"Mul", 1}};
  data.self_test = MakeSelfTest();
  if (absl::Status status = artifact.Rebuild(); !status.ok()) return status;
  return artifact;
}

}  // namespace aot::emit
