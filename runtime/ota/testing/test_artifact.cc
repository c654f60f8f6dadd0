#include "runtime/ota/testing/test_artifact.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>

#include "compiler/emit/artifact.h"
#include "compiler/emit/link.h"
#include "compiler/target/target.h"
#include "runtime/format/manifest.h"

namespace aot::ota {
namespace {

#if defined(__aarch64__)
constexpr char kTarget[] = "cortex-a53";
#else
constexpr char kTarget[] = "x86-64-v2";
#endif

template <typename T>
T OrDie(absl::StatusOr<T> value) {
  if (value.ok()) return *std::move(value);
  std::cerr << value.status() << std::endl;
  abort();
}

template <typename T>
std::string BytesOf(const std::vector<T>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::string ReadObject(const target::Description& target) {
  const std::string architecture = target.triple.substr(0, target.triple.find('-'));
  std::ifstream file("compiler/emit/testdata/affine." + architecture + ".o", std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

const target::Description& TargetOf(const compiler::Artifact& artifact) {
  aot_manifest manifest;
  const bool opened = aot_manifest_open(artifact.manifest.data(), artifact.manifest.size(), &manifest, nullptr);
  return *OrDie(target::Find(opened ? manifest.info.target_name.data : kTarget));
}

nlohmann::json PartJson(const std::string& bytes) {
  return {{"sha256", Sha256HexForTest(bytes)}, {"length", bytes.size()}};
}

}  // namespace

std::string TestTargetName() { return kTarget; }

compiler::Artifact MakeTestArtifact(const TestArtifactOptions& options) {
  const target::Description& target = *OrDie(target::Find(options.target.empty() ? kTarget : options.target));
  const std::string code = OrDie(emit::LinkCode({ReadObject(target)}, target, 32));
  emit::ManifestData data;
  data.SetTarget(target);
  data.key = "000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f";  // affine.c's
  data.model_digest = std::string(64, 'a');
  data.model_name = "affine";
  data.compiler_version = "test";
  data.options = options.label;
  data.arena_size = 64;
  data.scratch_size = 64;
  data.inputs = {{"x", AOT_FLOAT32, {2, 4}, {}}, {"count", AOT_INT64, {}, {}}};
  data.outputs = {{"y", AOT_FLOAT32, {2, 4}, {}}, {"next_count", AOT_INT64, {}, {}}};
  data.states = {{1, 1}};
  emit::SelfTest test;
  emit::SelfTestInput ones;
  ones.kind = AOT_SELF_TEST_DATA;
  ones.data = BytesOf(std::vector<float>(8, 1.0f));
  emit::SelfTestInput five;
  five.kind = AOT_SELF_TEST_DATA;
  five.data = BytesOf(std::vector<int64_t>{5});
  test.inputs = {ones, five};
  emit::SelfTestOutput y;
  y.tolerance = AOT_TOLERANCE_FLOAT;
  y.relative = 1e-5;
  y.samples = {{7, 2.0 + options.bias + (options.passes_self_test ? 0 : 1), 0}};
  emit::SelfTestOutput count;
  count.samples = {{0, 0, 6}};
  test.outputs = {y, count};
  data.self_test = test;
  std::vector<float> weights(4, 2.0f);
  weights.resize(8, options.bias);
  return OrDie(emit::BuildArtifact(data, code, BytesOf(weights)));
}

nlohmann::json CustomOf(const compiler::Artifact& artifact, const std::string& channel, const std::string& model,
                        int64_t release) {
  const target::Description& target = TargetOf(artifact);
  return {{"aot",
           {{"model", model},
            {"channel", channel},
            {"target", target.name},
            {"triple", target.triple},
            {"cpu_features", target.required_features},
            {"vector_bits", target.vector_bits},
            {"abi", 1},
            {"format", 1},
            {"arena_size", 64},
            {"release", release},
            {"code", PartJson(artifact.code)},
            {"weights", PartJson(artifact.weights)},
            {"a_later_field", "ignored"}}}};
}

void AddRelease(HttpServer* server, TufRepository* repository, const compiler::Artifact& artifact,
                const std::string& channel, const std::string& model, int64_t release) {
  for (const std::string* part : {&artifact.code, &artifact.weights})
    server->Put("/blobs/sha256/" + Sha256HexForTest(*part), *part);
  repository->AddTarget(channel + "/" + model + "/" + TargetOf(artifact).name + ".manifest", artifact.manifest,
                        CustomOf(artifact, channel, model, release));
}

float RunTestModel(aot_model* model) {
  const std::vector<float> x(8, 1.0f);
  std::vector<float> y(8);
  int64_t count = 0;
  const void* inputs[] = {x.data(), &count};
  void* outputs[] = {y.data(), &count};
  aot_run_args args = {};
  args.size = sizeof(args);
  args.inputs = inputs;
  args.outputs = outputs;
  args.input_count = 2;
  args.output_count = 2;
  return aot_run(model, &args) == AOT_OK ? y[7] : -1;
}

}  // namespace aot::ota
