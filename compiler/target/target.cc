#include "compiler/target/target.h"

#include <algorithm>
#include <cstdio>

#include "absl/status/status.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "compiler/target/families.h"
#include "runtime/format/sha256.h"

namespace aot::target {
namespace {

std::vector<Description> Gather() {
  std::vector<Description> all;
  for (auto family : {Aarch64, X86_64}) {
    std::vector<Description> more = family();
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  std::sort(all.begin(), all.end(), [](const Description& a, const Description& b) { return a.name < b.name; });
  return all;
}

}  // namespace

absl::Span<const Description> All() {
  static const auto* const all = new std::vector<Description>(Gather());
  return *all;
}

absl::StatusOr<const Description*> Find(absl::string_view name) {
  for (const Description& description : All()) {
    if (description.name == name) return &description;
  }
  return absl::NotFoundError(absl::StrCat(
      "there is no target \"", absl::CHexEscape(name), "\"; targets: ",
      absl::StrJoin(All(), ", ", [](std::string* out, const Description& d) { absl::StrAppend(out, d.name); })));
}

std::string Digest(const Description& d) {
  // Every field on its own line with its name. A value can't forge another field: none holds a newline (target_test
  // checks it).
  const std::string text = absl::StrCat(
      "name=", d.name, "\nsummary=", d.summary, "\ntriple=", d.triple, "\ncpu=", d.cpu, "\nfeatures=", d.features,
      "\nrequired_features=", absl::StrJoin(d.required_features, ","), "\nvector_bits=", d.vector_bits,
      "\nvector_registers=", d.vector_registers, "\nfused_multiply_add=", d.fused_multiply_add ? 1 : 0,
      "\ndot_product=", static_cast<int>(d.dot_product), "\nl1_bytes=", d.l1_bytes, "\nl2_bytes=", d.l2_bytes,
      "\nmax_page_size=", d.max_page_size, "\nemulator=", d.emulator, "\n");
  uint8_t digest[AOT_SHA256_SIZE];
  aot_sha256(text.data(), text.size(), digest);
  return absl::BytesToHexString({reinterpret_cast<const char*>(digest), sizeof digest});
}

}  // namespace aot::target
