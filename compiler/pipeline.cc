#include "compiler/pipeline.h"

#include <malloc.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "compiler/codegen/generate.h"
#include "compiler/emit/artifact.h"
#include "compiler/emit/link.h"
#include "compiler/graph/pipeline.h"
#include "compiler/import/onnx/import.h"
#include "compiler/ir/reference_bridge.h"
#include "compiler/schedule/describe.h"
#include "compiler/schedule/program.h"
#include "compiler/schedule_report.h"
#include "compiler/self_test.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"

namespace aot::compiler {
namespace {

namespace onnx = import::onnx;

absl::Status CheckOptions(const Options& options) {
  if (options.opt_level < 0 || options.opt_level > 3)
    return absl::InvalidArgumentError(absl::StrCat("opt_level is ", options.opt_level, "; 0 to 3 are allowed"));
  if (options.threads < 0 || options.threads > 1024)
    return absl::InvalidArgumentError(
        absl::StrCat("threads is ", options.threads, "; 0 (one for each core) to 1024 are allowed"));
  return absl::OkStatus();
}

// Collects what MLIR has to say while it is in scope.
class Diagnostics {
 public:
  explicit Diagnostics(mlir::MLIRContext& context)
      : handler_(&context, [this](mlir::Diagnostic& diagnostic) {
          std::lock_guard<std::mutex> lock(mutex_);
          if (text_.size() < 4096) absl::StrAppend(&text_, diagnostic.str(), "\n");
          return mlir::success();
        }) {}
  std::string text() {
    std::lock_guard<std::mutex> lock(mutex_);
    return text_;
  }

