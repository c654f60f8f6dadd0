// What a verifying load and a self-test promise when storage fails, when a file is changed under a model, and of
// memory. The calls that the test intercepts are wrapped by the linker (BUILD.bazel).
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/types.h>

#include "gtest/gtest.h"
#include "runtime/format/container.h"
#include "runtime/include/aot/aot.h"

namespace {

int64_t g_bad_block = -1;  // offset from which on reading fails
size_t g_allocated = 0;    // pages that the runtime asked for last, in bytes

}  // namespace

extern "C" {
ssize_t __real_pread(int descriptor, void* out, size_t bytes, off_t offset);
ssize_t __wrap_pread(int descriptor, void* out, size_t bytes, off_t offset) {
  if (g_bad_block >= 0 && offset + static_cast<off_t>(bytes) > g_bad_block) {
    errno = EIO;
    return -1;
  }
  return __real_pread(descriptor, out, bytes, offset);
}
int __real_aot_port_allocate_pages(size_t bytes, void** address);
int __wrap_aot_port_allocate_pages(size_t bytes, void** address) {
  g_allocated = bytes;
  return __real_aot_port_allocate_pages(bytes, address);
}
}

namespace aot {
namespace {

#if defined(__aarch64__)
constexpr char kGolden[] = "runtime/format/testdata/affine.cortex-a53.v1.so";
#else
constexpr char kGolden[] = "runtime/format/testdata/affine.x86-64-v2.v1.so";
#endif

class LoadFaultsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ifstream file(kGolden, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    bytes_ = bytes.str();
    path_ = ::testing::TempDir() + "/artifact.so";
    std::ofstream(path_, std::ios::binary) << bytes_;
  }
  void TearDown() override { g_bad_block = -1; }

  aot_status Load(uint32_t flags) {
    aot_load_options options = {};
    options.size = sizeof options;
    options.flags = flags;
    return aot_load_file(path_.c_str(), &options, &model_, &error_);
  }

  std::string bytes_, path_;
  aot_model* model_ = nullptr;
  aot_error error_ = {};
};

TEST_F(LoadFaultsTest, ABadBlockIsAnErrorAndNoSignal) {
  for (const size_t at : {size_t{0}, bytes_.size() / 2, bytes_.size() - 1}) {
    g_bad_block = static_cast<int64_t>(at);
    EXPECT_EQ(Load(AOT_LOAD_VERIFY), AOT_IO_ERROR) << at;
    EXPECT_EQ(error_.system_error, EIO);
    EXPECT_EQ(model_, nullptr);
  }
}

TEST_F(LoadFaultsTest, WhatRunsIsWhatWasVerified) {
  ASSERT_EQ(Load(AOT_LOAD_VERIFY), AOT_OK) << error_.message;
  aot_container container;
  ASSERT_TRUE(aot_container_open(bytes_.data(), bytes_.size(), &container, nullptr));
  // Code and manifest are overwritten in the very file that the model came from; the weights stay.
  {
    std::fstream file(path_, std::ios::binary | std::ios::in | std::ios::out);
    file.write(std::string(container.code_size, '\xff').data(), static_cast<std::streamsize>(container.code_size));
    file.seekp(static_cast<std::streamoff>(container.manifest_offset));
    file.write(std::string(container.manifest_size, '\xff').data(),
               static_cast<std::streamsize>(container.manifest_size));
    ASSERT_TRUE(file.good());
  }
  EXPECT_EQ(aot_self_test(model_, &error_), AOT_OK) << error_.message;
  aot_model_info info = {};
  info.size = sizeof info;
  ASSERT_EQ(aot_get_model_info(model_, &info), AOT_OK);
  EXPECT_STREQ(info.model_name, "affine");
  aot_unload(model_);
}

TEST_F(LoadFaultsTest, ASelfTestUsesTheModelsArena) {
  ASSERT_EQ(Load(AOT_LOAD_NO_ARENA), AOT_OK) << error_.message;
  ASSERT_EQ(aot_self_test(model_, &error_), AOT_OK) << error_.message;
  const size_t with_arena = g_allocated;
  const uint64_t arena = aot_arena_bytes(model_);
  aot_unload(model_);
  ASSERT_EQ(Load(0), AOT_OK) << error_.message;
  ASSERT_EQ(aot_self_test(model_, &error_), AOT_OK) << error_.message;
  EXPECT_EQ(g_allocated, with_arena - arena);
  aot_unload(model_);
}

}  // namespace
}  // namespace aot
