#include "tests/models/model_test.h"

#include <algorithm>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "clients/model/model_file.h"
#include "clients/model/shape_groups.h"
#include "tests/models/meta.h"
#include "tests/models/sequence_of_maps.h"

namespace aot::tests {
namespace {

using clients::DataSet;
using clients::NamedTensor;

class ModelTest {
 public:
  ModelTest(const std::string& directory, const ModelTestOptions& options, ModelResult* result)
      : directory_(directory), options_(options), result_(*result) {}

  absl::Status Run() {
    absl::StatusOr<compiler::Model> model = clients::ReadModel(absl::StrCat(directory_, "/model.onnx"));
    if (!model.ok()) return model.status();
    absl::StatusOr<Meta> meta = ReadMeta(directory_);
    if (!meta.ok()) return meta.status();
    meta_ = *meta;
    absl::StatusOr<std::vector<DataSet>> sets = clients::ReadDataSets(directory_);
    if (!sets.ok()) return sets.status();
    if (sets->empty()) return absl::NotFoundError("no test_data_set_* directory");
    for (DataSet& set : *sets) {
      if (absl::Status status = ReadMaps(set); !status.ok()) return status;
    }
    absl::StatusOr<std::vector<std::string>> inputs = clients::GraphInputs(*model);
    if (!inputs.ok()) return inputs.status();
    input_count_ = inputs->size();
    absl::StatusOr<std::vector<clients::ShapeGroup>> groups = clients::GroupByShape(*sets, *inputs);
    if (!groups.ok()) return groups.status();
    for (const clients::ShapeGroup& group : *groups) {
      if (absl::Status status = RunGroup(*model, group); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  // Outputs that are sequences of maps are compared as the tensors that artifacts give for them.
  static absl::Status ReadMaps(DataSet& set) {
    for (const std::string& name : set.not_tensors) {
      const int output = SequenceOfMapsOutput(name);
      if (output < 0) {
        return absl::UnimplementedError(absl::StrCat(name, ": only tensors and sequences of maps can be compared"));
      }
      absl::StatusOr<reference::Tensor> tensor = ReadSequenceOfMaps(absl::StrCat(set.directory, "/", name));
      if (!tensor.ok()) return tensor.status();
      set.outputs.emplace(output, NamedTensor{name, *std::move(tensor)});
    }
    return absl::OkStatus();
  }

  absl::Status RunGroup(const compiler::Model& model, const clients::ShapeGroup& group) {
    compiler::Options options = options_.compile;
    options.input_shapes = group.input_shapes;
    absl::Time start = absl::Now();
    absl::StatusOr<compiler::Artifact> artifact = compiler::Compile(model, options);
    result_.compile_seconds += absl::ToDoubleSeconds(absl::Now() - start);
    if (!artifact.ok()) return artifact.status();
    absl::StatusOr<std::string> shared_object = compiler::SharedObject(*artifact);
    if (!shared_object.ok()) return shared_object.status();
    ++result_.artifacts;
    result_.artifact_bytes = std::max(result_.artifact_bytes, static_cast<int64_t>(shared_object->size()));
    absl::StatusOr<std::unique_ptr<Executor>> executor = options_.executor(*shared_object);
    if (!executor.ok()) return executor.status();
    for (const DataSet* set : group.sets) {
      if (absl::Status status = RunSet(*set, **executor); !status.ok()) {
        return absl::Status(status.code(), absl::StrCat("data set ", set->index, ": ", status.message()));
      }
    }
    return absl::OkStatus();
  }

  absl::Status RunSet(const DataSet& set, Executor& executor) {
    std::vector<reference::Tensor> inputs;
    for (size_t i = 0; i < input_count_; ++i) {
      auto found = set.inputs.find(static_cast<int>(i));
      if (found == set.inputs.end()) return absl::NotFoundError(absl::StrCat("input_", i, ".pb is missing"));
      inputs.push_back(found->second.tensor);
    }
    const bool first = result_.data_sets == 0;
    absl::StatusOr<Execution> execution = executor.Run(inputs, first);
    if (!execution.ok()) return execution.status();
    if (first) result_.median_seconds = execution->median_seconds;
    result_.arena_bytes = std::max(result_.arena_bytes, execution->arena_bytes);
    for (const auto& [index, want] : set.outputs) {
      if (static_cast<size_t>(index) >= execution->outputs.size()) {
        return absl::InternalError(
            absl::StrCat("output ", index, " is missing: the artifact has ", execution->outputs.size()));
      }
      const clients::Tolerance tolerance = ToleranceFor(meta_, want.tensor.element());
      clients::Comparison comparison =
          clients::Compare(execution->outputs[static_cast<size_t>(index)], want.tensor, tolerance);
      // JSON has no infinity.
      result_.max_error =
          std::max(result_.max_error, std::min(comparison.relative, std::numeric_limits<double>::max()));
      if (!comparison.equal) {
        return absl::InternalError(absl::StrCat("output ", index, " (", want.name, ") ", comparison.difference));
      }
    }
    ++result_.data_sets;
    return absl::OkStatus();
  }

  const std::string& directory_;
  const ModelTestOptions& options_;
  ModelResult& result_;
  Meta meta_;
  size_t input_count_ = 0;
};

}  // namespace

ModelResult TestModel(const std::string& directory, const ModelTestOptions& options) {
  ModelResult result;
  result.model = clients::ModelName(absl::StrCat(directory, "/model.onnx"));
  absl::Status status = ModelTest(directory, options, &result).Run();
  result.message = std::string(status.message());
  result.verdict = status.ok()                     ? Verdict::kRight
                   : absl::IsUnimplemented(status) ? Verdict::kUnsupported
                                                   : Verdict::kWrong;
  return result;
}

}  // namespace aot::tests
