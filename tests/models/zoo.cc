// Compiles, runs and checks every model of a directory. tests/models/README.md says how it is used.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/aotctl/output.h"
#include "clients/model/native_target.h"
#include "clients/tensor_io/file.h"
#include "compiler/target/target.h"
#include "tests/models/isolated.h"
#include "tests/models/model_test.h"
#include "tests/models/record.h"
#include "tests/models/selection.h"

namespace aot::tests {
namespace {

// Emulated runs take a hundred times as long.
constexpr int kSmallestUnderEmulator = 6;
constexpr char kRunner[] = "tests/models/runner_aarch64";

struct Args {
  std::string models, target = "native", json, record, runner;
  Selection selection;
  int opt_level = 3;
  int jobs = 1;
  int limit_seconds = 900;
  int threads = 0;
  bool strict_math = false;
  std::string optimize_for = "latency";
  bool all = false;
};

void AddOptions(CLI::App& app, Args* args) {
  app.add_option("--models", args->models, "Directory of model directories")->required();
  app.add_option("--only", args->selection.only, "Names of the models to take: a,b")->delimiter(',');
  app.add_option("--smallest", args->selection.smallest, "Then only the K smallest")->check(CLI::PositiveNumber);
  app.add_option("--target", args->target, "Target; native: the best for this machine")->capture_default_str();
  app.add_option("--opt", args->opt_level, "Optimisation level, 0 to 3")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  app.add_option("--optimize-for", args->optimize_for, "latency, balanced or size")
      ->check(CLI::IsMember({"latency", "balanced", "size"}))
      ->capture_default_str();
  app.add_flag("--strict-math", args->strict_math, "No transform that changes rounding");
  app.add_option("--json", args->json, "Write the results to this file");
  app.add_option("--record", args->record, "Put the results into this list (tests/models/expected.json)");
  app.add_option("--jobs", args->jobs, "Models at the same time; more than 1 spoils the times")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--threads", args->threads, "Threads of one compile; 0: one per core")->capture_default_str();
  app.add_option("--limit", args->limit_seconds, "Seconds that one model may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_flag(
      "--all", args->all,
      absl::StrCat("All models also under an emulator, not only the ", kSmallestUnderEmulator, " smallest (slow)"));
  app.add_option("--runner", args->runner, "The device runner; default: the one that Bazel built");
}

// The program beside this one in Bazel's runfiles.
absl::StatusOr<std::string> FindRunner(const Args& args, const std::string& program) {
  if (!args.runner.empty()) return clients::UserPath(args.runner);
  for (const std::string& path : {std::string(kRunner), absl::StrCat(program, ".runfiles/aot/", kRunner)}) {
    std::error_code ignored;
    if (std::filesystem::exists(path, ignored)) return std::filesystem::absolute(path, ignored).string();
  }
  return absl::NotFoundError(
      absl::StrCat("no ", kRunner, " beside this program; run it with `bazel run`, or name one with --runner"));
}

// Decides where artifacts for the target run, and takes fewer models if that is slow.
absl::StatusOr<ExecutorFactory> ChooseExecutor(const std::string& target, const std::string& program, Args* args) {
  absl::StatusOr<const target::Description*> description = target::Find(target);
  if (!description.ok()) return description.status();
  if (clients::RunsHere(target)) return InProcess();
  if ((*description)->emulator.empty() || (*description)->triple.rfind("aarch64", 0) != 0) {
    return absl::FailedPreconditionError(absl::StrCat("code for ", target, " doesn't run on this machine"));
  }
  absl::StatusOr<std::string> runner = FindRunner(*args, program);
  if (!runner.ok()) return runner.status();
  if (!args->all && args->selection.smallest == 0) args->selection.smallest = kSmallestUnderEmulator;
  return Emulated((*description)->emulator, *runner);
}

void Print(const ModelResult& result) {
  std::string line = absl::StrFormat("%-11s  %-24s", Name(result.verdict), result.model);
  if (result.artifacts > 0) {
    absl::StrAppendFormat(&line, "  error %-8.2g  compile %-7s  median %-7s  arena %-8s  artifact %-8s",
                          result.max_error, clients::FormatSeconds(result.compile_seconds),
                          result.median_seconds > 0 ? clients::FormatSeconds(result.median_seconds) : "-",
                          clients::FormatBytes(result.arena_bytes), clients::FormatBytes(result.artifact_bytes));
  }
  if (!result.message.empty()) absl::StrAppend(&line, "\n             ", result.message);
  printf("%s\n", clients::Printable(line).c_str());
  fflush(stdout);
}

// The list that results go into: what the file has so far, or nothing.
absl::StatusOr<Record> ReadRecord(const std::string& path) {
  absl::StatusOr<std::string> text = clients::ReadFile(path);
  if (absl::IsNotFound(text.status())) return Record();
  if (!text.ok()) return text.status();
  return ParseRecord(*text);
}

absl::StatusOr<int> Run(Args args, const std::string& program) {
  absl::StatusOr<std::string> target = clients::ResolveTarget(args.target);
  if (!target.ok()) return target.status();
  ModelTestOptions options;
  options.compile.target = *target;
  options.compile.opt_level = args.opt_level;
  options.compile.strict_math = args.strict_math;
  if (auto value = compiler::ParseOptimizeFor(args.optimize_for)) options.compile.optimize_for = *value;
  options.compile.threads = args.threads;
  absl::StatusOr<ExecutorFactory> executor = ChooseExecutor(*target, program, &args);
  if (!executor.ok()) return executor.status();
  options.executor = *executor;
  absl::StatusOr<std::vector<std::string>> models = SelectModels(clients::UserPath(args.models), args.selection);
  if (!models.ok()) return models.status();
  printf("target %s, opt %d, %zu models\n", target->c_str(), args.opt_level, models->size());

  absl::StatusOr<Record> record = Record();
  if (!args.record.empty()) record = ReadRecord(clients::UserPath(args.record));
  if (!record.ok()) return record.status();
  absl::Status recorded;
  int counts[3] = {};
  nlohmann::json report = nlohmann::json::array();
  auto work = [&](size_t i) { return ToJson(TestModel((*models)[i], options)); };
  auto done = [&](size_t i, const IsolatedResult& isolated) {
    ModelResult result;
    if (isolated.failure.empty()) {
      result = FromJson(isolated.value);
    } else {
      result.message = isolated.failure;
    }
    result.model = std::filesystem::path((*models)[i]).filename().string();
    result.peak_memory_bytes = isolated.peak_memory_bytes;
    ++counts[static_cast<int>(result.verdict)];
    Print(result);
    if (!args.record.empty()) {
      recorded.Update(AddResult((*models)[i], RunName(*target, args.opt_level), result, &*record));
    }
    report.push_back(nlohmann::json::parse(ToJson(result)));
  };
  RunIsolated(models->size(), args.jobs, absl::Seconds(args.limit_seconds), work, done);

  if (!args.record.empty() && recorded.ok()) {
    recorded = clients::WriteFile(clients::UserPath(args.record), FormatRecord(*record));
  }
  if (!recorded.ok()) return recorded;

  const int right = counts[static_cast<int>(Verdict::kRight)];
  const int wrong = counts[static_cast<int>(Verdict::kWrong)];
  const int unsupported = counts[static_cast<int>(Verdict::kUnsupported)];
  if (!args.json.empty()) {
    nlohmann::json all = {{"target", *target}, {"opt", args.opt_level}, {"models", std::move(report)},
                          {"right", right},    {"wrong", wrong},        {"unsupported", unsupported}};
    absl::Status status = clients::WriteFile(clients::UserPath(args.json), all.dump(2) + "\n");
    if (!status.ok()) return status;
  }
  printf("models: %d right, %d wrong, %d unsupported, of %zu\n", right, wrong, unsupported, models->size());
  return static_cast<size_t>(right) == models->size() ? 0 : 1;
}

}  // namespace
}  // namespace aot::tests

int main(int argc, char** argv) {
  aot::tests::Args args;
  CLI::App app("Compiles, runs and checks the models of a directory", "zoo");
  aot::tests::AddOptions(app, &args);
  CLI11_PARSE(app, argc, argv);
  absl::StatusOr<int> code = aot::tests::Run(args, argv[0]);
  if (code.ok()) return *code;
  fprintf(stderr, "zoo: %s\n", std::string(code.status().message()).c_str());
  return 2;
}
