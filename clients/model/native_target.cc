#include "clients/model/native_target.h"

#include <tuple>

#include "absl/strings/str_cat.h"
#include "compiler/target/target.h"
#include "runtime/format/cpu_features.h"
#include "runtime/port/port.h"

namespace aot::clients {
namespace {

bool Fits(const target::Description& description, const aot_cpu& cpu) {
  if (aot_cpu_arch_of_triple(description.triple.data(), description.triple.size()) != cpu.arch) return false;
  for (const std::string& feature : description.required_features) {
    uint64_t bits = aot_cpu_feature_bits(cpu.arch, feature.data(), feature.size());
    if (bits == 0 || (cpu.features & bits) != bits) return false;
  }
  return true;
}

aot_cpu ThisCpu() {
  aot_cpu cpu = {};
  aot_port_detect_cpu(&cpu);
  return cpu;
}

}  // namespace

absl::StatusOr<std::string> ResolveTarget(absl::string_view name) {
  if (name != "native") return std::string(name);
  const aot_cpu cpu = ThisCpu();
  const target::Description* best = nullptr;
  auto rank = [](const target::Description& d) { return std::make_tuple(d.vector_bits, d.required_features.size()); };
  for (const target::Description& description : target::All()) {
    if (Fits(description, cpu) && (best == nullptr || rank(description) > rank(*best))) best = &description;
  }
  if (best == nullptr) {
    return absl::NotFoundError(absl::StrCat("no target fits this machine's processor (", aot_cpu_arch_name(cpu.arch),
                                            "); name one of `aotctl targets` with --target"));
  }
  return best->name;
}

bool RunsHere(absl::string_view target) {
  absl::StatusOr<const target::Description*> description = target::Find(target);
  return description.ok() && Fits(**description, ThisCpu());
}

}  // namespace aot::clients
