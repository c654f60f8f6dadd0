#include "compiler/emit/link.h"

#include <dlfcn.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <sstream>
#include <thread>

#include "compiler/emit/code_check.h"
#include "gtest/gtest.h"
#include "llvm/Object/ELFObjectFile.h"
#include "runtime/format/code_object.h"

namespace aot::emit {
namespace {

const target::Description& Target(absl::string_view name) { return **target::Find(name); }

std::string Object(absl::string_view name, const target::Description& target) {
  const std::string arch = target.triple.substr(0, target.triple.find('-'));
  std::ifstream file("compiler/emit/testdata/" + std::string(name) + "." + arch + ".o", std::ios::binary);
  std::stringstream bytes;
  bytes << file.rdbuf();
  EXPECT_FALSE(bytes.str().empty()) << name;
  return bytes.str();
}

class LinkTest : public ::testing::TestWithParam<const char*> {
 protected:
  const target::Description& target() const { return Target(GetParam()); }
  std::string Failure(const std::string& bad) const {
    const absl::StatusOr<std::string> code =
        LinkCode({Object("affine", target()), Object(bad, target())}, target(), 32);
    EXPECT_EQ(code.status().code(), absl::StatusCode::kInternal);
    return std::string(code.status().message());
  }
};

TEST_P(LinkTest, KeepsThePolicy) {
  const absl::StatusOr<std::string> code = LinkCode({Object("affine", target())}, target(), 100000);
  ASSERT_TRUE(code.ok()) << code.status();
  const absl::StatusOr<CodeFacts> facts = CheckCode(*code);
  ASSERT_TRUE(facts.ok()) << facts.status();
  EXPECT_EQ(facts->descriptor.arena_size, 64u);
  EXPECT_EQ(facts->descriptor.key[31], 31);
  EXPECT_EQ(facts->weights_size, 100000u);
  EXPECT_EQ(facts->weights_offset, (code->size() + 16383) / 16384 * 16384);
}

TEST_P(LinkTest, WithoutWeightsThereIsNoSegmentForThem) {
  const absl::StatusOr<std::string> code = LinkCode({Object("affine", target())}, target(), 0);
  ASSERT_TRUE(code.ok()) << code.status();
  EXPECT_EQ(CheckCode(*code)->weights_offset, 0u);
}

TEST_P(LinkTest, IsTheSameWhateverTheDirectory) {
  const std::string object = Object("affine", target());
  const absl::StatusOr<std::string> first = LinkCode({object}, target(), 32);
  const std::string other = ::testing::TempDir() + "/another-directory-for-the-linker";
  ASSERT_EQ(mkdir(other.c_str(), 0700), 0);
  const char* before = getenv("TMPDIR");
  const std::string restore = before == nullptr ? "" : before;
  setenv("TMPDIR", other.c_str(), 1);
  const absl::StatusOr<std::string> second = LinkCode({object}, target(), 32);
  restore.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", restore.c_str(), 1);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(rmdir(other.c_str()), 0) << "temporary files were left behind";
}

TEST_P(LinkTest, LinksFromManyThreads) {
  const std::string object = Object("affine", target());
  const std::string expected = *LinkCode({object}, target(), 32);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] { EXPECT_EQ(*LinkCode({object}, target(), 32), expected); });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_P(LinkTest, NamesTheOffender) {
  EXPECT_NE(Failure("bad_import").find("undefined symbol: expf"), std::string::npos) << Failure("bad_import");
  EXPECT_NE(Failure("bad_relocation").find("bad_table in .data.rel.ro"), std::string::npos)
      << Failure("bad_relocation");
  EXPECT_NE(Failure("bad_data").find("'.data.bad_counter'"), std::string::npos) << Failure("bad_data");
  EXPECT_EQ(Failure("bad_import").find("/tmp"), std::string::npos) << "a path of the build host leaks";
}

TEST_P(LinkTest, HidesWhatObjectsExport) {
  const absl::StatusOr<std::string> code =
      LinkCode({Object("affine", target()), Object("bad_export", target())}, target(), 32);
  ASSERT_TRUE(code.ok()) << code.status();
}

TEST_P(LinkTest, RefusesBytesThatAreNoObject) {
  EXPECT_EQ(LinkCode({"rubbish"}, target(), 0).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(LinkCode({""}, target(), 0).status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(LinkCode({}, target(), 0).status().code(), absl::StatusCode::kInternal);
  const std::string object = Object("affine", target());
  EXPECT_FALSE(LinkCode({object.substr(0, object.size() / 2)}, target(), 32).ok());
  // And LLD still works.
  EXPECT_TRUE(LinkCode({object}, target(), 32).ok());
}

TEST_P(LinkTest, RefusesAnObjectOfAnotherArchitecture) {
  const target::Description& other = Target(target().triple[0] == 'x' ? "cortex-a53" : "x86-64-v2");
  EXPECT_EQ(LinkCode({Object("affine", other)}, target(), 32).status().code(), absl::StatusCode::kInternal);
}

INSTANTIATE_TEST_SUITE_P(Targets, LinkTest, ::testing::Values("x86-64-v3", "cortex-a75"));

#if defined(__x86_64__)
// The conversions that x86-64-v2 code calls, through a linked object, against the compiler's own for every half.
TEST(Builtins, HalfConversionsRoundToNearestEven) {
  const target::Description& target = Target("x86-64-v2");
  const absl::StatusOr<std::string> code = LinkCode({Object("affine", target), Object("halves", target)}, target, 0);
  ASSERT_TRUE(code.ok()) << code.status();
  const std::string path = ::testing::TempDir() + "/halves.so";
  std::ofstream(path, std::ios::binary) << *code;
  void* library = dlopen(path.c_str(), RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  // Only the descriptor is exported; the object's own symbol table gives the distance of the hidden functions to it.
  char* descriptor = static_cast<char*>(dlsym(library, AOT_DESCRIPTOR_SYMBOL));
  ASSERT_NE(descriptor, nullptr);
  const auto address = [&](absl::string_view name) -> void* {
    using Elf = llvm::object::ELFObjectFile<llvm::object::ELF64LE>;
    const Elf elf = llvm::cantFail(Elf::create(llvm::MemoryBufferRef(*code, "")));
    uint64_t wanted = 0, base = 0;
    for (const llvm::object::ELFSymbolRef symbol : elf.symbols()) {
      const llvm::StringRef found = llvm::cantFail(symbol.getName());
      if (found == llvm::StringRef(name.data(), name.size())) wanted = llvm::cantFail(symbol.getAddress());
      if (found == AOT_DESCRIPTOR_SYMBOL) base = llvm::cantFail(symbol.getAddress());
    }
    return descriptor + (wanted - base);
  };
  const auto extend = reinterpret_cast<float (*)(_Float16)>(address("half_to_float"));
  const auto truncate = reinterpret_cast<_Float16 (*)(float)>(address("float_to_half"));
  const auto truncate_double = reinterpret_cast<_Float16 (*)(double)>(address("double_to_half"));
  const auto half = [](uint32_t bits) {
    const uint16_t narrow = static_cast<uint16_t>(bits);
    _Float16 value;
    std::memcpy(&value, &narrow, sizeof value);
    return value;
  };
  const auto bits = [](_Float16 value) {
    uint16_t narrow;
    std::memcpy(&narrow, &value, sizeof narrow);
    return narrow;
  };
  for (uint32_t i = 0; i < 0x10000; ++i) {
    const bool nan = (i & 0x7fff) > 0x7c00;
    const double exact = (i & 0x7fff) == 0x7c00 ? INFINITY
                         : (i & 0x7c00) == 0    ? std::ldexp(i & 0x3ff, -24)
                                             : std::ldexp(0x400 | (i & 0x3ff), static_cast<int>((i >> 10) & 31) - 25);
    const float value = extend(half(i));
    if (nan) {
      EXPECT_TRUE(std::isnan(value)) << i;
      EXPECT_TRUE(std::isnan(extend(truncate(value)))) << i;
      continue;
    }
    ASSERT_EQ(std::fabs(value), exact) << i;
    ASSERT_EQ(std::signbit(value), i >= 0x8000) << i;
    ASSERT_EQ(bits(truncate(value)), i);
    ASSERT_EQ(bits(truncate_double(value)), i);
    if ((i & 0x7fff) >= 0x7bff) continue;
    // Halfway to the next half: to the even one. A float beside the middle, or a double, decides by the side.
    const double next = extend(half(i + 1));
    const double middle = (static_cast<double>(value) + next) / 2;
    const uint32_t even = i % 2 == 0 ? i : i + 1;
    ASSERT_EQ(bits(truncate(static_cast<float>(middle))), even) << i;
    ASSERT_EQ(bits(truncate_double(middle)), even) << i;
    const double outward = i >= 0x8000 ? -INFINITY : INFINITY;
    ASSERT_EQ(bits(truncate_double(std::nextafter(middle, outward))), i + 1) << i;
    ASSERT_EQ(bits(truncate_double(std::nextafter(middle, 0.0))), i) << i;
  }
  EXPECT_EQ(bits(truncate(65520.0f)), 0x7c00);
  EXPECT_EQ(bits(truncate(65519.0f)), 0x7bff);
  EXPECT_EQ(bits(truncate_double(1e300)), 0x7c00);
  EXPECT_EQ(bits(truncate_double(-1e-300)), 0x8000);
  dlclose(library);
}
#endif

}  // namespace
}  // namespace aot::emit
