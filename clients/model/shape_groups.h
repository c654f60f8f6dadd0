// Data sets bind a model's symbolic dimensions: an artifact has static shapes, so sets of different shapes need
// different artifacts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/tensor_io/data_set.h"

namespace aot::clients {

struct ShapeGroup {
  std::map<std::string, std::vector<int64_t>> input_shapes;  // as compiler::Options takes them
  std::vector<const DataSet*> sets;                          // of the caller's list, in its order
};

// Groups the sets by their inputs' shapes, in order of first appearance. `inputs` names the graph's inputs
// (GraphInputs). INVALID_ARGUMENT: a set has an input file beyond them.
absl::StatusOr<std::vector<ShapeGroup>> GroupByShape(const std::vector<DataSet>& sets,
                                                     const std::vector<std::string>& inputs);

}  // namespace aot::clients
