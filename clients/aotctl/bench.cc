// aotctl bench: how long an inference takes on this machine, and how steadily.
#include <chrono>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "clients/aotctl/statistics.h"
#include "clients/aotctl/tensor_flags.h"
#include "clients/aotctl/verbs.h"
#include "clients/model/session.h"
#include "clients/tensor_io/file.h"

namespace aot::clients {
namespace {

struct BenchArgs {
  std::string artifact;
  TensorFlags tensors;
  int64_t runs = 1000, warmup = 10;
};

// One inference, in seconds.
absl::StatusOr<double> Time(Session& session) {
  auto start = std::chrono::steady_clock::now();
  absl::Status status = session.Invoke();
  auto end = std::chrono::steady_clock::now();
  if (!status.ok()) return status;
  return std::chrono::duration<double>(end - start).count();
}

absl::Status Run(const BenchArgs& args, Context& context) {
  absl::Time before_load = absl::Now();
  absl::StatusOr<std::unique_ptr<Session>> session = Session::Load(UserPath(args.artifact));
  if (!session.ok()) return session.status();
  double load = absl::ToDoubleSeconds(absl::Now() - before_load);
  TensorFlags tensors = args.tensors;
  tensors.random = true;  // values hardly matter for the time
  if (absl::Status status = SetInputs(tensors, **session); !status.ok()) return status;

  absl::StatusOr<double> first = Time(**session);
  if (!first.ok()) return first.status();
  for (int64_t i = 0; i < args.warmup; ++i) {
    if (absl::StatusOr<double> time = Time(**session); !time.ok()) return time.status();
  }
  std::vector<double> samples;
  samples.reserve(static_cast<size_t>(args.runs));
  for (int64_t i = 0; i < args.runs; ++i) {
    absl::StatusOr<double> time = Time(**session);
    if (!time.ok()) return time.status();
    samples.push_back(*time);
  }
  LatencyStatistics s = Describe(std::move(samples));
  context.output.Table({{"load", FormatSeconds(load)},
                        {"first", FormatSeconds(*first)},
                        {"median", FormatSeconds(s.median)},
                        {"p99.9", FormatSeconds(s.p99_9)},
                        {"least", FormatSeconds(s.least)},
                        {"most", FormatSeconds(s.most)},
                        {"mean", FormatSeconds(s.mean)},
                        {"jitter", absl::StrFormat("%.1f %%", 100 * s.jitter)},
                        {"arena", absl::StrCat((*session)->arena_bytes(), " bytes")},
                        {"runs", absl::StrCat(args.runs)}});
  context.output.json() = {
      {"load_seconds", load},     {"first_seconds", *first},  {"median_seconds", s.median},
      {"p99_9_seconds", s.p99_9}, {"least_seconds", s.least}, {"most_seconds", s.most},
      {"mean_seconds", s.mean},   {"jitter", s.jitter},       {"arena_bytes", (*session)->arena_bytes()},
      {"runs", args.runs}};
  return absl::OkStatus();
}

}  // namespace

void AddBench(CLI::App& app, Context& context) {
  auto args = std::make_shared<BenchArgs>();
  CLI::App* command = AddCommand(app, context, "bench", "Times an artifact on this machine, on one thread", args, &Run);
  command->footer(
      "Inputs without a file get random values. Jitter is how far p99.9 lies above the median, as a share of it. "
      "Loading and the first "
      "run are timed apart.");
  command->add_option("artifact", args->artifact, "The .so file")->required();
  AddTensorFlags(command, &args->tensors);
  command->add_option("--runs", args->runs, "Timed runs")
      ->check(CLI::Range(int64_t{1}, int64_t{100000000}))
      ->capture_default_str();
  command->add_option("--warmup", args->warmup, "Runs before them that don't count")
      ->check(CLI::Range(int64_t{0}, int64_t{100000000}))
      ->capture_default_str();
}

}  // namespace aot::clients
