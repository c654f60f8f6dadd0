// 64-bit Arm processors, by the names of their cores. Caches are the sizes that the technical reference manuals give as
// common.
//
// The cryptographic extension is switched off: it is optional on every core here, kernels have no use for it, and code
// must not pick it up by accident.
#include "compiler/target/families.h"

namespace aot::target {
namespace {

Description Core(std::string name, std::string summary) {
  Description d;
  d.name = name;
  d.cpu = std::move(name);
  d.summary = std::move(summary);
  d.triple = "aarch64-linux-gnu";
  d.vector_bits = 128;
  d.vector_registers = 32;
  d.fused_multiply_add = true;
  return d;
}

// Armv8.2-A with the half-precision and dot-product extensions.
const std::vector<std::string>& ArmV82() {
  static const auto* const features =
      new std::vector<std::string>{"fp", "asimd", "crc32", "atomics", "asimdrdm", "fp16", "lrcpc", "asimddp"};
  return *features;
}

}  // namespace

std::vector<Description> Aarch64() {
  Description a53 = Core("cortex-a53", "Armv8.0-A, in order (Raspberry Pi 3, many gateways)");
  a53.features = "-aes,-sha2";
  a53.required_features = {"fp", "asimd", "crc32"};
  a53.emulator = "qemu-aarch64 -cpu cortex-a53";

  Description a75 = Core("cortex-a75", "Armv8.2-A with dot product and half precision");
  a75.features = "-aes,-sha2";
  a75.required_features = ArmV82();
  a75.dot_product = DotProduct::kSigned;
  a75.l1_bytes = 64 << 10;
  a75.l2_bytes = 256 << 10;
  // QEMU 7.2 has no model of this core; the A76 has the same extensions.
  a75.emulator = "qemu-aarch64 -cpu cortex-a76";

  Description n1 = Core("neoverse-n1", "Armv8.2-A server core with dot product and half precision");
  n1.features = "-aes,-sha2";
  n1.required_features = ArmV82();
  n1.dot_product = DotProduct::kSigned;
  n1.l1_bytes = 64 << 10;
  n1.l2_bytes = 1 << 20;
  n1.emulator = "qemu-aarch64 -cpu neoverse-n1";
  return {a53, a75, n1};
}

}  // namespace aot::target
