#include "runtime/port/port.h"

#include <cerrno>
#include <cstring>
#include <fstream>

#include "gtest/gtest.h"

// What every port must do.
namespace {

std::string WriteFile(const std::string& name, const std::string& bytes) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

TEST(Port, MapsFilesThatOutliveTheDescriptor) {
  aot_port_file file;
  ASSERT_EQ(aot_port_open(WriteFile("mapped", std::string(10000, 'm')).c_str(), &file), 0);
  EXPECT_EQ(file.bytes, 10000u);
  void* address;
  ASSERT_EQ(aot_port_map_file(&file, &address), 0);
  aot_port_close(&file);
  aot_port_prefault(address, 10000);
  EXPECT_EQ(static_cast<const char*>(address)[9999], 'm');
  aot_port_unmap(address, 10000);
}

TEST(Port, ReadsAtAnOffset) {
  aot_port_file file;
  ASSERT_EQ(aot_port_open(WriteFile("read", "0123456789").c_str(), &file), 0);
  char bytes[8] = {};
  size_t got = 99;
  ASSERT_EQ(aot_port_read(&file, 4, bytes, 3, &got), 0);
  EXPECT_EQ(std::string(bytes, got), "456");
  ASSERT_EQ(aot_port_read(&file, 10, bytes, 3, &got), 0);
  EXPECT_EQ(got, 0u);
  aot_port_close(&file);
  EXPECT_EQ(aot_port_read(&file, 0, bytes, 1, &got), EBADF);
}

TEST(Port, AnEmptyFileMaps) {
  aot_port_file file;
  ASSERT_EQ(aot_port_open(WriteFile("nothing", "").c_str(), &file), 0);
  void* address = nullptr;
  ASSERT_EQ(aot_port_map_file(&file, &address), 0);
  EXPECT_NE(address, nullptr);
  aot_port_close(&file);
  aot_port_unmap(address, 0);
}

TEST(Port, OpensRegularFilesOnly) {
  aot_port_file file;
  EXPECT_EQ(aot_port_open("/no/such/file", &file), ENOENT);
  EXPECT_EQ(aot_port_open(::testing::TempDir().c_str(), &file), EISDIR);
  EXPECT_EQ(aot_port_open("/dev/null", &file), EINVAL);
  char text[64];
  aot_port_error_text(ENOENT, text, sizeof text);
  EXPECT_STREQ(text, "No such file or directory");
  aot_port_error_text(ENOENT, text, 5);
  EXPECT_EQ(std::strlen(text), 4u);
}

TEST(Port, CopiesCodeAndRunsIt) {
#if defined(__x86_64__)
  const unsigned char code[] = {0xb8, 42, 0, 0, 0, 0xc3};  // mov eax, 42; ret
#else
  const unsigned char code[] = {0x40, 0x05, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6};  // mov w0, #42; ret
#endif
  void* address;
  const size_t bytes = aot_port_page_size();
  ASSERT_EQ(aot_port_reserve(bytes, &address), 0);
  ASSERT_EQ(aot_port_make_writable(address, bytes), 0);
  std::memcpy(address, code, sizeof code);
  ASSERT_EQ(aot_port_seal(address, bytes, true), 0);
  int (*function)();
  std::memcpy(&function, &address, sizeof function);
  EXPECT_EQ(function(), 42);
  aot_port_unmap(address, bytes);
}

TEST(Port, PagesAreZero) {
  void* address;
  ASSERT_EQ(aot_port_allocate_pages(100000, &address), 0);
  for (int i = 0; i < 100000; ++i) ASSERT_EQ(static_cast<char*>(address)[i], 0);
  aot_port_unmap(address, 100000);
  EXPECT_NE(aot_port_allocate_pages(SIZE_MAX / 2, &address), 0);
}

TEST(Port, DetectsTheProcessor) {
  aot_cpu cpu;
  aot_port_detect_cpu(&cpu);
#if defined(__x86_64__)
  EXPECT_EQ(cpu.arch, uint32_t{AOT_ARCH_X86_64});
  EXPECT_EQ((cpu.features & AOT_X86_AVX2) != 0, __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ((cpu.features & AOT_X86_FMA) != 0, __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ((cpu.features & AOT_X86_SSE4_2) != 0, __builtin_cpu_supports("sse4.2") != 0);
  EXPECT_EQ((cpu.features & AOT_X86_AVX512VL) != 0, __builtin_cpu_supports("avx512vl") != 0);
  EXPECT_EQ((cpu.features & AOT_X86_AVX512BW) != 0, __builtin_cpu_supports("avx512bw") != 0);
#else
  EXPECT_EQ(cpu.arch, uint32_t{AOT_ARCH_AARCH64});
  EXPECT_NE(cpu.features & AOT_ARM_ASIMD, 0u);
#endif
  EXPECT_GE(cpu.vector_bits, 128u);
}

TEST(Port, TimeAndEntropy) {
  const uint64_t before = aot_port_monotonic_ns();
  EXPECT_LE(before, aot_port_monotonic_ns());
  unsigned char a[16] = {}, b[16] = {};
  ASSERT_EQ(aot_port_entropy(a, sizeof a), 0);
  ASSERT_EQ(aot_port_entropy(b, sizeof b), 0);
  EXPECT_NE(std::memcmp(a, b, sizeof a), 0);
}

}  // namespace
