// A model's data sets in the layout of the ONNX backend suite: DIR/test_data_set_K/input_I.pb and output_I.pb beside
// DIR/model.onnx.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "clients/tensor_io/onnx_tensor.h"

namespace aot::clients {

struct DataSet {
  int index = 0;  // K
  std::string directory;
  // By I: the position among the graph's inputs that no initializer backs, and among its outputs. Each tensor carries
  // the graph's name.
  std::map<int, NamedTensor> inputs, outputs;
  // Files of the set that hold something else than a tensor (sequences, maps), by name.
  std::vector<std::string> not_tensors;
};

// All sets of a model's directory in order of K; empty if it has none. Errors name the file.
absl::StatusOr<std::vector<DataSet>> ReadDataSets(const std::string& model_directory);

}  // namespace aot::clients
