// Times our artifacts against ONNX Runtime: same machine, same process, one thread each, taking turns.
// tests/models/README.md says how.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/aotctl/output.h"
#include "clients/model/model_file.h"
#include "clients/model/native_target.h"
#include "clients/model/session.h"
#include "clients/tensor_io/data_set.h"
#include "clients/tensor_io/file.h"
#include "compiler/pipeline.h"
#include "tests/models/isolated.h"
#include "tests/models/ort_ratio/ort_session.h"
#include "tests/models/selection.h"

namespace aot::tests {
namespace {

using Clock = std::chrono::steady_clock;

struct Args {
  std::string models, library, json, target = "native";
  Selection selection;
  int opt_level = 3;
  std::string optimize_for = "latency";
  double seconds = 3;  // of timing, for each model
  double max_ratio = 20;
};

struct Times {
  double ours = 0, theirs = 0;  // medians, seconds
  int rounds = 0;
};

double Median(std::vector<double> samples) {
  std::nth_element(samples.begin(), samples.begin() + static_cast<ptrdiff_t>(samples.size() / 2), samples.end());
  return samples[samples.size() / 2];
}

template <typename Runner>
absl::StatusOr<double> TimeOnce(Runner& runner) {
  Clock::time_point start = Clock::now();
  absl::Status status = runner.Invoke();
  double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (!status.ok()) return status;
  return seconds;
}

// Turns of a run each, so that whatever else the machine does slows both.
absl::StatusOr<Times> TakeTurns(clients::Session& ours, OrtSession& theirs, double budget) {
  constexpr int kWarmup = 2, kMinRounds = 5, kMaxRounds = 2000;
  std::vector<double> our_times, their_times;
  Clock::time_point end =
      Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(budget));
  for (int round = -kWarmup; round < kMaxRounds && (round < kMinRounds || Clock::now() < end); ++round) {
    absl::StatusOr<double> our_time = TimeOnce(ours);
    if (!our_time.ok()) return our_time.status();
    absl::StatusOr<double> their_time = TimeOnce(theirs);
    if (!their_time.ok()) return their_time.status();
    if (round < 0) continue;
    our_times.push_back(*our_time);
    their_times.push_back(*their_time);
  }
  return Times{Median(our_times), Median(their_times), static_cast<int>(our_times.size())};
}

absl::StatusOr<Times> TimeModel(const std::string& directory, const Args& args) {
  const std::string path = absl::StrCat(directory, "/model.onnx");
  absl::StatusOr<compiler::Model> model = clients::ReadModel(path);
  if (!model.ok()) return model.status();
  absl::StatusOr<std::vector<std::string>> names = clients::GraphInputs(*model);
  if (!names.ok()) return names.status();
  absl::StatusOr<std::vector<clients::DataSet>> sets = clients::ReadDataSets(directory);
  if (!sets.ok()) return sets.status();
  if (sets->empty()) return absl::NotFoundError("no test_data_set_* directory");

  compiler::Options options;
  options.target = args.target;
  options.opt_level = args.opt_level;
  if (auto value = compiler::ParseOptimizeFor(args.optimize_for)) options.optimize_for = *value;
  std::vector<reference::Tensor> inputs;
  for (size_t i = 0; i < names->size(); ++i) {
    auto found = sets->front().inputs.find(static_cast<int>(i));
    if (found == sets->front().inputs.end()) return absl::NotFoundError(absl::StrCat("no input_", i, ".pb"));
    inputs.push_back(found->second.tensor);
    options.input_shapes[(*names)[i]] = inputs.back().shape();
  }
  absl::StatusOr<compiler::Artifact> artifact = compiler::Compile(*model, options);
  if (!artifact.ok()) return artifact.status();
  absl::StatusOr<std::string> shared_object = compiler::SharedObject(*artifact);
  if (!shared_object.ok()) return shared_object.status();
  absl::StatusOr<std::unique_ptr<clients::Session>> ours = clients::Session::FromMemory(*shared_object);
  if (!ours.ok()) return ours.status();
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (absl::Status status = (*ours)->SetInput(i, inputs[i]); !status.ok()) return status;
  }
  absl::StatusOr<std::unique_ptr<OrtSession>> theirs = OrtSession::Create(args.library, path, *names, inputs);
  if (!theirs.ok()) return theirs.status();
  return TakeTurns(**ours, **theirs, args.seconds);
}

