// Fuzzes the model reader and the importer: bytes of a model to a verified nn module, or to a status.
//
// Symbolic dimensions are bound to small numbers, and one blob of external data is at hand, so that few inputs end
// early.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>

#include "compiler/import/onnx/import.h"
#include "compiler/import/onnx/model_mutator.h"
#include "compiler/import/onnx/proto_reader.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace aot::import::onnx {
namespace {

// Messages must be printable, whatever names the model has: they go to logs and terminals.
void CheckMessage(const absl::Status& status) {
  if (status.ok()) return;
  if (status.message().empty() || absl::IsInternal(status)) {
    fprintf(stderr, "not a user's status: %s\n", status.ToString().c_str());
    abort();
  }
  for (char c : status.message()) {
    if (static_cast<uint8_t>(c) < 0x20 && c != '\n') abort();
  }
}

// A new context takes longer than most imports, but what inputs leave in one must not pile up.
mlir::MLIRContext& Context() {
  constexpr int kInputsOfOne = 100;
  static std::unique_ptr<mlir::MLIRContext> context;
  static int inputs = 0;
  if (inputs++ % kInputsOfOne == 0) {
    context = std::make_unique<mlir::MLIRContext>(mlir::MLIRContext::Threading::DISABLED);
  }
  return *context;
}

void ImportOnce(const std::string& bytes) {
  compiler::Model model;
  model.bytes = bytes;
  model.external["blob"] = std::string(256, '\1');
  compiler::Options options;
  if (auto proto = ParseModel(bytes); proto.ok()) {
    for (const ValueInfoProto& input : (*proto)->graph().input()) {
      for (const auto& dim : input.type().tensor_type().shape().dim()) {
        if (!dim.dim_param().empty())
          options.dims[dim.dim_param()] = 1 + static_cast<int64_t>(dim.dim_param().size() % 3);
      }
    }
  }
  mlir::MLIRContext& context = Context();
  CheckMessage(Import(context, model, options).status());
  if (!options.dims.empty()) CheckMessage(Import(context, model, {}).status());
}

}  // namespace
}  // namespace aot::import::onnx

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  aot::import::onnx::ImportOnce(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size, unsigned int seed) {
  std::minstd_rand random(seed);
  aot::onnx::ModelProto model;
  if (random() % 8 == 0 || !model.ParseFromArray(data, static_cast<int>(size))) {
    return LLVMFuzzerMutate(data, size, max_size);
  }
  const aot::onnx::ModelProto other = model;
  aot::import::onnx::MutateModel(model, other, random);
  const size_t result = model.ByteSizeLong();
  if (result > max_size) return size;
  model.SerializeToArray(data, static_cast<int>(max_size));
  return result;
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* a, size_t a_size, const uint8_t* b, size_t b_size,
                                            uint8_t* out, size_t max_size, unsigned int seed) {
  std::minstd_rand random(seed);
  aot::onnx::ModelProto model, other;
  if (!model.ParseFromArray(a, static_cast<int>(a_size)) || !other.ParseFromArray(b, static_cast<int>(b_size)))
    return 0;
  aot::import::onnx::MutateModel(model, other, random);
  const size_t result = model.ByteSizeLong();
  if (result > max_size) return 0;
  model.SerializeToArray(out, static_cast<int>(max_size));
  return result;
}
