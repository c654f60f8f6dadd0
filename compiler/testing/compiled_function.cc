#include "compiler/testing/compiled_function.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>

#include "absl/strings/str_cat.h"
#include "compiler/codegen/generate.h"
#include "compiler/emit/artifact.h"
#include "compiler/emit/link.h"
#include "compiler/graph/pipeline.h"
#include "compiler/ir/NnDialect.h"
#include "compiler/ir/reference_bridge.h"
#include "compiler/schedule/program.h"
#include "compiler/target/target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "runtime/include/aot/aot.h"

namespace aot::testing {
namespace {

reference::Tensor RandomTensor(const reference::TensorType& type, std::mt19937_64& random) {
  reference::Tensor tensor(type);
  std::uniform_real_distribution<double> real(-2, 2);
  bool is_byte = type.element == reference::ElementType::kInt8 || type.element == reference::ElementType::kUint8;
  std::uniform_int_distribution<int64_t> integer(is_byte ? -128 : -4, is_byte ? 127 : 4);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (reference::IsFloat(type.element))
      tensor.SetFloat(i, real(random));
    else if (type.element == reference::ElementType::kBool)
      tensor.SetInt(i, integer(random) > 0);
    else
      tensor.SetInt(
          i, reference::IsUnsignedInteger(type.element) && !is_byte ? std::abs(integer(random)) : integer(random));
  }
  return tensor;
}

double Difference(const reference::Tensor& got, const reference::Tensor& want) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  double largest = 1e-30, error = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    if (!reference::IsFloat(want.element())) {
      if (got.GetInt(i) != want.GetInt(i)) return kInfinity;
      continue;
    }
    double a = got.GetFloat(i), b = want.GetFloat(i);
    if (std::isnan(a) != std::isnan(b)) return kInfinity;
    if (std::isnan(a) || a == b) continue;
    error = std::max(error, std::fabs(a - b));
    if (std::isfinite(b)) largest = std::max(largest, std::fabs(b));
  }
  return error / largest;
}

emit::Tensor Describe(const reference::TensorType& type, const std::string& name) {
  emit::Tensor tensor;
  tensor.name = name;
  tensor.dtype = static_cast<aot_dtype>(type.element);
  tensor.dims = type.shape;
  return tensor;
}

}  // namespace

std::vector<std::string> RunnableTargets() {
  std::vector<std::string> names;
#if defined(__x86_64__)
  names.push_back("x86-64-v2");
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) names.push_back("x86-64-v3");
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq")) {
    names.push_back("x86-64-v4");
    if (__builtin_cpu_supports("avx512vnni")) names.push_back("x86-64-v4-vnni");
  }
#else
  names.push_back("cortex-a53");
#endif
  return names;
}

std::string HostTarget() { return RunnableTargets().back(); }