 private:
  std::mutex mutex_;
  std::string text_;
  mlir::ScopedDiagnosticHandler handler_;
};

// Programs of more operations aren't copied.
constexpr size_t kMostCopiedOperations = 20'000;

size_t OperationCount(mlir::ModuleOp module) {
  size_t count = 0;
  module.walk([&](mlir::Operation*) { ++count; });
  return count;
}

// Many small things were freed: the allocator would keep their pages, and what comes next would come on top.
void ReturnFreedPages() {
#ifdef __GLIBC__
  malloc_trim(0);
#endif
}

mlir::func::FuncOp MainOf(mlir::ModuleOp module) { return module.lookupSymbol<mlir::func::FuncOp>("main"); }

schedule::WeightGrowth GrowthOf(const Options& options) {
  if (options.opt_level == 0 || options.strict_math) return schedule::WeightGrowth::kNone;
  switch (options.optimize_for) {
    case OptimizeFor::kLatency:
      return schedule::WeightGrowth::kFree;
    case OptimizeFor::kBalanced:
      return schedule::WeightGrowth::kBounded;
    case OptimizeFor::kSize:
      break;
  }
  return schedule::WeightGrowth::kNone;
}

// Moves the names out of the program's plan.
emit::ManifestData Describe(const onnx::ImportedModel& model, schedule::Program& program, const Options& options,
                            const target::Description& target, const std::string& key,
                            const std::string& model_digest) {
  emit::ManifestData data;
  data.key = key;
  data.model_digest = model_digest;
  data.model_name = options.model_name.empty() ? model.graph_name : options.model_name;
  data.compiler_version = CompilerVersion();
  data.options = CanonicalOptions(options);
  data.SetTarget(target);
  data.arena_size = program.arena_size;
  data.arena_alignment = 64;
  data.scratch_size = 0;
  auto tensors = [](const std::vector<ValueInfo>& values) {
    std::vector<emit::Tensor> result;
    for (const ValueInfo& value : values) {
      emit::Tensor tensor;
      tensor.name = value.name;
      tensor.dtype = static_cast<aot_dtype>(value.type.element);
      tensor.dims = value.type.shape;
      result.push_back(std::move(tensor));
    }
    return result;
  };
  data.inputs = tensors(model.inputs);
  data.outputs = tensors(model.outputs);
  for (size_t i = 0; i < model.outputs.size(); ++i) {
    const int64_t dims = model.outputs[i].dims_output;
    if (dims >= 0) data.bounds.push_back({static_cast<uint32_t>(i), static_cast<uint32_t>(dims)});
  }
  for (schedule::ArenaEntry& entry : program.arena) {
    data.plan.push_back({std::move(entry.name), static_cast<uint64_t>(entry.offset), static_cast<uint64_t>(entry.bytes),
                         static_cast<uint32_t>(entry.first_step), static_cast<uint32_t>(entry.last_step)});
  }
  for (const auto& [name, count] : model.operators) data.operators.push_back({name, static_cast<uint32_t>(count)});
  return data;
}

}  // namespace

absl::StatusOr<Artifact> Compile(const Model& model, const Options& options, const Progress& progress) {
  auto report = [&](Stage stage, int done, int total) {
    if (progress) progress(stage, done, total);
  };
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  auto target = target::Find(options.target);
  if (!target.ok()) return target.status();
  std::string model_digest = ModelDigest(model);
  auto key = ArtifactKey(model_digest, options);
  if (!key.ok()) return key.status();

  report(Stage::kImport, 0, 1);
  auto context = std::make_unique<mlir::MLIRContext>();
  auto diagnostics = std::make_unique<Diagnostics>(*context);
  auto imported = onnx::Import(*context, model, options);
  if (!imported.ok()) return imported.status();
  ReturnFreedPages();
  report(Stage::kImport, 1, 1);

  // The reference runs beside the rest, on a copy of the model as it was imported; of a long program before the rest,
  // for a copy takes as much memory as the program.
  const bool beside = OperationCount(*imported->module) <= kMostCopiedOperations;
  mlir::OwningOpRef<mlir::ModuleOp> copy = beside ? imported->module->clone() : mlir::ModuleOp();
  auto self_test = std::async(std::launch::async,
                              [&, main = MainOf(beside ? *copy : *imported->module)] { return MakeSelfTest(main); });
  if (!beside) self_test.wait();

  report(Stage::kOptimize, 0, 1);
  {
    mlir::PassManager passes(context.get());
    graph::BuildGraphPipeline(passes, options.opt_level, options.strict_math);
    if (mlir::failed(passes.run(*imported->module)))
      return absl::InternalError(absl::StrCat("a graph pass failed: ", diagnostics->text()));
  }
  report(Stage::kOptimize, 1, 1);

  report(Stage::kSchedule, 0, 1);
  auto program = schedule::BuildProgram(MainOf(*imported->module), **target, GrowthOf(options));
  if (!program.ok()) return program.status();
  imported->module = nullptr;
  ReturnFreedPages();
  auto weights = schedule::PackWeights(*program);
  if (!weights.ok()) return weights.status();
  program->weights = {};
  // From here on the program is all that is needed, but for a self-test that isn't ready.
  if (self_test.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
    copy = nullptr;
    diagnostics = nullptr;
    context = nullptr;
    imported->storage = nullptr;
  }
  ReturnFreedPages();
  report(Stage::kSchedule, 1, 1);

  auto objects = codegen::GenerateObjects(*program, **target, absl::HexStringToBytes(*key), options.threads,
                                          [&](int done, int total) { report(Stage::kGenerate, done, total); });
  if (!objects.ok()) return objects.status();
  program->kernels = {};
  program->steps = {};
  ReturnFreedPages();

  report(Stage::kEmit, 0, 1);
  auto code = emit::LinkCode(*std::move(objects), **target, static_cast<uint64_t>(program->weights_size));
  if (!code.ok()) return code.status();
  auto vector = self_test.get();
  if (!vector.ok()) return vector.status();
  emit::ManifestData data = Describe(*imported, *program, options, **target, *key, model_digest);
  data.self_test = *std::move(vector);
  auto artifact = emit::BuildArtifact(data, *std::move(code), *std::move(weights));
  if (artifact.ok()) report(Stage::kEmit, 1, 1);
  return artifact;
}

absl::StatusOr<ScheduleReport> ReportSchedule(const Model& model, const Options& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  auto target = target::Find(options.target);
  if (!target.ok()) return target.status();
  auto key = ArtifactKey(ModelDigest(model), options);
  if (!key.ok()) return key.status();
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics(context);
  auto imported = onnx::Import(context, model, options);
  if (!imported.ok()) return imported.status();
  auto build = [&](mlir::ModuleOp module, int opt_level,
                   schedule::WeightGrowth growth) -> absl::StatusOr<schedule::Program> {
    mlir::PassManager passes(&context);
    graph::BuildGraphPipeline(passes, opt_level, options.strict_math);
    if (mlir::failed(passes.run(module)))
      return absl::InternalError(absl::StrCat("a graph pass failed: ", diagnostics.text()));
    return schedule::BuildProgram(MainOf(module), **target, growth);
  };
  ScheduleReport report;
  report.artifact = *key;
  report.target = options.target;
  {
    // What memory would be needed if nothing were fused. Before the real schedule: folding may replace constants.
    mlir::OwningOpRef<mlir::ModuleOp> untouched = imported->module->clone();
    auto unfused = build(*untouched, 0, schedule::WeightGrowth::kNone);
    if (!unfused.ok()) return unfused.status();
    report.arena_unfused = unfused->arena_size;
  }
  auto program = build(*imported->module, options.opt_level, GrowthOf(options));
  if (!program.ok()) return program.status();
  std::vector<std::string> outputs;
  for (const ValueInfo& output : imported->outputs) outputs.push_back(output.name);
  auto steps = schedule::DescribeSteps(*program, **target, outputs);
  if (!steps.ok()) return steps.status();
  report.steps = *std::move(steps);
  report.arena_bytes = program->arena_size;
  report.arena_lower_bound = program->arena_lower_bound;
  report.arena_without_reuse = program->arena_without_reuse;
  report.weights_bytes = program->weights_size;
  return report;
}

absl::StatusOr<ModelInfo> Check(const Model& model, const Options& options) {
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics(context);
  auto imported = onnx::Import(context, model, options);
  if (!imported.ok()) return imported.status();
  return ModelInfo{imported->graph_name, imported->inputs, imported->outputs, imported->operators};
}

absl::StatusOr<std::vector<reference::Tensor>> RunReference(const Model& model, const Options& options,
                                                            const std::vector<reference::Tensor>& inputs) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics(context);
  auto imported = onnx::Import(context, model, options);
  if (!imported.ok()) return imported.status();
  auto outputs = nn::Interpret(MainOf(*imported->module), inputs);
  if (!outputs.ok()) return outputs.status();
  // Outputs that are constants point into the model: give each its own bytes. Packed outputs start with their elements.
  std::vector<reference::Tensor> results;
  for (size_t i = 0; i < outputs->size(); ++i) {
    const reference::Tensor& output = (*outputs)[i];
    reference::TensorType type = output.type();
    if (const int64_t dims = imported->outputs[i].dims_output; dims >= 0) {
      for (size_t d = 0; d < type.shape.size(); ++d) {
        type.shape[d] = (*outputs)[static_cast<size_t>(dims)].GetInt(static_cast<int64_t>(d));
      }
    }
    reference::Tensor copy(type);
    const absl::Span<uint8_t> bytes = copy.mutable_bytes();
    std::copy_n(output.bytes().begin(), bytes.size(), bytes.begin());
    results.push_back(std::move(copy));
  }
  return results;
}

absl::StatusOr<std::string> SharedObject(const Artifact& artifact) { return emit::SharedObject(artifact); }

}  // namespace aot::compiler
