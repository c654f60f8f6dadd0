// compare: models compiled here against ONNX Runtime and OpenCV, in one run. README.md says how it measures.
#include <sched.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/aotctl/output.h"
#include "clients/model/native_target.h"
#include "clients/tensor_io/file.h"
#include "compiler/pipeline.h"
#include "tests/models/isolated.h"
#include "tests/models/selection.h"
#include "tests/perf/contest.h"
#include "tests/perf/report.h"

namespace aot::perf {
namespace {

using nlohmann::json;

struct Args {
  std::vector<std::string> models, peers = {"ort", "opencv"};
  std::string json_file, ort, optimize_for = "latency", target = "native";
  tests::Selection selection;
  int threads = 1, opt_level = 3;
  double seconds = 2;
  std::vector<int> cpus;
};

// The processors that this process may use, the last ones first: the first serves most interrupts.
absl::StatusOr<std::vector<int>> ChooseCpus(const Args& args) {
  if (!args.cpus.empty()) return args.cpus;
  cpu_set_t set;
  CPU_ZERO(&set);
  sched_getaffinity(0, sizeof(set), &set);
  std::vector<int> cpus;
  for (int cpu = CPU_SETSIZE - 1; cpu >= 0 && cpus.size() < static_cast<size_t>(args.threads); --cpu) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) cpus.push_back(cpu);
  }
  if (cpus.size() < static_cast<size_t>(args.threads)) {
    return absl::InvalidArgumentError(
        absl::StrCat("--threads ", args.threads, ": this process has only ", cpus.size(), " processors"));
  }
  return cpus;
}

// Measures on the processor that the peers will have, then may run anywhere again.
Machine MeasureOn(int cpu, int threads) {
  cpu_set_t before, one;
  sched_getaffinity(0, sizeof(before), &before);
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(cpu), &one);
  sched_setaffinity(0, sizeof(one), &one);
  Machine machine = MeasureMachine(threads);
  sched_setaffinity(0, sizeof(before), &before);
  return machine;
}

// The library that tools/fetch_onnxruntime.sh fetches, or has fetched; needs `bazel run`, which tells the workspace.
absl::StatusOr<std::string> FetchOnnxRuntime() {
  const char* workspace = getenv("BUILD_WORKSPACE_DIRECTORY");
  if (workspace == nullptr) {
    return absl::InvalidArgumentError("--ort is missing: what tools/fetch_onnxruntime.sh prints");
  }
  FILE* script = popen(absl::StrCat("'", workspace, "'/tools/fetch_onnxruntime.sh").c_str(), "r");
  if (script == nullptr) return absl::UnavailableError("tools/fetch_onnxruntime.sh can't be started");
  char path[4096] = "";
  const bool read = fgets(path, sizeof(path), script) != nullptr;
  if (pclose(script) != 0 || !read) {
    return absl::UnavailableError("tools/fetch_onnxruntime.sh failed; --peers opencv goes without ONNX Runtime");
  }
  return std::string(absl::StripTrailingAsciiWhitespace(path));
}

// The model directories of all --models, in their order.
absl::StatusOr<std::vector<std::string>> FindModels(const Args& args) {
  std::vector<std::string> directories;
  std::set<std::string> missing(args.selection.only.begin(), args.selection.only.end());
  for (const std::string& models : args.models) {
    const std::string directory = clients::UserPath(models);
    tests::Selection selection = args.selection;
    selection.only.clear();
    for (const std::string& name : args.selection.only) {
      if (!std::filesystem::exists(absl::StrCat(directory, "/", name, "/model.onnx"))) continue;
      selection.only.push_back(name);
      missing.erase(name);
    }
    if (selection.only.empty() && !args.selection.only.empty()) continue;
    absl::StatusOr<std::vector<std::string>> found = tests::SelectModels(directory, selection);
    if (!found.ok()) return found.status();
    directories.insert(directories.end(), found->begin(), found->end());
  }
  if (!missing.empty()) return absl::NotFoundError(absl::StrCat("no model '", *missing.begin(), "'"));
  return directories;
}

absl::StatusOr<ContestOptions> ToOptions(const Args& args) {
  ContestOptions options;
  absl::StatusOr<std::string> target = clients::ResolveTarget(args.target);
  if (!target.ok()) return target.status();
  options.prepare.target = *target;
  options.prepare.opt_level = args.opt_level;
  if (auto value = compiler::ParseOptimizeFor(args.optimize_for)) options.prepare.optimize_for = *value;
  options.peers = args.peers;
  options.threads = args.threads;
  options.seconds = args.seconds;
  if (!args.ort.empty()) options.ort_library = clients::UserPath(args.ort);
  if (args.ort.empty() && std::find(args.peers.begin(), args.peers.end(), "ort") != args.peers.end()) {
    absl::StatusOr<std::string> library = FetchOnnxRuntime();
    if (!library.ok()) return library.status();
    options.ort_library = *library;
  }
  // The peers' programs lie beside this one.
  options.programs = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  absl::StatusOr<std::vector<int>> cpus = ChooseCpus(args);
  if (!cpus.ok()) return cpus.status();
  options.cpus = absl::StrJoin(*cpus, ",");
  return options;
}