absl::StatusOr<Comparison> CompileAndCompare(absl::string_view text, absl::string_view target_name, int opt_level,
                                             uint64_t seed, const std::vector<std::pair<unsigned, unsigned>>& states,
                                             int runs) {
  auto target = target::Find(target_name);
  if (!target.ok()) return target.status();
  mlir::MLIRContext context;
  context.loadDialect<nn::NnDialect, mlir::func::FuncDialect>();
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic& d) {
    absl::StrAppend(&errors, d.str(), "\n");
    return mlir::success();
  });
  auto module = mlir::parseSourceString<mlir::ModuleOp>(llvm::StringRef(text.data(), text.size()), &context);
  if (!module) return absl::InvalidArgumentError(errors);
  auto function = module->lookupSymbol<mlir::func::FuncOp>("main");

  Comparison result;
  emit::ManifestData data;
  std::mt19937_64 random(seed);
  std::vector<reference::Tensor> inputs;
  for (mlir::Type type : function.getArgumentTypes()) {
    auto tensor_type = nn::ToTensorType(type);
    if (!tensor_type.ok()) return tensor_type.status();
    data.inputs.push_back(Describe(*tensor_type, absl::StrCat("in", inputs.size())));
    inputs.push_back(RandomTensor(*tensor_type, random));
  }
  // All runs of the reference first: the passes change the function.
  std::vector<std::vector<reference::Tensor>> run_inputs, run_outputs;
  for (int run = 0; run < runs; ++run) {
    if (run > 0) {
      for (reference::Tensor& input : inputs) input = RandomTensor(input.type(), random);
      for (auto [input, output] : states) inputs[input] = run_outputs.back()[output];
    }
    auto want = nn::Interpret(function, inputs);
    if (!want.ok()) return want.status();
    run_inputs.push_back(inputs);
    run_outputs.push_back(*std::move(want));
  }
  result.want = run_outputs.back();

  mlir::PassManager passes(&context);
  graph::BuildGraphPipeline(passes, opt_level, /*strict_math=*/false);
  if (mlir::failed(passes.run(*module))) return absl::InternalError(errors);
  std::vector<schedule::State> pairs;
  for (auto [input, output] : states) {
    pairs.push_back({input, output});
    data.states.push_back({input, output});
  }
  auto program =
      schedule::BuildProgram(module->lookupSymbol<mlir::func::FuncOp>("main"), **target,
                             opt_level == 0 ? schedule::WeightGrowth::kNone : schedule::WeightGrowth::kFree, pairs);
  if (!program.ok()) return program.status();
  result.program_steps = program->steps.size();
  std::string key(32, '\1');
  auto objects = codegen::GenerateObjects({&*program, 1}, program->weights_size, **target, key, 2, nullptr);
  if (!objects.ok()) return objects.status();
  auto code = emit::LinkCode(*objects, **target, program->weights_size);
  if (!code.ok()) return code.status();
  auto weights = schedule::PackWeights(*program);
  if (!weights.ok()) return weights.status();

  data.key = data.model_digest = std::string(64, '0');
  for (size_t i = 0; i < 32; ++i) data.key[2 * i + 1] = '1';
  data.model_name = "test";
  data.SetTarget(**target);
  data.arena_size = program->arena_size;
  std::vector<void*> outputs;
  for (const reference::Tensor& tensor : result.want) {
    data.outputs.push_back(Describe(tensor.type(), absl::StrCat("out", result.got.size())));
    result.got.emplace_back(tensor.type());
    outputs.push_back(result.got.back().mutable_bytes().data());
  }
  auto artifact = emit::BuildArtifact(data, *std::move(code), *std::move(weights));
  if (!artifact.ok()) return artifact.status();
  auto shared_object = emit::SharedObject(*artifact);
  if (!shared_object.ok()) return shared_object.status();

  // An artifact that is loaded from memory is used in place: its weights need their alignment.
  std::unique_ptr<void, decltype(&std::free)> memory(std::aligned_alloc(64, (shared_object->size() + 63) / 64 * 64),
                                                     &std::free);
  std::memcpy(memory.get(), shared_object->data(), shared_object->size());
  aot_error error = {};
  aot_model* model = nullptr;
  if (aot_load_memory(memory.get(), shared_object->size(), nullptr, &model, &error) != AOT_OK)
    return absl::InternalError(error.message);
  // The first run brings each state; the rest finds it in its place.
  // Copies of tensors share their elements, also with results that are inputs: these need elements of their own.
  inputs.clear();
  for (const reference::Tensor& tensor : run_inputs.front()) {
    inputs.emplace_back(tensor.type());
    std::copy(tensor.bytes().begin(), tensor.bytes().end(), inputs.back().mutable_bytes().begin());
  }
  std::vector<void*> input_pointers;
  for (reference::Tensor& tensor : inputs) input_pointers.push_back(tensor.mutable_bytes().data());
  for (auto [input, output] : states) outputs[output] = input_pointers[input];
  aot_status status = AOT_OK;
  for (int run = 0; status == AOT_OK && run < runs; ++run) {
    for (size_t i = 0; run > 0 && i < inputs.size(); ++i) {
      bool is_state = std::any_of(states.begin(), states.end(), [&](const auto& pair) { return pair.first == i; });
      absl::Span<const uint8_t> next = run_inputs[run][i].bytes();
      if (!is_state) std::copy(next.begin(), next.end(), static_cast<uint8_t*>(input_pointers[i]));
    }
    aot_run_args args = {};
    args.size = sizeof args;
    args.inputs = input_pointers.data();
    args.outputs = outputs.data();
    args.input_count = static_cast<uint32_t>(inputs.size());
    args.output_count = static_cast<uint32_t>(outputs.size());
    args.error = &error;
    status = aot_run(model, &args);
    for (auto [input, output] : states) {
      absl::Span<const uint8_t> after = inputs[input].bytes();
      std::copy(after.begin(), after.end(), result.got[output].mutable_bytes().begin());
    }
    for (size_t i = 0; i < result.got.size(); ++i)
      result.error = std::max(result.error, Difference(result.got[i], run_outputs[run][i]));
  }
  aot_unload(model);
  if (status != AOT_OK) return absl::InternalError(error.message);
  return result;
}

}  // namespace aot::testing
