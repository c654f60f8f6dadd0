// Shrinks a model for which something goes wrong to a few nodes for which it still does.
//
// Delta debugging (Zeller and Hildebrandt, "Simplifying and isolating failure-inducing input", 2002) over outputs,
// nodes, attributes, dimensions and initialisers. What a removed node gave becomes an input of the graph.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "third_party/onnx/onnx.pb.h"

namespace aot::tools {

// Whether a model still shows the fault. Called with models that may be invalid.
using StillFails = std::function<bool(const aot::onnx::ModelProto& model)>;

struct ReduceOptions {
  std::map<std::string, int64_t> dims;  // sizes of symbolic dimensions
  int64_t most_tries = 10'000;          // calls of StillFails
};

// The smallest model found. `model` must fail; it is never made larger. The same arguments give the same result if
// `still_fails` does.
aot::onnx::ModelProto ReduceModel(const aot::onnx::ModelProto& model, const ReduceOptions& options,
                                  const StillFails& still_fails);

}  // namespace aot::tools
