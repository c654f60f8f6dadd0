#include "compiler/pipeline.h"

#include <malloc.h>

#include <chrono>
#include <future>
#include <memory>
#include <mutex>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
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

// The names of values for a message; not all of a model with thousands.
std::string NamesOf(const std::vector<ValueInfo>& values) {
  constexpr size_t kMost = 20;
  auto end = values.begin() + static_cast<ptrdiff_t>(std::min(values.size(), kMost));
  auto add = [](std::string* out, const ValueInfo& value) { absl::StrAppend(out, "'", value.name, "'"); };
  return absl::StrCat(absl::StrJoin(values.begin(), end, ", ", add), values.size() > kMost ? ", ..." : "");
}

absl::StatusOr<unsigned> NumberOf(const std::string& name, const std::vector<ValueInfo>& values, absl::string_view role,
                                  absl::string_view state) {
  for (size_t i = 0; i < values.size(); ++i)
    if (values[i].name == name) return static_cast<unsigned>(i);
  return absl::InvalidArgumentError(
      absl::StrCat(state, ": the model has no ", role, " '", name, "'; ", role, "s: ", NamesOf(values)));
}

// The numbers of what the option names.
absl::StatusOr<std::vector<schedule::State>> ResolveStates(const onnx::ImportedModel& model, const Options& options) {
  std::vector<schedule::State> states;
  for (const auto& [input, output] : options.states) {
    std::string what = absl::StrCat("state '", input, "' = '", output, "'");
    auto from = NumberOf(input, model.inputs, "input", what);
    if (!from.ok()) return from.status();
    auto to = NumberOf(output, model.outputs, "output", what);
    if (!to.ok()) return to.status();
    const reference::TensorType &before = model.inputs[*from].type, &after = model.outputs[*to].type;
    if (before.element != after.element || before.shape != after.shape)
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": the input is ", reference::Name(before.element), " ", reference::ToString(before.shape),
                       ", the output ", reference::Name(after.element), " ", reference::ToString(after.shape),
                       "; a state keeps its type and shape"));
    if (model.outputs[*to].dims_output >= 0)
      return absl::InvalidArgumentError(
          absl::StrCat(what, ": the data decides the output's dimensions; a state keeps its shape"));
    states.push_back({*from, *to});
  }
  return states;
}

