#include "tests/models/record.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/tensor_io/file.h"

namespace aot::tests {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RecordedRun, verdict, message, max_error)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RecordedModel, what, bytes, data_sets, runs)

namespace {

double OneDigit(double value) {
  double rounded = 0;
  return absl::SimpleAtod(absl::StrFormat("%.0e", value), &rounded) ? rounded : value;
}

}  // namespace

std::string RunName(const std::string& target, int opt_level) { return absl::StrCat(target, " -O", opt_level); }

absl::StatusOr<Record> ParseRecord(const std::string& text) {
  try {
    return nlohmann::json::parse(text).get<Record>();
  } catch (const nlohmann::json::exception& error) {
    return absl::InvalidArgumentError(absl::StrCat("not a list of models: ", error.what()));
  }
}

std::string FormatRecord(const Record& record) { return nlohmann::json(record).dump(1) + "\n"; }

absl::Status AddResult(const std::string& model_directory, const std::string& run, const ModelResult& result,
                       Record* record) {
  RecordedModel& model = (*record)[result.model];
  const std::filesystem::path directory = model_directory;
  std::error_code error;
  model.bytes = static_cast<int64_t>(std::filesystem::file_size(directory / "model.onnx", error));
  if (error) return absl::NotFoundError(absl::StrCat(model_directory, ": no model.onnx: ", error.message()));
  if (std::filesystem::exists(directory / "meta.json", error)) {
    absl::StatusOr<std::string> text = clients::ReadFile((directory / "meta.json").string());
    if (!text.ok()) return text.status();
    const nlohmann::json meta = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (meta.is_object()) model.what = meta.value("category", model.what);
  }
  model.data_sets = result.data_sets;
  model.runs[run] = {result.verdict, result.message, OneDigit(result.max_error)};
  return absl::OkStatus();
}

}  // namespace aot::tests