std::string ContestToJson(const std::string& directory, const ContestOptions& options, const Machine& machine) {
  json result = {{"model", std::filesystem::path(directory).filename().string()}};
  absl::StatusOr<json> contest = RunContest(directory, options, machine);
  if (contest.ok()) {
    result.update(*contest);
  } else {
    result["error"] = std::string(contest.status().message());
  }
  return result.dump(-1, ' ', false, json::error_handler_t::replace);
}

absl::StatusOr<int> Run(const Args& args) {
  absl::StatusOr<ContestOptions> options = ToOptions(args);
  if (!options.ok()) return options.status();
  absl::StatusOr<std::vector<std::string>> found = FindModels(args);
  if (!found.ok()) return found.status();
  const std::vector<std::string>& directories = *found;
  const Machine machine = MeasureOn(std::stoi(options->cpus), args.threads);
  json report = {{"machine", ToJson(machine)},
                 {"settings",
                  {{"target", options->prepare.target},
                   {"optimize_for", args.optimize_for},
                   {"opt_level", args.opt_level},
                   {"threads", args.threads},
                   {"cpus", options->cpus},
                   {"seconds", args.seconds},
                   {"compiler", compiler::CompilerVersion()}}},
                 {"models", json::array()}};
  printf("%s", MachineText(report["machine"]).c_str());
  bool all = true;
  auto done = [&](size_t i, const tests::IsolatedResult& isolated) {
    json model = {{"model", std::filesystem::path(directories[i]).filename().string()}};
    if (isolated.failure.empty()) model = json::parse(isolated.value);
    if (!isolated.failure.empty()) model["error"] = isolated.failure;
    all &= !model.contains("error");
    printf("%s", clients::Printable(ModelText(model)).c_str());
    fflush(stdout);
    report["models"].push_back(std::move(model));
  };
  tests::RunIsolated(
      directories.size(), 1, absl::Minutes(60),
      [&](size_t i) { return ContestToJson(directories[i], *options, machine); }, done);
  report["geometric_means"] = GeometricMeans(report["models"]);
  printf("%s", GeometricMeansText(report["geometric_means"]).c_str());
  if (!args.json_file.empty()) {
    absl::Status status = clients::WriteFile(clients::UserPath(args.json_file), report.dump(2) + "\n");
    if (!status.ok()) return status;
  }
  return all ? 0 : 1;
}

}  // namespace
}  // namespace aot::perf

int main(int argc, char** argv) {
  aot::perf::Args args;
  CLI::App app("Compares models compiled here with ONNX Runtime and OpenCV", "compare");
  app.add_option("--models", args.models, "Directories of model directories: a,b")->required()->delimiter(',');
  app.add_option("--only", args.selection.only, "Names of the models to take: a,b")->delimiter(',');
  app.add_option("--smallest", args.selection.smallest, "Then only the K smallest")->check(CLI::PositiveNumber);
  app.add_option("--peers", args.peers, "ort, opencv or both")
      ->delimiter(',')
      ->check(CLI::IsMember({"ort", "opencv"}))
      ->capture_default_str();
  app.add_option("--ort", args.ort, "libonnxruntime.so; default: what tools/fetch_onnxruntime.sh fetches");
  app.add_option("--threads", args.threads, "Threads of a run")->check(CLI::Range(1, 1024))->capture_default_str();
  app.add_option("--cpus", args.cpus, "Processors to pin to; default: the last ones")->delimiter(',');
  app.add_option("--target", args.target, "Target; native: the best for this machine")->capture_default_str();
  app.add_option("--optimize-for", args.optimize_for, "latency, balanced or size")
      ->check(CLI::IsMember({"latency", "balanced", "size"}))
      ->capture_default_str();
  app.add_option("--opt", args.opt_level, "Optimisation level, 0 to 3")->check(CLI::Range(0, 3))->capture_default_str();
  app.add_option("--seconds", args.seconds, "Timing for each model and peer")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", args.json_file, "Write everything to this file");
  CLI11_PARSE(app, argc, argv);
  absl::StatusOr<int> code = aot::perf::Run(args);
  if (code.ok()) return *code;
  fprintf(stderr, "compare: %s\n", std::string(code.status().message()).c_str());
  return 2;
}
