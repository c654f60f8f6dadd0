#include "clients/tensor_io/data_set.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "clients/tensor_io/tensor_file.h"

namespace aot::clients {
namespace {

namespace fs = std::filesystem;

// The names in a directory, sorted; empty if it can't be read.
std::vector<std::string> List(const std::string& directory) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    names.push_back(it->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

// The number N of "<prefix>N<suffix>", or -1.
int Number(absl::string_view name, absl::string_view prefix, absl::string_view suffix) {
  int number = -1;
  bool matches = absl::ConsumePrefix(&name, prefix) && absl::ConsumeSuffix(&name, suffix);
  return matches && absl::SimpleAtoi(name, &number) && number >= 0 ? number : -1;
}

absl::StatusOr<DataSet> ReadDataSet(const std::string& directory, int index) {
  DataSet set;
  set.index = index;
  set.directory = directory;
  for (const std::string& name : List(directory)) {
    int input = Number(name, "input_", ".pb"), output = Number(name, "output_", ".pb");
    if (input < 0 && output < 0) {
      if (absl::StartsWith(name, "input_") || absl::StartsWith(name, "output_")) set.not_tensors.push_back(name);
      continue;
    }
    absl::StatusOr<NamedTensor> tensor = ReadTypedTensorFile(absl::StrCat(directory, "/", name));
    if (!tensor.ok()) return tensor.status();
    (input >= 0 ? set.inputs : set.outputs).emplace(std::max(input, output), *std::move(tensor));
  }
  return set;
}

}  // namespace

absl::StatusOr<std::vector<DataSet>> ReadDataSets(const std::string& model_directory) {
  std::vector<DataSet> sets;
  for (const std::string& name : List(model_directory)) {
    int index = Number(name, "test_data_set_", "");
    if (index < 0) continue;
    absl::StatusOr<DataSet> set = ReadDataSet(absl::StrCat(model_directory, "/", name), index);
    if (!set.ok()) return set.status();
    sets.push_back(*std::move(set));
  }
  std::sort(sets.begin(), sets.end(), [](const DataSet& a, const DataSet& b) { return a.index < b.index; });
  return sets;
}

}  // namespace aot::clients
