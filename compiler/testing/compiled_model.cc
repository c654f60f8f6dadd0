#include "compiler/testing/compiled_model.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>

#include "absl/strings/str_cat.h"
#include "compiler/testing/guarded_buffer.h"
#include "runtime/include/aot/aot.h"

namespace aot::testing {
namespace {

using reference::Tensor;

struct Unload {
  void operator()(aot_model* model) const { aot_unload(model); }
};

}  // namespace

absl::StatusOr<std::vector<Tensor>> CompileAndRun(const compiler::Model& model, const compiler::Options& options,
                                                  const std::vector<Tensor>& inputs) {
  auto info = compiler::Check(model, options);
  if (!info.ok()) return info.status();
  auto artifact = compiler::Compile(model, options);
  if (!artifact.ok()) return artifact.status();
  auto file = compiler::SharedObject(*artifact);
  if (!file.ok()) return file.status();
  // Used in place, so that the file's end is the guard's begin; the weights need their alignment.
  GuardedBuffer memory(file->size(), 64);
  std::memcpy(memory.data(), file->data(), file->size());
  aot_error error = {};
  aot_model* loaded = nullptr;
  if (aot_load_memory(memory.data(), memory.size(), nullptr, &loaded, &error) != AOT_OK) {
    return absl::InternalError(error.message);
  }
  std::unique_ptr<aot_model, Unload> owner(loaded);

  std::vector<std::unique_ptr<GuardedBuffer>> buffers;
  auto make_buffer = [&](size_t bytes, size_t alignment) {
    buffers.push_back(std::make_unique<GuardedBuffer>(bytes, alignment));
    return buffers.back()->data();
  };
  if (inputs.size() != info->inputs.size()) return absl::InvalidArgumentError("the model has another number of inputs");
  std::vector<const void*> input_data;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!(inputs[i].type() == info->inputs[i].type)) {
      return absl::InvalidArgumentError(absl::StrCat("input ", i, " has another type"));
    }
    uint8_t* data =
        make_buffer(inputs[i].bytes().size(), static_cast<size_t>(reference::StorageBits(inputs[i].element())) / 8);
    std::copy(inputs[i].bytes().begin(), inputs[i].bytes().end(), data);
    input_data.push_back(data);
  }
  std::vector<Tensor> outputs;
  std::vector<void*> output_data;
  for (const compiler::ValueInfo& output : info->outputs) {
    outputs.emplace_back(output.type);
    output_data.push_back(make_buffer(outputs.back().bytes().size(),
                                      static_cast<size_t>(reference::StorageBits(output.type.element)) / 8));
  }
  aot_run_args args = {};
  args.size = sizeof args;
  args.inputs = input_data.data();
  args.outputs = output_data.data();
  args.input_count = static_cast<uint32_t>(inputs.size());
  args.output_count = static_cast<uint32_t>(outputs.size());
  args.arena_bytes = aot_arena_bytes(loaded);
  args.arena = make_buffer(args.arena_bytes, aot_arena_alignment(loaded));
  args.error = &error;
  if (aot_run(loaded, &args) != AOT_OK) return absl::InternalError(error.message);
  for (const auto& buffer : buffers) {
    if (!buffer->Intact()) return absl::InternalError("the code wrote beside an input, an output or the arena");
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    std::memcpy(outputs[i].mutable_bytes().data(), output_data[i], outputs[i].bytes().size());
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (std::memcmp(inputs[i].bytes().data(), input_data[i], inputs[i].bytes().size()) != 0) {
      return absl::InternalError(absl::StrCat("the code wrote to input ", i));
    }
  }
  return outputs;
}

double Distance(const std::vector<Tensor>& got, const std::vector<Tensor>& want) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (got.size() != want.size()) return kInfinity;
  double worst = 0;
  for (size_t t = 0; t < want.size(); ++t) {
    if (!(got[t].type() == want[t].type())) return kInfinity;
    double largest = 1e-30, error = 0;
    for (int64_t i = 0; i < want[t].size(); ++i) {
      if (!reference::IsFloat(want[t].element())) {
        if (got[t].GetInt(i) != want[t].GetInt(i)) return kInfinity;
        continue;
      }
      const double a = got[t].GetFloat(i), b = want[t].GetFloat(i);
      if (std::isnan(a) != std::isnan(b)) return kInfinity;
      if (std::isnan(b) || a == b) continue;
      if (std::isinf(a) || std::isinf(b)) return kInfinity;
      error = std::max(error, std::fabs(a - b));
      largest = std::max(largest, std::fabs(b));
    }
    worst = std::max(worst, error / largest);
  }
  return worst;
}

}  // namespace aot::testing
