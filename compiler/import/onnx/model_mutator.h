// Changes that keep a model a model, for fuzzing: flipped bytes of a serialised message are rejected by the parser most
// of the time and never reach the importer.
#pragma once

#include <cstdint>
#include <random>

#include "third_party/onnx/onnx.pb.h"

namespace aot::import::onnx {

// Makes one to four random changes: operators, operands, attributes, types, dimensions, constants, opsets, subgraphs;
// some take parts of `other`. What comes out is often wrong, which is the point, but parses.
void MutateModel(aot::onnx::ModelProto& model, const aot::onnx::ModelProto& other, std::minstd_rand& random);

}  // namespace aot::import::onnx
