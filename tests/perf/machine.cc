#include "tests/perf/machine.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace aot::perf {
namespace {

using Clock = std::chrono::steady_clock;

double Since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Keeps a result alive.
template <typename T>
void Use(const T& value) {
  asm volatile("" : : "m"(value) : "memory");
}

// A loop of so many rounds. Returns the operations it did, or for reads the bytes.
struct Loops {
  double (*flops)(int64_t rounds) = nullptr;
  double (*byte_ops)(int64_t rounds) = nullptr;
  double (*read)(const uint8_t* data, int64_t bytes) = nullptr;
};

// 32-bit floats in 128 bits, which every target has: where nothing better is known. The attribute is the compiler's
// own.
typedef float Quad __attribute__((vector_size(16)));

double PlainFlops(int64_t rounds) {
  Quad sums[8] = {};
  Quad a = {1, 1, 1, 1}, b = {0.5, 0.5, 0.5, 0.5};
  for (int64_t i = 0; i < rounds; ++i) {
    for (Quad& sum : sums) sum = sum * b + a;
    Use(sums);
  }
  return static_cast<double>(rounds) * 8 * 4 * 2;
}

double PlainRead(const uint8_t* data, int64_t bytes) {
  Quad sums[4] = {};
  const auto* quads = reinterpret_cast<const Quad*>(data);
  for (int64_t i = 0; i + 4 <= bytes / 16; i += 4)
    for (int64_t k = 0; k < 4; ++k) sums[k] += quads[i + k];
  Use(sums);
  return static_cast<double>(bytes);
}

#if defined(__x86_64__)

// Twelve independent sums hide the latency of a multiply-add on every processor so far.
#define AOT_TWELVE(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)

__attribute__((target("avx2,fma"))) double Avx2Flops(int64_t rounds) {
  __m256 a = _mm256_set1_ps(0.5f), b = _mm256_set1_ps(1);
#define AOT_STEP(i) __m256 s##i = _mm256_set1_ps(i);
  AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
  for (int64_t round = 0; round < rounds; ++round) {
#define AOT_STEP(i) s##i = _mm256_fmadd_ps(s##i, a, b);
    AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
    asm volatile("" : "+x"(a));
  }
#define AOT_STEP(i) Use(s##i);
  AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
  return static_cast<double>(rounds) * 12 * 8 * 2;
}

__attribute__((target("avx512f"))) double Avx512Flops(int64_t rounds) {
  __m512 a = _mm512_set1_ps(0.5f), b = _mm512_set1_ps(1);
#define AOT_STEP(i) __m512 s##i = _mm512_set1_ps(i);
  AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
  for (int64_t round = 0; round < rounds; ++round) {
#define AOT_STEP(i) s##i = _mm512_fmadd_ps(s##i, a, b);
    AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
    asm volatile("" : "+v"(a));
  }
#define AOT_STEP(i) Use(s##i);
  AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
  return static_cast<double>(rounds) * 12 * 16 * 2;
}

__attribute__((target("avx512f,avx512vnni"))) double VnniOps(int64_t rounds) {
  __m512i a = _mm512_set1_epi8(1), b = _mm512_set1_epi8(1);
#define AOT_STEP(i) __m512i s##i = _mm512_set1_epi32(i);
  AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
  for (int64_t round = 0; round < rounds; ++round) {
#define AOT_STEP(i) s##i = _mm512_dpbusd_epi32(s##i, a, b);
    AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
    asm volatile("" : "+v"(a));
  }
#define AOT_STEP(i) Use(s##i);
  AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
  return static_cast<double>(rounds) * 12 * 64 * 2;
}

__attribute__((target("avx2"))) double Avx2PairOps(int64_t rounds) {
  __m256i a = _mm256_set1_epi16(1), b = _mm256_set1_epi16(1);
#define AOT_STEP(i) __m256i s##i = _mm256_set1_epi32(i);
  AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
  for (int64_t round = 0; round < rounds; ++round) {
#define AOT_STEP(i) s##i = _mm256_add_epi32(s##i, _mm256_madd_epi16(a, b));
    AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
    asm volatile("" : "+x"(a));
  }
#define AOT_STEP(i) Use(s##i);
  AOT_TWELVE(AOT_STEP)
#undef AOT_STEP
  return static_cast<double>(rounds) * 12 * 16 * 2;
}

#undef AOT_TWELVE

__attribute__((target("avx2"))) double Avx2Read(const uint8_t* data, int64_t bytes) {
  __m256i sums[4] = {};
  const auto* vectors = reinterpret_cast<const __m256i*>(data);
  for (int64_t i = 0; i + 4 <= bytes / 32; i += 4)
    for (int64_t k = 0; k < 4; ++k) sums[k] = _mm256_or_si256(sums[k], _mm256_load_si256(vectors + i + k));
  Use(sums);
  return static_cast<double>(bytes);
}

__attribute__((target("avx512f"))) double Avx512Read(const uint8_t* data, int64_t bytes) {
  __m512i sums[4] = {};
  const auto* vectors = reinterpret_cast<const __m512i*>(data);
  for (int64_t i = 0; i + 4 <= bytes / 64; i += 4)
    for (int64_t k = 0; k < 4; ++k) sums[k] = _mm512_or_si512(sums[k], _mm512_load_si512(vectors + i + k));
  Use(sums);
  return static_cast<double>(bytes);
}

Loops BestLoops() {
  Loops loops = {PlainFlops, nullptr, PlainRead};
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) loops = {Avx2Flops, Avx2PairOps, Avx2Read};
  if (__builtin_cpu_supports("avx512f")) {
    loops.flops = Avx512Flops;
    loops.read = Avx512Read;
  }
  if (__builtin_cpu_supports("avx512vnni")) loops.byte_ops = VnniOps;
  return loops;
}

