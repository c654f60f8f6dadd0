#include "tests/models/meta.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"

namespace aot::tests {
namespace {

double NumberOr0(const nlohmann::json& object, const char* key) {
  auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

}  // namespace

absl::StatusOr<Meta> ReadMeta(const std::string& model_directory) {
  const std::string path = absl::StrCat(model_directory, "/meta.json");
  absl::StatusOr<std::string> text = clients::ReadFile(path);
  if (absl::IsNotFound(text.status())) return Meta();
  if (!text.ok()) return text.status();
  nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return absl::InvalidArgumentError(absl::StrCat(path, " isn't a JSON object"));
  Meta meta;
  meta.noise_relative_to_max = NumberOr0(json, "ort_all_vs_ref_rel_to_max");
  meta.noise_max_abs = NumberOr0(json, "ort_all_vs_ref_max_abs");
  return meta;
}

clients::Tolerance ToleranceFor(const Meta& meta, reference::ElementType element) {
  clients::Tolerance tolerance;
  tolerance.relative_to_max = std::max(1e-4, 10 * meta.noise_relative_to_max);
  bool narrow = element == reference::ElementType::kInt8 || element == reference::ElementType::kUint8;
  if (narrow && meta.noise_max_abs >= 1) tolerance.integer_steps = std::llround(meta.noise_max_abs);
  return tolerance;
}

}  // namespace aot::tests
