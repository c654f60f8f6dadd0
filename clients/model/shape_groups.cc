#include "clients/model/shape_groups.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace aot::clients {

absl::StatusOr<std::vector<ShapeGroup>> GroupByShape(const std::vector<DataSet>& sets,
                                                     const std::vector<std::string>& inputs) {
  std::vector<ShapeGroup> groups;
  for (const DataSet& set : sets) {
    std::map<std::string, std::vector<int64_t>> shapes;
    for (const auto& [index, input] : set.inputs) {
      if (static_cast<size_t>(index) >= inputs.size()) {
        return absl::InvalidArgumentError(
            absl::StrCat(set.directory, "/input_", index, ".pb: the model has only ", inputs.size(), " inputs"));
      }
      shapes[inputs[static_cast<size_t>(index)]] = input.tensor.shape();
    }
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const ShapeGroup& g) { return g.input_shapes == shapes; });
    if (group == groups.end()) group = groups.insert(groups.end(), ShapeGroup{std::move(shapes), {}});
    group->sets.push_back(&set);
  }
  return groups;
}

}  // namespace aot::clients
