// A model as a user has it on disk: an ONNX file and the external data files that it names.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/pipeline.h"

namespace aot::clients {

// Reads the model and every file that one of its tensors gives as external data. Only regular files inside the model's
// own directory are read, symbolic links followed: a model from a stranger must not be able to have other files of this
// machine uploaded. Bytes that aren't ONNX come back as they are: the compiler judges them. NOT_FOUND: the model or an
// external file is missing; PERMISSION_DENIED: an external location leads out of the directory.
absl::StatusOr<compiler::Model> ReadModel(const std::string& path);

// The names of the graph's inputs that no initializer backs, in order: what data files number and artifacts take.
// INVALID_ARGUMENT: the bytes aren't an ONNX model.
absl::StatusOr<std::vector<std::string>> GraphInputs(const compiler::Model& model);

// "ppocrv4_rec" for "models/ppocrv4_rec/model.onnx", "mnist" for "mnist.onnx": a name for people and files.
std::string ModelName(const std::string& path);

}  // namespace aot::clients
