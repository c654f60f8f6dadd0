#include "tests/models/selection.h"

#include <algorithm>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace aot::tests {

namespace fs = std::filesystem;

absl::StatusOr<std::vector<std::string>> SelectModels(const std::string& directory, const Selection& selection) {
  std::vector<std::string> present;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    if (fs::exists(it->path() / "model.onnx")) present.push_back(it->path().filename().string());
  }
  std::sort(present.begin(), present.end());
  if (present.empty()) return absl::NotFoundError(absl::StrCat(directory, " has no directory with a model.onnx in it"));
  std::vector<std::string> names = selection.only.empty() ? present : selection.only;
  for (const std::string& name : names) {
    if (std::binary_search(present.begin(), present.end(), name)) continue;
    return absl::NotFoundError(
        absl::StrCat(directory, " has no model '", name, "'; it has ", absl::StrJoin(present, ", ")));
  }
  if (selection.smallest > 0 && static_cast<size_t>(selection.smallest) < names.size()) {
    std::vector<std::pair<uintmax_t, std::string>> by_size;
    for (const std::string& name : names) {
      by_size.emplace_back(fs::file_size(fs::path(directory) / name / "model.onnx"), name);
    }
    std::sort(by_size.begin(), by_size.end());
    const auto limit = by_size[static_cast<size_t>(selection.smallest)];
    auto too_large = [&](const std::string& name) {
      return std::make_pair(fs::file_size(fs::path(directory) / name / "model.onnx"), name) >= limit;
    };
    names.erase(std::remove_if(names.begin(), names.end(), too_large), names.end());
  }
  std::vector<std::string> directories;
  for (const std::string& name : names) directories.push_back(absl::StrCat(directory, "/", name));
  return directories;
}

}  // namespace aot::tests
