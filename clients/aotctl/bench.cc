// aotctl bench: how long an inference takes on this machine, and how steadily.
#include <algorithm>
#include <chrono>

#include "absl/strings/escaping.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "clients/aotctl/schedule.h"
#include "clients/aotctl/statistics.h"
#include "clients/aotctl/tensor_flags.h"
#include "clients/aotctl/verbs.h"
#include "clients/model/artifact_file.h"
#include "clients/model/session.h"
#include "clients/tensor_io/file.h"

namespace aot::clients {
namespace {

struct BenchArgs {
  std::string artifact;
  TensorFlags tensors;
  int64_t runs = 1000, warmup = 10;
  bool per_layer = false;
  std::string schedule;  // what aotctl inspect --schedule --json wrote; or empty
};

// One inference, in seconds.
absl::StatusOr<double> Time(Session& session) {
  auto start = std::chrono::steady_clock::now();
  absl::Status status = session.Invoke();
  auto end = std::chrono::steady_clock::now();
  if (!status.ok()) return status;
  return std::chrono::duration<double>(end - start).count();
}

// When each step of one run ended.
struct StepClock {
  std::chrono::steady_clock::time_point last;
  std::vector<std::vector<double>>* samples = nullptr;  // of each step, in seconds

  static void Tick(void* self, uint32_t step) {
    auto* clock = static_cast<StepClock*>(self);
    auto now = std::chrono::steady_clock::now();
    if (step >= clock->samples->size()) clock->samples->resize(step + 1);
    (*clock->samples)[step].push_back(std::chrono::duration<double>(now - clock->last).count());
    clock->last = std::chrono::steady_clock::now();
  }
};

// What an artifact tells about its steps.
struct StepFacts {
  std::string key;  // of the artifact
  // The value that each step makes, by the arena plan: scratch beside the first one named. A step that only writes
  // outputs has none.
  std::vector<std::string> names;
};

absl::StatusOr<StepFacts> FactsOf(const std::string& path, size_t steps) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<ArtifactFile> file = OpenArtifact(*bytes, path);
  if (!file.ok()) return file.status();
  StepFacts facts;
  const auto& key = file->manifest.info.key;
  facts.key = absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(key), sizeof(key)));
  facts.names.assign(steps, "(output)");
  aot_manifest_plan_entry entry;
  for (uint32_t i = 0; aot_manifest_plan_at(&file->manifest, i, &entry); ++i) {
    std::string name(entry.name.data, entry.name.size);
    bool scratch = absl::StartsWith(name, "scratch of ");
    if (entry.first_step < steps && (!scratch || facts.names[entry.first_step] == "(output)")) {
      facts.names[entry.first_step] = scratch ? name.substr(11) : name;
    }
  }
  return facts;
}

// The median of each step over some runs, the slowest first; beside it, with a schedule, what was predicted.
absl::Status ReportLayers(Session& session, const BenchArgs& args, Context& context) {
  std::vector<std::vector<double>> samples;
  StepClock clock{{}, &samples};
  for (int64_t i = 0; i < std::min<int64_t>(args.runs, 1000); ++i) {
    clock.last = std::chrono::steady_clock::now();
    if (absl::Status status = session.InvokeTraced(&StepClock::Tick, &clock); !status.ok()) return status;
  }
  absl::StatusOr<StepFacts> facts = FactsOf(UserPath(args.artifact), samples.size());
  if (!facts.ok()) return facts.status();
  std::vector<PredictedStep> predicted;
  if (!args.schedule.empty()) {
    auto schedule = ReadSchedule(UserPath(args.schedule), facts->key);
    if (!schedule.ok()) return schedule.status();
    predicted = *std::move(schedule);
  }
  std::vector<std::pair<double, size_t>> order;
  double total = 0;
  for (size_t step = 0; step < samples.size(); ++step) {
    if (samples[step].empty()) continue;  // skipped by a condition
    double median = Describe(std::move(samples[step])).median;
    total += median;
    order.push_back({median, step});
  }
  std::sort(order.rbegin(), order.rend());
  std::vector<std::vector<std::string>> rows = {{"STEP", "MEDIAN", "SHARE", "VALUE"}};
  if (!predicted.empty()) rows = {{"STEP", "MEDIAN", "SHARE", "PREDICTED", "OPERATION", "ALGORITHM", "VALUE"}};
  nlohmann::json layers = nlohmann::json::array();
  for (const auto& [median, step] : order) {
    const std::string& name = facts->names[step];
    rows.push_back({absl::StrCat(step), FormatSeconds(median), absl::StrFormat("%.1f %%", 100 * median / total)});
    layers.push_back({{"step", step}, {"median_seconds", median}, {"value", name}});
    if (step < predicted.size()) {
      const PredictedStep& p = predicted[step];
      rows.back().insert(rows.back().end(), {FormatSeconds(p.seconds), p.operation, p.algorithm});
      layers.back().update({{"predicted_seconds", p.seconds}, {"operation", p.operation}, {"algorithm", p.algorithm}});
    }
    rows.back().push_back(name);
  }
  context.output.Table(rows);
  context.output.json()["layers"] = std::move(layers);
  return absl::OkStatus();
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
  return args.per_layer ? ReportLayers(**session, args, context) : absl::OkStatus();
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
  CLI::Option* per_layer =
      command->add_flag("--per-layer", args->per_layer, "Also time each step, in further runs (1000 at most)");
  command
      ->add_option("--schedule", args->schedule,
                   "What `aotctl inspect --schedule --json` wrote for this artifact: shows each step's operation, "
                   "algorithm and predicted time")
      ->needs(per_layer);
  command->add_option("--warmup", args->warmup, "Runs before them that don't count")
      ->check(CLI::Range(int64_t{0}, int64_t{100000000}))
      ->capture_default_str();
}

}  // namespace aot::clients
