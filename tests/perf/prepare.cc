#include "tests/perf/prepare.h"

#include <chrono>

#include "absl/strings/str_cat.h"
#include "clients/model/model_file.h"
#include "clients/tensor_io/data_set.h"
#include "clients/tensor_io/file.h"
#include "compiler/schedule_report.h"
#include "tests/perf/binding.h"

namespace aot::perf {
namespace {

int64_t BytesOf(const compiler::Model& model) {
  size_t bytes = model.bytes.size();
  for (const auto& [name, contents] : model.external) bytes += contents.size();
  return static_cast<int64_t>(bytes);
}

// The inputs of the first data set, and their shapes as options.
absl::Status ReadInputs(const std::string& directory, const compiler::Model& model, compiler::Options& options,
                        std::vector<Binding>& inputs) {
  absl::StatusOr<std::vector<std::string>> names = clients::GraphInputs(model);
  if (!names.ok()) return names.status();
  absl::StatusOr<std::vector<clients::DataSet>> sets = clients::ReadDataSets(directory);
  if (!sets.ok()) return sets.status();
  if (sets->empty()) return absl::NotFoundError("no test_data_set_* directory");
  for (size_t i = 0; i < names->size(); ++i) {
    auto found = sets->front().inputs.find(static_cast<int>(i));
    if (found == sets->front().inputs.end()) return absl::NotFoundError(absl::StrCat("no input_", i, ".pb"));
    const reference::Tensor& tensor = found->second.tensor;
    options.input_shapes[(*names)[i]] = tensor.shape();
    inputs.push_back({(*names)[i],
                      static_cast<int>(tensor.element()),
                      tensor.shape(),
                      {tensor.bytes().begin(), tensor.bytes().end()}});
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<nlohmann::json> PrepareModel(const std::string& directory, const std::string& out,
                                            const PrepareOptions& prepare, const Machine& machine) {
  absl::StatusOr<compiler::Model> model = clients::ReadModel(absl::StrCat(directory, "/model.onnx"));
  if (!model.ok()) return model.status();
  compiler::Options options;
  options.target = prepare.target;
  options.optimize_for = prepare.optimize_for;
  options.opt_level = prepare.opt_level;
  std::vector<Binding> inputs;
  if (absl::Status status = ReadInputs(directory, *model, options, inputs); !status.ok()) return status;
  absl::StatusOr<compiler::ScheduleReport> schedule = compiler::ReportSchedule(*model, options);
  if (!schedule.ok()) return schedule.status();

  const auto start = std::chrono::steady_clock::now();
  absl::StatusOr<compiler::Artifact> artifact = compiler::Compile(*model, options);
  if (!artifact.ok()) return artifact.status();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  absl::StatusOr<std::string> shared_object = compiler::SharedObject(*artifact);
  if (!shared_object.ok()) return shared_object.status();
  if (absl::Status status = clients::WriteFile(absl::StrCat(out, "/model.so"), *shared_object); !status.ok())
    return status;
  if (absl::Status status = WriteBindings(absl::StrCat(out, "/inputs"), inputs); !status.ok()) return status;

  double multiply_adds = 0, byte_products = 0;
  for (const compiler::ScheduledStep& step : schedule->steps) {
    multiply_adds += step.multiply_adds;
    byte_products += step.byte_products;
  }
  const int64_t working_set = schedule->weights_bytes + schedule->arena_bytes;
  return nlohmann::json{{"compile_seconds", seconds},
                        {"model_bytes", BytesOf(*model)},
                        {"artifact_bytes", shared_object->size()},
                        {"packed_weights_bytes", schedule->weights_bytes},
                        {"arena_bytes", schedule->arena_bytes},
                        {"least_seconds", LeastSeconds(machine, schedule->steps, working_set)},
                        {"multiply_adds", multiply_adds},
                        {"byte_products", byte_products}};
}

}  // namespace aot::perf
