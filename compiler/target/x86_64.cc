// The x86-64 micro-architecture levels of the System V psABI. A level names what code may use, not a processor: caches
// are those of the smallest processor of the level that is in wide use.
#include "compiler/target/families.h"

namespace aot::target {
namespace {

const std::vector<std::string>& LevelTwo() {
  static const auto* const features =
      new std::vector<std::string>{"cx16", "sse3", "ssse3", "sse4.1", "sse4.2", "popcnt"};
  return *features;
}

std::vector<std::string> With(std::vector<std::string> base, const std::vector<std::string>& more) {
  base.insert(base.end(), more.begin(), more.end());
  return base;
}

Description Level(std::string name, std::string summary) {
  Description d;
  d.name = name;
  d.cpu = std::move(name);  // LLVM knows the levels by the same names
  d.summary = std::move(summary);
  d.triple = "x86_64-linux-gnu";
  return d;
}

}  // namespace

std::vector<Description> X86_64() {
  Description v2 = Level("x86-64-v2", "x86-64 with SSE4.2 (2009 and later)");
  v2.required_features = LevelTwo();
  v2.dot_product = DotProduct::kPairs;
  v2.l2_bytes = 256 << 10;
  v2.emulator = "qemu-x86_64 -cpu Nehalem";

  Description v3 = Level("x86-64-v3", "x86-64 with AVX2 and FMA (Haswell, Zen and later)");
  v3.required_features = With(v2.required_features, {"avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "lzcnt", "movbe"});
  v3.vector_bits = 256;
  v3.fused_multiply_add = true;
  v3.dot_product = DotProduct::kPairs;
  v3.l2_bytes = 256 << 10;
  v3.emulator = "qemu-x86_64 -cpu Haswell";

  Description v4 = Level("x86-64-v4", "x86-64 with AVX-512 (Skylake-SP, Zen 4 and later)");
  v4.required_features = With(v3.required_features, {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"});
  // LLVM's tuning of this level prefers 256-bit vectors; kernels here are written for the full width.
  v4.features = "-prefer-256-bit";
  v4.vector_bits = 512;
  v4.vector_registers = 32;
  v4.fused_multiply_add = true;
  v4.dot_product = DotProduct::kPairs;
  v4.l2_bytes = 1 << 20;

  // Not a level of the psABI: the fourth with the one extension that quantised models live on.
  Description vnni = v4;
  vnni.name = "x86-64-v4-vnni";
  vnni.summary = "x86-64 with AVX-512 and its byte dot product (Ice Lake, Zen 4 and later)";
  vnni.features += ",+avx512vnni";
  vnni.required_features.push_back("avx512vnni");
  vnni.dot_product = DotProduct::kUnsignedSigned;
  return {v2, v3, v4, vnni};
}

}  // namespace aot::target
