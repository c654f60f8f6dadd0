// Expected outputs that ONNX types as a sequence of maps (ZipMap): a row of labels and scores for each entry.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "compiler/reference/tensor.h"

namespace aot::tests {

// Reads output_I.seqmap.json: {"keys": [labels], "value": [{"label": score}]}. Gives the scores as artifacts do,
// float32 [rows, labels] with the labels in the order of "keys".
absl::StatusOr<reference::Tensor> ReadSequenceOfMaps(const std::string& path);

// The I of "output_I.seqmap.json", or -1.
int SequenceOfMapsOutput(const std::string& file_name);

}  // namespace aot::tests