std::string TimeModelToJson(const std::string& directory, const Args& args) {
  nlohmann::json json = {{"model", std::filesystem::path(directory).filename().string()}};
  absl::StatusOr<Times> times = TimeModel(directory, args);
  if (times.ok()) {
    json.update({{"seconds", times->ours},
                 {"onnxruntime_seconds", times->theirs},
                 {"ratio", times->ours / times->theirs},
                 {"rounds", times->rounds}});
  } else {
    json["error"] = std::string(times.status().message());
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

absl::StatusOr<int> Run(Args args) {
  absl::StatusOr<std::string> target = clients::ResolveTarget(args.target);
  if (!target.ok()) return target.status();
  args.target = *target;
  args.library = clients::UserPath(args.library);
  absl::StatusOr<std::vector<std::string>> models = SelectModels(clients::UserPath(args.models), args.selection);
  if (!models.ok()) return models.status();
  nlohmann::json report = nlohmann::json::array();
  int within = 0;
  double worst = 0;
  auto done = [&](size_t i, const IsolatedResult& isolated) {
    nlohmann::json json = {{"model", std::filesystem::path((*models)[i]).filename().string()}};
    if (isolated.failure.empty()) json = nlohmann::json::parse(isolated.value);
    if (!isolated.failure.empty()) json["error"] = isolated.failure;
    std::string line = absl::StrFormat("%-24s", json["model"].get<std::string>());
    if (json.contains("error")) {
      absl::StrAppend(&line, "  ", json["error"].get<std::string>());
    } else {
      double ratio = json["ratio"];
      worst = std::max(worst, ratio);
      within += ratio <= args.max_ratio ? 1 : 0;
      absl::StrAppendFormat(
          &line, "  ours %-8s  ONNX Runtime %-8s  ratio %.2f%s", clients::FormatSeconds(json["seconds"]),
          clients::FormatSeconds(json["onnxruntime_seconds"]), ratio, ratio <= args.max_ratio ? "" : "  TOO SLOW");
    }
    printf("%s\n", clients::Printable(line).c_str());
    fflush(stdout);
    report.push_back(std::move(json));
  };
  RunIsolated(
      models->size(), 1, absl::Minutes(30), [&](size_t i) { return TimeModelToJson((*models)[i], args); }, done);
  if (!args.json.empty()) {
    absl::Status status = clients::WriteFile(clients::UserPath(args.json), report.dump(2) + "\n");
    if (!status.ok()) return status;
  }
  printf("ratio: %d within %.3g, worst %.2f, of %zu\n", within, args.max_ratio, worst, models->size());
  return static_cast<size_t>(within) == models->size() ? 0 : 1;
}

}  // namespace
}  // namespace aot::tests

int main(int argc, char** argv) {
  aot::tests::Args args;
  CLI::App app("Times our artifacts against ONNX Runtime on one thread", "ort_ratio");
  app.add_option("--models", args.models, "Directory of model directories")->required();
  app.add_option("--only", args.selection.only, "Names of the models to take: a,b")->delimiter(',');
  app.add_option("--smallest", args.selection.smallest, "Then only the K smallest")->check(CLI::PositiveNumber);
  app.add_option("--ort", args.library, "libonnxruntime.so, as tools/fetch_onnxruntime.sh prints it")->required();
  app.add_option("--target", args.target, "Target; native: the best for this machine")->capture_default_str();
  app.add_option("--optimize-for", args.optimize_for, "latency, balanced or size")
      ->check(CLI::IsMember({"latency", "balanced", "size"}))
      ->capture_default_str();
  app.add_option("--opt", args.opt_level, "Optimisation level, 0 to 3")->check(CLI::Range(0, 3))->capture_default_str();
  app.add_option("--seconds", args.seconds, "Timing for each model")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--max-ratio", args.max_ratio, "Exit status 1 if a model is slower")->capture_default_str();
  app.add_option("--json", args.json, "Write the results to this file");
  CLI11_PARSE(app, argc, argv);
  absl::StatusOr<int> code = aot::tests::Run(std::move(args));
  if (code.ok()) return *code;
  fprintf(stderr, "ort_ratio: %s\n", std::string(code.status().message()).c_str());
  return 2;
}
