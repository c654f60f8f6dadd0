// The registry's part of a cached compile request: LookupArtifact, alone and beside a writer.
#include <benchmark/benchmark.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include "registry/fs/temp_directory.h"
#include "registry/registry.h"

namespace aot::registry {
namespace {

constexpr int kArtifacts = 1000;

ArtifactKey Key(int i) { return ArtifactKey{Digest::Of("key " + std::to_string(i))}; }

// One registry with kArtifacts rows for all benchmarks.
Registry& Shared() {
  static fs::TempDirectory directory;
  static std::unique_ptr<Registry> registry = [] {
    auto opened = Registry::Open(directory.path()).value();
    ModelRecord model;
    model.blob = BlobRef::Of("model");
    model.digest = model.blob.digest;
    auto writer = opened->OpenUpload(model.blob).value();
    if (!writer->Append("model").ok() || !writer->Commit().ok() || !opened->StoreModel(model).ok()) abort();
    for (int i = 0; i < kArtifacts; ++i) {
      ArtifactRecord record;
      record.key = Key(i);
      record.model = model.digest;
      record.target = "x86-64-v3";
      record.options = std::string(200, 'o');
      std::string manifest = "manifest " + std::to_string(i);
      if (!opened->StoreArtifact(record, {manifest, absl::string_view("code"), absl::string_view("w")}).ok()) abort();
    }
    return opened;
  }();
  return *registry;
}

void BM_Lookup(benchmark::State& state) {
  Registry& registry = Shared();
  int i = 0;
  for (auto _ : state) {
    if (!registry.LookupArtifact(Key(i++ % kArtifacts)).ok()) state.SkipWithError("miss");
  }
}
BENCHMARK(BM_Lookup)->ThreadRange(1, 4);

void BM_LookupMiss(benchmark::State& state) {
  Registry& registry = Shared();
  for (auto _ : state) {
    if (registry.LookupArtifact(Key(kArtifacts)).ok()) state.SkipWithError("hit");
  }
}
BENCHMARK(BM_LookupMiss);

void BM_LookupBesideAWriter(benchmark::State& state) {
  Registry& registry = Shared();
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    ArtifactRecord record;
    record.model = Digest::Of("model");
    record.target = "x86-64-v3";
    for (int n = 0; !stop; ++n) {
      record.key.digest = Digest::Of("written " + std::to_string(n));
      benchmark::DoNotOptimize(registry.StoreArtifact(
          record, {absl::string_view("manifest"), absl::string_view("code"), absl::string_view("w")}));
    }
  });
  int i = 0;
  for (auto _ : state) {
    if (!registry.LookupArtifact(Key(i++ % kArtifacts)).ok()) state.SkipWithError("miss");
  }
  stop = true;
  writer.join();
}
BENCHMARK(BM_LookupBesideAWriter);

}  // namespace
}  // namespace aot::registry

BENCHMARK_MAIN();