// Moves the names out of the program's plan.
emit::ManifestData Describe(const onnx::ImportedModel& model, const std::vector<schedule::State>& states,
                            schedule::Program& program, const Options& options, const target::Description& target,
                            const std::string& key, const std::string& model_digest) {
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
  for (const schedule::State& state : states) data.states.push_back({state.input, state.output});
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

// One binding of the dimensions on its way from the model's bytes to a program. The reference runs beside the rest, on
// a copy of the model as it was imported; of a long program before the rest, for a copy takes as much memory as the
// program.
struct Preparation {
  std::unique_ptr<mlir::MLIRContext> context = std::make_unique<mlir::MLIRContext>();
  std::unique_ptr<Diagnostics> diagnostics = std::make_unique<Diagnostics>(*context);
  onnx::ImportedModel imported;
  std::vector<schedule::State> states;
  mlir::OwningOpRef<mlir::ModuleOp> copy;
  schedule::Program program;
  std::future<absl::StatusOr<std::optional<emit::SelfTest>>> self_test;  // last: it ends before the rest goes

  // After the weights are packed the program is all that is needed, but for a self-test that isn't ready.
  void GiveMemoryBack() {
    program.weights = {};
    if (self_test.wait_for(std::chrono::seconds(0)) == std::future_status::ready) {
      copy = nullptr;
      diagnostics = nullptr;
      context = nullptr;
      imported.storage = nullptr;
    }
    ReturnFreedPages();
  }
};

using Report = std::function<void(Stage stage, int done, int total)>;

absl::StatusOr<std::unique_ptr<Preparation>> Prepare(const Model& model, const Options& options,
                                                     const target::Description& target, const Report& report) {
  auto p = std::make_unique<Preparation>();
  report(Stage::kImport, 0, 1);
  auto imported = onnx::Import(*p->context, model, options);
  if (!imported.ok()) return imported.status();
  p->imported = *std::move(imported);
  auto states = ResolveStates(p->imported, options);
  if (!states.ok()) return states.status();
  p->states = *std::move(states);
  ReturnFreedPages();
  report(Stage::kImport, 1, 1);

  const bool beside = OperationCount(*p->imported.module) <= kMostCopiedOperations;
  if (beside) p->copy = p->imported.module->clone();
  p->self_test = std::async(std::launch::async,
                            [main = MainOf(beside ? *p->copy : *p->imported.module)] { return MakeSelfTest(main); });
  if (!beside) p->self_test.wait();

  report(Stage::kOptimize, 0, 1);
  {
    mlir::PassManager passes(p->context.get());
    graph::BuildGraphPipeline(passes, options.opt_level, options.strict_math);
    if (mlir::failed(passes.run(*p->imported.module)))
      return absl::InternalError(absl::StrCat("a graph pass failed: ", p->diagnostics->text()));
  }
  report(Stage::kOptimize, 1, 1);

  report(Stage::kSchedule, 0, 1);
  auto program = schedule::BuildProgram(MainOf(*p->imported.module), target, GrowthOf(options), p->states);
  if (!program.ok()) return program.status();
  p->program = *std::move(program);
  p->imported.module = nullptr;
  ReturnFreedPages();
  return p;
}

// The options of one bucket.
Options OptionsOf(const Options& options, const std::map<std::string, int64_t>& bucket) {
  Options one = options;
  one.buckets.clear();
  one.dims.insert(bucket.begin(), bucket.end());
  return one;
}

// All buckets, one after the other: of each, what stays are its program and its description, while weights go into one
// segment. So no more than one copy of the model is in memory at a time.
absl::StatusOr<Artifact> CompileBuckets(const Model& model, const Options& options, const target::Description& target,
                                        const std::string& key, const std::string& model_digest, const Report& report) {
  std::vector<schedule::Program> programs;
  schedule::WeightSegment segment;
  emit::ManifestData data;
  for (const auto& bucket : options.buckets) {
    auto named = [&](const absl::Status& status) {
      return absl::Status(status.code(), absl::StrCat("bucket ", BucketName(bucket), ": ", status.message()));
    };
    auto p = Prepare(model, OptionsOf(options, bucket), target, report);
    if (!p.ok()) return named(p.status());
    if (absl::Status status = segment.Add((*p)->program); !status.ok()) return named(status);
    report(Stage::kSchedule, 1, 1);
    auto vector = (*p)->self_test.get();
    if (!vector.ok()) return named(vector.status());
    emit::ManifestData one = Describe((*p)->imported, (*p)->states, (*p)->program, options, target, key, model_digest);
    one.self_test = *std::move(vector);
    if (data.buckets.empty()) {
      data = one;
      data.plan.clear();
      data.self_test.reset();
    }
    data.arena_size = std::max(data.arena_size, one.arena_size);
    one.cpu_features.clear();
    one.operators.clear();
    data.buckets.push_back({BucketName(bucket), std::move(one)});
    programs.push_back(std::move((*p)->program));
  }
  std::string weights = segment.Take();
  schedule::ShareKernels(programs);
  auto objects =
      codegen::GenerateObjects(programs, static_cast<int64_t>(weights.size()), target, absl::HexStringToBytes(key),
                               options.threads, [&](int done, int total) { report(Stage::kGenerate, done, total); });
  if (!objects.ok()) return objects.status();
  report(Stage::kEmit, 0, 1);
  auto code = emit::LinkCode(*std::move(objects), target, weights.size());
  if (!code.ok()) return code.status();
  auto artifact = emit::BuildArtifact(data, *std::move(code), std::move(weights));
  if (artifact.ok()) report(Stage::kEmit, 1, 1);
  return artifact;
}

}  // namespace

