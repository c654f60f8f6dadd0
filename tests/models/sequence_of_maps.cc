#include "tests/models/sequence_of_maps.h"

#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/tensor_io/file.h"

namespace aot::tests {

absl::StatusOr<reference::Tensor> ReadSequenceOfMaps(const std::string& path) {
  absl::StatusOr<std::string> text = clients::ReadFile(path);
  if (!text.ok()) return text.status();
  const nlohmann::json json = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  auto malformed = [&](absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", what)); };
  if (!json.is_object() || !json.contains("keys") || !json["keys"].is_array() || !json.contains("value") ||
      !json["value"].is_array()) {
    return malformed("expected an object with the lists \"keys\" and \"value\"");
  }
  const nlohmann::json &keys = json["keys"], &rows = json["value"];
  reference::Tensor tensor(reference::TensorType{
      reference::ElementType::kFloat32, {static_cast<int64_t>(rows.size()), static_cast<int64_t>(keys.size())}});
  int64_t position = 0;
  for (const nlohmann::json& row : rows) {
    for (const nlohmann::json& key : keys) {
      // Keys of JSON objects are strings, whatever the labels are.
      const std::string name = key.is_string() ? key.get<std::string>() : key.dump();
      if (!row.is_object() || !row.contains(name) || !row[name].is_number()) {
        return malformed(absl::StrCat("a row has no number for ", name));
      }
      tensor.SetFloat(position++, row[name].get<double>());
    }
  }
  return tensor;
}

int SequenceOfMapsOutput(const std::string& file_name) {
  absl::string_view name = file_name;
  int number = -1;
  const bool matches = absl::ConsumePrefix(&name, "output_") && absl::ConsumeSuffix(&name, ".seqmap.json");
  return matches && absl::SimpleAtoi(name, &number) && number >= 0 ? number : -1;
}

}  // namespace aot::tests
