// Prints docs/targets.md from the descriptions that the compiler uses.
#include <iostream>

#include "compiler/target/target.h"
#include "tools/docs/markdown.h"

namespace aot::docs {
namespace {

constexpr const char* kHead = R"(# Targets

Generated from `compiler/target` by `bazel run //tools/docs:update`; a test fails when it is stale.

A target says what compiled code may assume of a device. Choose the most demanding one whose processor features all your devices have:
a device refuses code that asks for more (`AOT_MISSING_CPU_FEATURE`), and runs code that asks for less. `aotctl targets` shows what a
server offers, and which one `native` stands for on your machine.

)";

constexpr const char* kMiddle = R"(
## What a device must have

The loader checks these features before any code is mapped. "Emulator" is what the tests run the target's code under on another machine.

)";

constexpr const char* kTail = R"(
To add a target, see [CONTRIBUTING.md](../CONTRIBUTING.md#add-a-target).
)";

std::string KiB(int64_t bytes) { return absl::StrCat(bytes >> 10, " KiB"); }

std::string Page() {
  std::vector<Row> machines = {{"Target", "What it is", "Triple", "SIMD", "FMA", "L1 / L2 planned for"}};
  std::vector<Row> demands = {{"Target", "Processor features", "Largest page", "Emulator"}};
  for (const target::Description& d : target::All()) {
    machines.push_back({Code(d.name), d.summary, Code(d.triple),
                        absl::StrCat(d.vector_registers, " × ", d.vector_bits, " bits"),
                        d.fused_multiply_add ? "yes" : "no", absl::StrCat(KiB(d.l1_bytes), " / ", KiB(d.l2_bytes))});
    demands.push_back({Code(d.name), absl::StrJoin(d.required_features, ", "), KiB(d.max_page_size),
                       d.emulator.empty() ? "none" : Code(d.emulator)});
  }
  return absl::StrCat(kHead, Table(machines), kMiddle, Table(demands), kTail);
}

}  // namespace
}  // namespace aot::docs

int main() {
  std::cout << aot::docs::Page() << std::flush;
  return std::cout ? 0 : 1;
}
