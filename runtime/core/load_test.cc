#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>
#include <random>

#include "runtime/core/code_map.h"
#include "runtime/core/compatibility.h"
#include "runtime/core/test_artifact.h"
#include "runtime/format/code_object.h"
#include "runtime/format/container.h"
#include "runtime/format/sha256.h"
#include "runtime/include/aot/aot.hpp"

namespace aot {
namespace {

aot_load_options Options(uint32_t flags, const uint8_t* digest = nullptr) {
  aot_load_options options = {};
  options.size = sizeof options;
  options.flags = flags;
  options.manifest_sha256 = digest;
  return options;
}

bool Contains(const char* text, const std::string& part) { return std::string(text).find(part) != std::string::npos; }

TEST(Load, FromAFile) {
  const std::string path = WriteTemporary("model.so", *Affine().File());
  for (uint32_t flags :
       {0u, uint32_t{AOT_LOAD_VERIFY}, uint32_t{AOT_LOAD_PREFAULT}, uint32_t{AOT_LOAD_VERIFY | AOT_LOAD_PREFAULT}}) {
    const aot_load_options options = Options(flags);
    Model model;
    aot_error error;
    ASSERT_EQ(model.LoadFile(path.c_str(), &error, &options), AOT_OK) << error.message;
    AffineRun run;
    ASSERT_EQ(aot_run(model.get(), &run.args), AOT_OK) << run.error.message;
    run.ExpectRight();
  }
}

TEST(Load, FromMemory) {
  AlignedBytes file(*Affine().File());
  aot_model* model;
  aot_error error;
  ASSERT_EQ(aot_load_memory(file.data(), file.size(), nullptr, &model, &error), AOT_OK) << error.message;
  AffineRun run;
  ASSERT_EQ(aot_run(model, &run.args), AOT_OK);
  run.ExpectRight();
  aot_unload(model);
}

TEST(Load, FromMemoryAtAnOddAddress) {
  AlignedBytes file(" " + *Affine().File());
  aot_model* model;
  aot_error error;
  EXPECT_EQ(aot_load_memory(file.data() + 1, file.size() - 1, nullptr, &model, &error), AOT_INVALID_ARGUMENT);
  EXPECT_TRUE(Contains(error.message, "aligned to 64")) << error.message;
  EXPECT_EQ(model, nullptr);
}

TEST(Load, FromParts) {
  const emit::AffineArtifact artifact = Affine();
  const std::string manifest = WriteTemporary("manifest", artifact.manifest),
                    code = WriteTemporary("code", artifact.code), weights = WriteTemporary("weights", artifact.weights);
  AlignedBytes memory(artifact.weights);
  aot_parts parts = {};
  parts.size = sizeof parts;
  parts.manifest.path = manifest.c_str();
  parts.code.path = code.c_str();
  parts.weights.path = weights.c_str();
  const aot_load_options options = Options(AOT_LOAD_VERIFY);
  for (int in_memory = 0; in_memory < 2; ++in_memory) {
    aot_model* model;
    aot_error error;
    ASSERT_EQ(aot_load_parts(&parts, &options, &model, &error), AOT_OK) << error.message;
    AffineRun run;
    ASSERT_EQ(aot_run(model, &run.args), AOT_OK);
    run.ExpectRight();
    aot_unload(model);
    parts.manifest = {nullptr, artifact.manifest.data(), artifact.manifest.size()};
    parts.code = {nullptr, artifact.code.data(), artifact.code.size()};
    parts.weights = {nullptr, memory.data(), memory.size()};
  }
}

TEST(Load, TheManifestMustBeTheOneThatWasVouchedFor) {
  const emit::AffineArtifact artifact = Affine();
  const std::string path = WriteTemporary("vouched.so", *artifact.File());
  uint8_t digest[32];
  aot_sha256(artifact.manifest.data(), artifact.manifest.size(), digest);
  aot_load_options options = Options(0, digest);
  aot_model* model;
  aot_error error;
  ASSERT_EQ(aot_load_file(path.c_str(), &options, &model, &error), AOT_OK) << error.message;
  aot_unload(model);
  digest[0] ^= 1;
  EXPECT_EQ(aot_load_file(path.c_str(), &options, &model, &error), AOT_DIGEST_MISMATCH);
  EXPECT_TRUE(Contains(error.message, path)) << error.message;
}

TEST(Load, FilesThatAreNone) {
  aot_model* model;
  aot_error error;
  EXPECT_EQ(aot_load_file("/no/such/file.so", nullptr, &model, &error), AOT_NOT_FOUND);
  EXPECT_TRUE(Contains(error.message, "/no/such/file.so: can't open")) << error.message;
  EXPECT_EQ(error.system_error, ENOENT);
  EXPECT_EQ(aot_load_file(::testing::TempDir().c_str(), nullptr, &model, &error), AOT_IO_ERROR);
  EXPECT_EQ(aot_load_file(WriteTemporary("empty.so", "").c_str(), nullptr, &model, &error), AOT_MALFORMED);
  EXPECT_EQ(aot_load_file(WriteTemporary("text.so", std::string(1000, 'x')).c_str(), nullptr, &model, &error),
            AOT_MALFORMED);
  const std::string fifo = ::testing::TempDir() + "/fifo";
  mkfifo(fifo.c_str(), 0600);
  EXPECT_EQ(aot_load_file(fifo.c_str(), nullptr, &model, &error), AOT_IO_ERROR);
  EXPECT_EQ(aot_load_file(nullptr, nullptr, &model, &error), AOT_INVALID_ARGUMENT);
  EXPECT_EQ(aot_load_file("x", nullptr, nullptr, &error), AOT_INVALID_ARGUMENT);
  const aot_load_options unknown = Options(1u << 20);
  EXPECT_EQ(aot_load_file("x", &unknown, &model, &error), AOT_UNSUPPORTED);
  EXPECT_EQ(aot_load_file("/no/such/file.so", nullptr, &model, nullptr), AOT_NOT_FOUND);
}

TEST(Load, MembersOfTheFutureMustBeZero) {
  struct {
    aot_load_options options;
    uint64_t member;
  } newer = {};
  newer.options.size = sizeof newer;
  aot_model* model;
  aot_error error;
  EXPECT_EQ(aot_load_file("/no/such/file.so", &newer.options, &model, &error), AOT_NOT_FOUND);
  newer.member = 1;
  EXPECT_EQ(aot_load_file("/no/such/file.so", &newer.options, &model, &error), AOT_UNSUPPORTED);
  EXPECT_TRUE(Contains(error.message, "load options use a member that this runtime doesn't know")) << error.message;
  aot_parts parts = {};
  parts.size = sizeof parts - 1;
  EXPECT_EQ(aot_load_parts(&parts, nullptr, &model, &error), AOT_INVALID_ARGUMENT);
}

TEST(Load, AnotherArchitecture) {
  const std::string path = WriteTemporary("other.so", *Affine(kOtherTarget, kOtherArch).File());
  aot_model* model;
  aot_error error;
  EXPECT_EQ(aot_load_file(path.c_str(), nullptr, &model, &error), AOT_WRONG_TARGET);
  EXPECT_TRUE(Contains(error.message, std::string(kOtherTarget))) << error.message;
  EXPECT_TRUE(Contains(error.message, std::string("this processor is ") + kHostArch)) << error.message;
}

TEST(Load, CodeOfAnotherArchitectureUnderThisTriple) {
  emit::AffineArtifact artifact = Affine(kOtherTarget, kOtherArch);
  artifact.data.SetTarget(**target::Find(kHostTarget));
  ASSERT_TRUE(artifact.Rebuild().ok());
  AlignedBytes file(*artifact.File());
  aot_model* model;
  aot_error error;
  EXPECT_EQ(aot_load_memory(file.data(), file.size(), nullptr, &model, &error), AOT_WRONG_TARGET) << error.message;
}

TEST(Load, AMissingCpuFeatureIsNamed) {
  emit::AffineArtifact artifact = Affine();
  artifact.data.cpu_features.push_back("telepathy");
  artifact.data.cpu_features.push_back("clairvoyance");
  ASSERT_TRUE(artifact.Rebuild().ok());
  AlignedBytes file(*artifact.File());
  aot_model* model;
  aot_error error;
  EXPECT_EQ(aot_load_memory(file.data(), file.size(), nullptr, &model, &error), AOT_MISSING_CPU_FEATURE);
  EXPECT_TRUE(Contains(error.message, "lacks telepathy, clairvoyance")) << error.message;
}

// Against processors that this machine is not.
TEST(Load, CompatibilityWithOtherProcessors) {
  const auto check = [](emit::AffineArtifact& artifact, aot_cpu cpu, aot_error* error) {
    EXPECT_TRUE(artifact.Rebuild().ok());
    aot_manifest manifest;
    EXPECT_TRUE(aot_manifest_open(artifact.manifest.data(), artifact.manifest.size(), &manifest, nullptr));
    return aot_check_compatibility(&manifest, &cpu, "model.so", error);
  };
  emit::AffineArtifact artifact = Affine("x86-64-v4", "x86_64");
  aot_error error;
  EXPECT_EQ(check(artifact, {AOT_ARCH_X86_64, UINT64_MAX, 512}, &error), AOT_OK);
  EXPECT_EQ(check(artifact, {AOT_ARCH_X86_64, UINT64_MAX & ~(AOT_X86_AVX512F | AOT_X86_FMA), 512}, &error),
            AOT_MISSING_CPU_FEATURE);
  EXPECT_STREQ(error.message, "model.so: compiled for x86-64-v4; this processor lacks fma, avx512f");
  EXPECT_EQ(check(artifact, {AOT_ARCH_X86_64, UINT64_MAX, 256}, &error), AOT_MISSING_CPU_FEATURE);
  EXPECT_TRUE(Contains(error.message, "vectors of 512 bits, this processor has 256")) << error.message;
  emit::AffineArtifact scalable = Affine("cortex-a75", "aarch64");
  scalable.data.cpu_features.push_back("sve");
  scalable.data.vector_bits = 256;
  EXPECT_EQ(check(scalable, {AOT_ARCH_AARCH64, UINT64_MAX, 256}, &error), AOT_OK);
  EXPECT_EQ(check(scalable, {AOT_ARCH_AARCH64, UINT64_MAX, 512}, &error), AOT_MISSING_CPU_FEATURE)
      << "silently wrong on a longer vector";
}

// A manifest whose bytes were changed and sealed again.
std::string Sealed(std::string manifest) {
  manifest.resize(manifest.size() - AOT_SHA256_SIZE);
  uint8_t digest[AOT_SHA256_SIZE];
  aot_sha256(manifest.data(), manifest.size(), digest);
  return manifest.append(reinterpret_cast<const char*>(digest), sizeof digest);
}

TEST(Load, VersionsAreToldBothWays) {
  emit::AffineArtifact artifact = Affine();
  aot_manifest manifest;
  ASSERT_TRUE(aot_manifest_open(artifact.manifest.data(), artifact.manifest.size(), &manifest, nullptr));
  const auto load = [&](const std::string& bytes, aot_error* error) {
    AlignedBytes weights(artifact.weights);
    aot_parts parts = {};
    parts.size = sizeof parts;
    parts.manifest = {nullptr, bytes.data(), bytes.size()};
    parts.code = {nullptr, artifact.code.data(), artifact.code.size()};
    parts.weights = {nullptr, weights.data(), weights.size()};
    aot_model* model;
    return aot_load_parts(&parts, nullptr, &model, error);
  };
  aot_error error;
  std::string format = artifact.manifest;
  format[AOT_HEADER_VERSION] = 9;
  EXPECT_EQ(load(format, &error), AOT_VERSION_MISMATCH);
  EXPECT_TRUE(Contains(error.message, "version 9, this reader knows version 1")) << error.message;
  EXPECT_EQ(error.offset, 4u);
  // The ABI version is where the INFO section, the first, has it.
  std::string abi = artifact.manifest;
  uint32_t info;
  std::memcpy(&info, abi.data() + AOT_HEADER_SIZE + AOT_SECTION_OFFSET, sizeof info);
  abi[info + AOT_INFO_CODE_ABI_VERSION] = 7;
  EXPECT_EQ(load(Sealed(abi), &error), AOT_VERSION_MISMATCH);
  EXPECT_TRUE(Contains(error.message, "code ABI version 7, this runtime has version 1")) << error.message;
}

TEST(Load, PartsOfTwoArtifactsDontMix) {
  emit::AffineArtifact artifact = Affine();
  std::string code = artifact.code;
  const uint64_t key_at = code.find(std::string("\x0a\x0b\x0c\x0d\x0e\x0f\x10\x11", 8));
  ASSERT_NE(key_at, std::string::npos);
  code[key_at] ^= 1;
  AlignedBytes weights(artifact.weights);
  aot_parts parts = {};
  parts.size = sizeof parts;
  parts.manifest = {nullptr, artifact.manifest.data(), artifact.manifest.size()};
  parts.code = {nullptr, code.data(), code.size()};
  parts.weights = {nullptr, weights.data(), weights.size()};
  aot_model* model;
  aot_error error;
  EXPECT_EQ(aot_load_parts(&parts, nullptr, &model, &error), AOT_MALFORMED);
  EXPECT_TRUE(Contains(error.message, "keys differ")) << error.message;
  parts.weights.bytes -= 1;
  EXPECT_EQ(aot_load_parts(&parts, nullptr, &model, &error), AOT_MALFORMED);
  EXPECT_TRUE(Contains(error.message, "the weights have 31 bytes, the manifest states 32")) << error.message;
  parts.manifest.data = nullptr;
  EXPECT_EQ(aot_load_parts(&parts, nullptr, &model, &error), AOT_INVALID_ARGUMENT);
}

TEST(Load, TruncationAnywhereIsRefused) {
  const std::string whole = *Affine().File();
  aot_model* model;
  AlignedBytes file(whole);
  for (size_t size = 0; size < whole.size(); size += size < 200 || size > whole.size() - 5000 ? 1 : 97) {
    ASSERT_EQ(aot_load_memory(file.data(), size, nullptr, &model, nullptr), AOT_MALFORMED) << size;
  }
}

TEST(Load, EveryFlippedByteIsRefusedByAVerifyingLoad) {
  const std::string whole = *Affine().File();
  const aot_load_options options = Options(AOT_LOAD_VERIFY | AOT_LOAD_NO_ARENA);
  AlignedBytes file(whole);
  std::mt19937 random(3);
  // All of the end with trailer and manifest, and samples of the rest.
  for (size_t i = 0; i<whole.size(); i += i + 3000> whole.size() ? 1 : 1 + random() % 100) {
    file.data()[i] ^= static_cast<char>(1u << (random() % 8));
    aot_model* model;
    aot_error error;
    const aot_status status = aot_load_memory(file.data(), file.size(), &options, &model, &error);
    ASSERT_TRUE(status == AOT_MALFORMED || status == AOT_DIGEST_MISMATCH || status == AOT_VERSION_MISMATCH)
        << i << ": " << status;
    file.data()[i] = whole[i];
  }
}

TEST(Load, DamagedCodeHeadersNeverCrash) {
  const std::string whole = Affine().code;
  std::mt19937 random(4);
  for (int round = 0; round < 20000; ++round) {
    std::string code = whole;
    for (int changes = 1 + static_cast<int>(random() % 3); changes > 0; --changes) {
      code[random() % 1024] = static_cast<char>(random() % 2 == 0 ? random() : 0xff);
    }
    aot_code_object object;
    aot_fault fault;
    if (!aot_code_object_open(code.data(), code.size(), &object, &fault)) continue;
    for (uint32_t i = 0; i < object.segment_count; ++i) {
      ASSERT_LE(object.segments[i].offset + object.segments[i].size, code.size());
      ASSERT_LE(object.segments[i].address + object.segments[i].size, object.span);
    }
  }
}

// As on a kernel whose pages are larger than the object was linked for: neighbours share a page, which can't be mapped
// from the file.
TEST(Load, SegmentsThatShareAPageAreCopied) {
  std::string bytes(3000, 'r');
  std::fill(bytes.begin() + 1000, bytes.end(), 'x');
  aot_code_object object = {};
  object.bytes = {reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()};
  object.segment_count = 2;
  object.segments[0] = {0, 1000, 0, false};
  object.segments[1] = {1000, 2000, 1024, true};
  object.span = 3024;
  aot_port_file file;
  ASSERT_EQ(aot_port_open(WriteTemporary("shared_page", bytes).c_str(), &file), 0);
  aot_code_map map;
  ASSERT_EQ(aot_code_map_segments(&object, &file, &map), 0);
  aot_port_close(&file);
  EXPECT_EQ(std::memcmp(map.base, bytes.data(), 1000), 0);
  EXPECT_EQ(std::memcmp(map.base + 1024, bytes.data() + 1000, 2000), 0);
  EXPECT_EQ(map.base[1010], 0);
  aot_code_unmap(&map);
}

TEST(Load, DlopenTakesTheFile) {
  const emit::AffineArtifact artifact = Affine();
  const std::string path = WriteTemporary("dlopen.so", *artifact.File());
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const auto* descriptor = static_cast<const aot_descriptor*>(dlsym(library, AOT_DESCRIPTOR_SYMBOL));
  ASSERT_NE(descriptor, nullptr);
  EXPECT_EQ(descriptor->magic, AOT_DESCRIPTOR_MAGIC);
  EXPECT_EQ(descriptor->weights_size, 32u);
  // The last segment holds the weights.
  link_map* map;
  ASSERT_EQ(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(map->l_addr);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(map->l_addr + header->e_phoff);
  const ElfW(Phdr)* last = nullptr;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_LOAD) last = &segments[i];
  }
  const void* weights = reinterpret_cast<const void*>(map->l_addr + last->p_vaddr);
  EXPECT_EQ(std::memcmp(weights, artifact.weights.data(), artifact.weights.size()), 0);
  aot_code_entry entry;
  const char* address = reinterpret_cast<const char*>(descriptor) + descriptor->entry_offset;
  std::memcpy(&entry, &address, sizeof entry);
  AffineRun run;
  alignas(64) char arena[64];
  const aot_code_args args = {sizeof args, run.inputs, run.outputs, arena, weights, nullptr, nullptr};
  EXPECT_EQ(entry(&args), 0);
  run.ExpectRight();
  dlclose(library);
}

TEST(Load, TwoModelsInOneProcess) {
  const std::string path = WriteTemporary("twice.so", *Affine().File());
  Model one, two;
  ASSERT_EQ(one.LoadFile(path.c_str(), nullptr), AOT_OK);
  ASSERT_EQ(two.LoadFile(path.c_str(), nullptr), AOT_OK);
  AffineRun first, second;
  EXPECT_EQ(aot_run(one.get(), &first.args), AOT_OK);
  one = Model();
  EXPECT_EQ(aot_run(two.get(), &second.args), AOT_OK);
  second.ExpectRight();
}

}  // namespace
}  // namespace aot
