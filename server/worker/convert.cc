#include "server/worker/convert.h"

#include <string>

#include "compiler/reference/tensor.h"

namespace aot::server {
namespace {

void Convert(const compiler::ValueInfo& value, aot::v1::ValueInfo& proto) {
  proto.set_name(value.name);
  proto.set_type(std::string(reference::Name(value.type.element)));
  for (int64_t dim : value.type.shape) proto.add_dims(dim);
  proto.set_at_most(value.dims_output >= 0);
}

}  // namespace

aot::v1::Stage ToProto(compiler::Stage stage) {
  switch (stage) {
    case compiler::Stage::kImport:
      return aot::v1::STAGE_IMPORT;
    case compiler::Stage::kOptimize:
      return aot::v1::STAGE_OPTIMIZE;
    case compiler::Stage::kSchedule:
      return aot::v1::STAGE_SCHEDULE;
    case compiler::Stage::kGenerate:
      return aot::v1::STAGE_GENERATE;
    case compiler::Stage::kEmit:
      return aot::v1::STAGE_EMIT;
  }
  return aot::v1::STAGE_UNSPECIFIED;
}

aot::v1::ModelInfo ToProto(const compiler::ModelInfo& info) {
  aot::v1::ModelInfo proto;
  proto.set_graph_name(info.graph_name);
  for (const compiler::ValueInfo& value : info.inputs) Convert(value, *proto.add_inputs());
  for (const compiler::ValueInfo& value : info.outputs) Convert(value, *proto.add_outputs());
  for (const auto& [op, count] : info.operators) (*proto.mutable_operators())[op] = count;
  return proto;
}

}  // namespace aot::server