#else

Loops BestLoops() { return {PlainFlops, nullptr, PlainRead}; }

#endif

// Operations a second: the best of some attempts of about two milliseconds.
double Peak(double (*loop)(int64_t)) {
  constexpr int64_t kRounds = 300000;
  double best = 0;
  for (int attempt = 0; attempt < 30; ++attempt) {
    const Clock::time_point start = Clock::now();
    const double operations = loop(kRounds);
    best = std::max(best, operations / Since(start));
  }
  return best;
}

// Reads a buffer over and over in pieces of about a millisecond and gives the best piece's bytes a second: other work
// on the machine interrupts some of them, hardly all.
double Bandwidth(double (*read)(const uint8_t*, int64_t), const uint8_t* data, int64_t bytes) {
  constexpr int64_t kPiece = int64_t{8} << 20;
  const int64_t piece = std::min(bytes, kPiece), repeats = std::max<int64_t>(1, kPiece / bytes);
  read(data, bytes);
  double best = 0;
  for (int64_t measured = 0; measured < std::max(2 * bytes, 24 * kPiece);) {
    for (int64_t offset = 0; offset + piece <= bytes; offset += piece) {
      const Clock::time_point start = Clock::now();
      double sum = 0;
      for (int64_t i = 0; i < repeats; ++i) sum += read(data + offset, piece);
      best = std::max(best, sum / Since(start));
      measured += static_cast<int64_t>(sum);
    }
  }
  return best;
}

std::string ProcessorName() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(": ");
    if (line.rfind("model name", 0) == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

// Of the data or unified cache of a level, as the kernel tells it; what the C library computes is wrong on virtual
// machines.
int64_t CacheBytes(int level, int64_t otherwise) {
  for (int i = 0; i < 8; ++i) {
    const std::string directory = "/sys/devices/system/cpu/cpu0/cache/index" + std::to_string(i) + "/";
    std::string type, size;
    int found = 0;
    std::ifstream(directory + "level") >> found;
    std::ifstream(directory + "type") >> type;
    std::ifstream(directory + "size") >> size;  // "1024K"
    if (found == level && type != "Instruction" && !size.empty()) return std::atoll(size.c_str()) << 10;
  }
  return otherwise;
}

}  // namespace

Machine MeasureMachine(int threads) {
  const Loops loops = BestLoops();
  Machine machine;
  machine.processor = ProcessorName();
  machine.threads = threads;
  machine.flops = Peak(loops.flops) * threads;
  machine.byte_ops = loops.byte_ops != nullptr ? Peak(loops.byte_ops) * threads : 0;

  constexpr int64_t kMemory = int64_t{192} << 20;
  struct Free {
    void operator()(void* memory) const { free(memory); }
  };
  std::unique_ptr<uint8_t, Free> data(static_cast<uint8_t*>(aligned_alloc(4096, kMemory)));
  if (data == nullptr) return machine;
  std::fill_n(data.get(), kMemory, uint8_t{1});
  const int64_t first = CacheBytes(1, 32 << 10), second = CacheBytes(2, 512 << 10), third = CacheBytes(3, 0);
  // Half of a cache is read: the rest is for whatever else lives there. The third level may be shared with others.
  auto add = [&](const char* name, int64_t capacity, int64_t bytes, int times) {
    machine.levels.push_back({name, capacity, Bandwidth(loops.read, data.get(), std::min(bytes, kMemory)) * times});
  };
  add("first-level cache", first, first / 2, threads);
  add("second-level cache", second, second / 2, threads);
  if (third > second) add("third-level cache", third, third / 2, 1);
  add("memory", INT64_MAX, kMemory, 1);
  return machine;
}

double LeastSeconds(const Machine& machine, const std::vector<compiler::ScheduledStep>& steps, int64_t working_set) {
  // Seconds for a byte: as much of the working set as each level holds comes from there, the rest from the next one.
  double per_byte = 0;
  int64_t held = 0;
  for (const MemoryLevel& level : machine.levels) {
    const int64_t here = std::min(level.capacity, working_set) - held;
    if (here <= 0 && working_set > 0) continue;
    per_byte +=
        (working_set > 0 ? static_cast<double>(here) / static_cast<double>(working_set) : 1) / level.bytes_per_second;
    held += here;
    if (held >= working_set) break;
  }
  const double byte_ops = machine.byte_ops > 0 ? machine.byte_ops : machine.flops;
  double seconds = 0;
  for (const compiler::ScheduledStep& step : steps) {
    if (step.conditional) continue;
    const double arithmetic =
        (2 * step.multiply_adds + step.operations) / machine.flops + 2 * step.byte_products / byte_ops;
    const double bytes = static_cast<double>(step.weight_bytes + step.activation_bytes);
    seconds += std::max(arithmetic, bytes * per_byte);
  }
  return seconds;
}

nlohmann::json ToJson(const Machine& machine) {
  nlohmann::json levels = nlohmann::json::array();
  for (const MemoryLevel& level : machine.levels) {
    nlohmann::json entry = {{"name", level.name}, {"bytes_per_second", level.bytes_per_second}};
    if (level.capacity != INT64_MAX) entry["capacity"] = level.capacity;
    levels.push_back(std::move(entry));
  }
  return {{"processor", machine.processor},
          {"threads", machine.threads},
          {"flops", machine.flops},
          {"byte_ops", machine.byte_ops},
          {"levels", std::move(levels)}};
}

}  // namespace aot::perf
