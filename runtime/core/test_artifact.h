// What the tests of this folder share: the affine artifact for the host's architecture, and its file in the test's
// directory.
#pragma once

#include <fstream>
#include <sstream>
#include <string>

#include "compiler/emit/testdata/affine_artifact.h"
#include "gtest/gtest.h"
#include "runtime/include/aot/aot.h"

namespace aot {

#if defined(__aarch64__)
inline constexpr char kHostTarget[] = "cortex-a53", kHostArch[] = "aarch64", kOtherTarget[] = "x86-64-v2",
                      kOtherArch[] = "x86_64";
#else
inline constexpr char kHostTarget[] = "x86-64-v2", kHostArch[] = "x86_64", kOtherTarget[] = "cortex-a53",
                      kOtherArch[] = "aarch64";
#endif

inline std::string ReadBytes(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

inline std::string WriteTemporary(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

inline emit::AffineArtifact Affine(const char* target = kHostTarget, const char* arch = kHostArch) {
  absl::StatusOr<emit::AffineArtifact> artifact =
      emit::MakeAffine(target, ReadBytes("compiler/emit/testdata/affine." + std::string(arch) + ".o"));
  EXPECT_TRUE(artifact.ok()) << artifact.status();
  return artifact.ok() ? *artifact : emit::AffineArtifact();
}

// Bytes at an address that aot_load_memory takes.
class AlignedBytes {
 public:
  explicit AlignedBytes(const std::string& bytes) : size_(bytes.size()) {
    data_ = static_cast<char*>(std::aligned_alloc(64, (bytes.size() + 64) / 64 * 64));
    bytes.copy(data_, bytes.size());
  }
  ~AlignedBytes() { std::free(data_); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  char* data() { return data_; }
  size_t size() const { return size_; }

 private:
  char* data_;
  size_t size_;
};

// A run of the affine model; values are checked by the caller.
struct AffineRun {
  float x[8] = {1, 1, 1, 1, 2, 2, 2, 2};
  float y[8] = {};
  int64_t count = 5;
  const void* inputs[2] = {x, &count};
  void* outputs[2] = {y, &count};
  aot_error error = {};
  aot_run_args args = {};

  AffineRun() {
    args.size = sizeof args;
    args.inputs = inputs;
    args.outputs = outputs;
    args.input_count = 2;
    args.output_count = 2;
    args.error = &error;
  }
  void ExpectRight() const {
    const float expected[8] = {1.5f, 2.25f, 3, 3, 2.5f, 4.25f, 6, 7};
    for (int i = 0; i < 8; ++i) EXPECT_EQ(y[i], expected[i]) << i;
    EXPECT_EQ(count, 6);
  }
};

}  // namespace aot
