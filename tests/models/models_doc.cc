// Prints docs/models.md from what the zoo recorded.
//
//   models_doc EXPECTED.json
#include <iostream>
#include <set>

#include "absl/strings/str_format.h"
#include "clients/aotctl/output.h"
#include "clients/tensor_io/file.h"
#include "tests/models/record.h"
#include "tools/docs/markdown.h"

namespace aot::tests {
namespace {

constexpr char kHead[] = R"(# Models

Generated from `tests/models/expected.json` by `bazel run //tools/docs:update`; a test fails when it is stale. The list itself comes from
`bazel run //tests/models:zoo -- --models DIR --record tests/models/expected.json`.

Each model was compiled as it is, run on its data sets, and compared with reference outputs that ONNX Runtime or the model's authors
made: "right" is within 1e-4 of the largest value of an output, or within 10 times the noise that ONNX Runtime itself shows between its
optimisation levels; integer outputs are exact, 8-bit ones up to the quantisation steps in which ONNX Runtime differs from itself. Behind
it stands the largest difference: of the output's largest value, or, from 1 on, in quantisation steps. An empty cell wasn't run: emulated
targets take the smallest models alone.

)";

std::string Cell(const RecordedModel& model, const std::string& run) {
  auto found = model.runs.find(run);
  if (found == model.runs.end()) return "";
  if (found->second.verdict == Verdict::kRight) return absl::StrFormat("right, %.0e", found->second.max_error);
  return absl::StrCat(Name(found->second.verdict), ": ", found->second.message);
}

std::string Page(const Record& record) {
  std::set<std::string> runs;
  for (const auto& [name, model] : record) {
    for (const auto& [run, outcome] : model.runs) runs.insert(run);
  }
  docs::Row head = {"Model", "What it is", "Size", "Data sets"};
  head.insert(head.end(), runs.begin(), runs.end());
  std::vector<docs::Row> rows = {head};
  for (const auto& [name, model] : record) {
    docs::Row row = {docs::Code(name), model.what, clients::FormatBytes(model.bytes), absl::StrCat(model.data_sets)};
    for (const std::string& run : runs) row.push_back(Cell(model, run));
    rows.push_back(std::move(row));
  }
  return kHead + docs::Table(rows);
}

}  // namespace
}  // namespace aot::tests

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: models_doc EXPECTED.json\n";
    return 2;
  }
  absl::StatusOr<std::string> text = aot::clients::ReadFile(argv[1]);
  absl::StatusOr<aot::tests::Record> record = text.ok() ? aot::tests::ParseRecord(*text) : text.status();
  if (!record.ok()) {
    std::cerr << record.status().message() << "\n";
    return 1;
  }
  std::cout << aot::tests::Page(*record) << std::flush;
  return std::cout ? 0 : 1;
}