absl::StatusOr<Artifact> Compile(const Model& model, const Options& options, const Progress& progress) {
  Report report = [&](Stage stage, int done, int total) {
    if (progress) progress(stage, done, total);
  };
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  auto target = target::Find(options.target);
  if (!target.ok()) return target.status();
  std::string model_digest = ModelDigest(model);
  auto key = ArtifactKey(model_digest, options);
  if (!key.ok()) return key.status();
  if (!options.buckets.empty()) return CompileBuckets(model, options, **target, *key, model_digest, report);

  auto prepared = Prepare(model, options, **target, report);
  if (!prepared.ok()) return prepared.status();
  Preparation& p = **prepared;
  auto weights = schedule::PackWeights(p.program);
  if (!weights.ok()) return weights.status();
  p.GiveMemoryBack();
  report(Stage::kSchedule, 1, 1);

  auto objects =
      codegen::GenerateObjects({&p.program, 1}, p.program.weights_size, **target, absl::HexStringToBytes(*key),
                               options.threads, [&](int done, int total) { report(Stage::kGenerate, done, total); });
  if (!objects.ok()) return objects.status();
  p.program.kernels = {};
  p.program.steps = {};
  ReturnFreedPages();

  report(Stage::kEmit, 0, 1);
  auto code = emit::LinkCode(*std::move(objects), **target, static_cast<uint64_t>(p.program.weights_size));
  if (!code.ok()) return code.status();
  auto vector = p.self_test.get();
  if (!vector.ok()) return vector.status();
  emit::ManifestData data = Describe(p.imported, p.states, p.program, options, **target, *key, model_digest);
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
  if (!options.buckets.empty()) {  // the first one's
    auto first = ReportSchedule(model, OptionsOf(options, options.buckets.front()));
    if (first.ok()) first->artifact = *key;
    return first;
  }
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics(context);
  auto imported = onnx::Import(context, model, options);
  if (!imported.ok()) return imported.status();
  auto states = ResolveStates(*imported, options);
  if (!states.ok()) return states.status();
  auto build = [&](mlir::ModuleOp module, int opt_level,
                   schedule::WeightGrowth growth) -> absl::StatusOr<schedule::Program> {
    mlir::PassManager passes(&context);
    graph::BuildGraphPipeline(passes, opt_level, options.strict_math);
    if (mlir::failed(passes.run(module)))
      return absl::InternalError(absl::StrCat("a graph pass failed: ", diagnostics.text()));
    return schedule::BuildProgram(MainOf(module), **target, growth, *states);
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
  std::optional<ModelInfo> first;  // of the buckets
  for (const auto& bucket : options.buckets) {
    auto info = Check(model, OptionsOf(options, bucket));
    if (!info.ok())
      return absl::Status(info.status().code(),
                          absl::StrCat("bucket ", BucketName(bucket), ": ", info.status().message()));
    if (!first) first = *std::move(info);
  }
  if (first) return *std::move(first);
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Diagnostics diagnostics(context);
  auto imported = onnx::Import(context, model, options);
  if (!imported.ok()) return imported.status();
  if (auto states = ResolveStates(*imported, options); !states.ok()) return states.status();
  return ModelInfo{imported->graph_name, imported->inputs, imported->outputs, imported->operators};
}

absl::StatusOr<std::vector<reference::Tensor>> RunReference(const Model& model, const Options& options,
                                                            const std::vector<reference::Tensor>& inputs) {
  // The first bucket that takes the inputs; the last says what is wrong with them.
  for (const auto& bucket : options.buckets) {
    auto outputs = RunReference(model, OptionsOf(options, bucket), inputs);
    if (outputs.ok() || !absl::IsInvalidArgument(outputs.status()) || &bucket == &options.buckets.back())
      return outputs;
  }
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
