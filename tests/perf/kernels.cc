// kernels: single operations compiled here, against the measured peak of the machine and against oneDNN. One thread,
// pinned; README.md says how it measures.
#include <sched.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/aotctl/output.h"
#include "clients/model/native_target.h"
#include "clients/model/session.h"
#include "clients/tensor_io/file.h"
#include "compiler/pipeline.h"
#include "compiler/schedule_report.h"
#include "tests/perf/kernel_cases.h"
#include "tests/perf/machine.h"
#include "tests/perf/report.h"

namespace aot::perf {
namespace {

using Clock = std::chrono::steady_clock;
using nlohmann::json;

constexpr double kBlockSeconds = 0.02;

struct Args {
  std::string target = "native", only, json_file;
  double seconds = 0.4;  // of timing, for each kernel and peer
  int cpu = -1;
};

struct Samples {
  std::vector<double> block_medians;
  double least = 1e30;

  double median() const {
    std::vector<double> sorted = block_medians;
    std::sort(sorted.begin(), sorted.end());
    return sorted[sorted.size() / 2];
  }
};

template <typename Run>
void Block(Samples& samples, const Run& run) {
  std::vector<double> times;
  run();  // the other one's data is in the caches
  const Clock::time_point start = Clock::now();
  Clock::time_point before = start, after;
  do {
    run();
    after = Clock::now();
    times.push_back(std::chrono::duration<double>(after - before).count());
    before = after;
  } while (std::chrono::duration<double>(after - start).count() < kBlockSeconds);
  std::sort(times.begin(), times.end());
  samples.block_medians.push_back(times[times.size() / 2]);
  samples.least = std::min(samples.least, times.front());
}

absl::StatusOr<std::unique_ptr<clients::Session>> CompileCase(const KernelCase& c, const std::string& target,
                                                              std::string& algorithm) {
  compiler::Options options;
  options.target = target;
  options.optimize_for = c.optimize_for;
  absl::StatusOr<compiler::ScheduleReport> schedule = compiler::ReportSchedule(c.model, options);
  if (!schedule.ok()) return schedule.status();
  // More than one step: what stands beside the operation is part of the time, and is told.
  for (const compiler::ScheduledStep& step : schedule->steps)
    absl::StrAppend(&algorithm, algorithm.empty() ? "" : "; then ", step.algorithm);
  absl::StatusOr<compiler::Artifact> artifact = compiler::Compile(c.model, options);
  if (!artifact.ok()) return artifact.status();
  absl::StatusOr<std::string> shared_object = compiler::SharedObject(*artifact);
  if (!shared_object.ok()) return shared_object.status();
  return clients::Session::FromMemory(*shared_object);
}

absl::StatusOr<json> MeasureCase(const KernelCase& c, const Args& args, const Machine& machine) {
  std::string algorithm;
  absl::StatusOr<std::unique_ptr<clients::Session>> ours = CompileCase(c, args.target, algorithm);
  if (!ours.ok()) return ours.status();
  // Zeros make no difference to the time, denormals would.
  for (size_t i = 0; i < (*ours)->inputs().size(); ++i) {
    reference::Tensor input((*ours)->inputs()[i].type);
    for (int64_t k = 0; k < input.size(); ++k) {
      if (reference::IsFloat(input.element())) {
        input.SetFloat(k, 0.01 * static_cast<double>(k % 101) - 0.5);
      } else {
        input.SetInt(k, k % 7);
      }
    }
    if (absl::Status status = (*ours)->SetInput(i, input); !status.ok()) return status;
  }
  std::unique_ptr<DnnlKernel> theirs;
  std::string refused;
  try {
    theirs = c.peer();
  } catch (const std::exception& error) {
    refused = error.what();
  }
  Samples our_times, their_times;
  absl::Status status;
  for (double timed = 0; timed < args.seconds; timed += kBlockSeconds) {
    Block(our_times, [&] { status.Update((*ours)->Invoke()); });
    if (theirs != nullptr) Block(their_times, [&] { theirs->Run(); });
  }
  if (!status.ok()) return status;
  json result = {{"name", c.name},
                 {"algorithm", algorithm},
                 {"median", our_times.median()},
                 {"least", our_times.least},
                 {"wanted_share", c.wanted_share},
                 {"wanted_factor", c.wanted_factor},
                 {"faster_than", c.faster_than}};
  const double peak = c.precision == Precision::kBytes && machine.byte_ops > 0 ? machine.byte_ops : machine.flops;
  if (c.products > 0) result["share_of_peak"] = 2 * c.products / peak / our_times.least;
  if (theirs != nullptr) {
    result["onednn_median"] = their_times.median();
    result["onednn_least"] = their_times.least;
    if (c.products > 0) result["onednn_share_of_peak"] = 2 * c.products / peak / their_times.least;
  } else {
    result["onednn_error"] = refused;
  }
  return result;
}

// How many times faster than the case that it names.
void AddFactor(json& result, const json& before) {
  for (const json& other : before) {
    if (other["name"] == result["faster_than"]) {
      result["factor"] = other["least"].get<double>() / result["least"].get<double>();
    }
  }
}

absl::StatusOr<int> Run(Args args) {
  absl::StatusOr<std::string> target = clients::ResolveTarget(args.target);
  if (!target.ok()) return target.status();
  args.target = *target;
  const Machine machine = MeasureMachine(1);
  json report = {{"machine", ToJson(machine)},
                 {"target", args.target},
                 {"compiler", compiler::CompilerVersion()},
                 {"kernels", json::array()}};
  printf("%s", MachineText(report["machine"]).c_str());
  int failed = 0;
  for (const KernelCase& c : KernelCases()) {
    if (!absl::StrContains(c.name, args.only)) continue;
    absl::StatusOr<json> result = MeasureCase(c, args, machine);
    if (!result.ok()) {
      ++failed;
      printf("%s: %s\n", c.name.c_str(), std::string(result.status().message()).c_str());
      continue;
    }
    AddFactor(*result, report["kernels"]);
    printf("%s", KernelText(*result).c_str());
    fflush(stdout);
    report["kernels"].push_back(*std::move(result));
  }
  std::vector<double> ratios;
  for (const json& kernel : report["kernels"]) {
    if (kernel.contains("onednn_least"))
      ratios.push_back(kernel["onednn_least"].get<double>() / kernel["least"].get<double>());
  }
  report["geometric_mean"] = GeometricMean(ratios);
  printf("geometric mean over %zu kernels, oneDNN / AOT: %.2f\n", ratios.size(), GeometricMean(ratios));
  if (!args.json_file.empty()) {
    absl::Status status = clients::WriteFile(clients::UserPath(args.json_file), report.dump(2) + "\n");
    if (!status.ok()) return status;
  }
  return failed == 0 ? 0 : 1;
}

// To one processor; and since oneDNN asks the environment for its number of threads when it is loaded, this program
// starts itself again with that.
void PinAndLimitThreads(int cpu, char** argv) {
  constexpr char kThreads[] = "OMP_NUM_THREADS";
  if (cpu < 0) {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    sched_getaffinity(0, sizeof(allowed), &allowed);
    for (cpu = CPU_SETSIZE - 1; cpu > 0 && !CPU_ISSET(static_cast<size_t>(cpu), &allowed);) --cpu;
  }
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<size_t>(cpu), &one);
  sched_setaffinity(0, sizeof(one), &one);
  const char* threads = getenv(kThreads);
  if (threads != nullptr && std::string(threads) == "1") return;
  setenv(kThreads, "1", 1);
  execv("/proc/self/exe", argv);
}

}  // namespace
}  // namespace aot::perf

int main(int argc, char** argv) {
  aot::perf::Args args;
  CLI::App app("Measures kernels against the machine's peak and oneDNN", "kernels");
  app.add_option("--only", args.only, "Only kernels with this in their name");
  app.add_option("--seconds", args.seconds, "Timing for each kernel and peer")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--target", args.target, "Target; native: the best for this machine")->capture_default_str();
  app.add_option("--cpu", args.cpu, "Processor to pin to; default: the last one")->check(CLI::NonNegativeNumber);
  app.add_option("--json", args.json_file, "Write everything to this file");
  CLI11_PARSE(app, argc, argv);
  aot::perf::PinAndLimitThreads(args.cpu, argv);
  absl::StatusOr<int> code = aot::perf::Run(std::move(args));
  if (code.ok()) return *code;
  fprintf(stderr, "kernels: %s\n", std::string(code.status().message()).c_str());
  return 2;
}
