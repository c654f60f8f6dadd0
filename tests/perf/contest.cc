#include "tests/perf/contest.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <memory>

#include "absl/strings/str_cat.h"
#include "tests/perf/binding.h"
#include "tests/perf/peer_process.h"

namespace aot::perf {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kBlockSeconds = 0.1;
constexpr int kStarts = 3;          // processes of each peer that are timed from loading to the first result
constexpr size_t kLeastBlocks = 5;  // of a peer, however slow
constexpr int64_t kRunsForTail = 10000;

struct Contestant {
  std::string name;
  std::vector<std::string> arguments;
  std::unique_ptr<PeerProcess> process;
  std::string error;  // empty: it still takes part
  std::vector<double> load_to_first, load_cpu, first, cpu, block_medians;
  double timed = 0;
  json result = json::object();
};

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

// Removed with everything in it at the end of the scope.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    const char* base = getenv("TMPDIR");
    std::string path = absl::StrCat(base != nullptr ? base : "/tmp", "/aot-compare-XXXXXX");
    if (mkdtemp(path.data()) != nullptr) path_ = path;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

// Sends a command; a peer that fails is out.
json Ask(Contestant& contestant, const std::string& command) {
  if (!contestant.error.empty()) return json::object();
  absl::StatusOr<json> answer = contestant.process->Ask(command);
  if (answer.ok()) return *answer;
  contestant.error = std::string(answer.status().message());
  contestant.process = nullptr;
  return json::object();
}

// A fresh process that loads the model and runs it once.
void StartAndLoad(Contestant& contestant) {
  if (!contestant.error.empty()) return;
  contestant.process = nullptr;
  absl::StatusOr<std::unique_ptr<PeerProcess>> process = PeerProcess::Start(contestant.arguments);
  if (!process.ok()) {
    contestant.error = std::string(process.status().message());
    return;
  }
  contestant.process = *std::move(process);
  const json answer = Ask(contestant, "load");
  if (!contestant.error.empty()) return;
  const double load = answer["load_seconds"], first = answer["first_seconds"];
  contestant.load_to_first.push_back(load + first);
  contestant.load_cpu.push_back(answer["cpu"]);
  contestant.first.push_back(first);
}

void RunBlock(Contestant& contestant) {
  const json block = Ask(contestant, absl::StrCat("block ", kBlockSeconds));
  if (!contestant.error.empty()) return;
  const double median = block["median"], runs = block["runs"];
  contestant.block_medians.push_back(median);
  contestant.cpu.push_back(block["cpu"]);
  contestant.timed += median * runs;
}

// Blocks in turn, so that whatever else the machine does meets all alike.
void TakeTurns(std::vector<Contestant>& contestants, double seconds) {
  for (bool again = true; again;) {
    again = false;
    for (Contestant& contestant : contestants) {
      if (!contestant.error.empty()) continue;
      RunBlock(contestant);
      again |=
          contestant.error.empty() && (contestant.block_medians.size() < kLeastBlocks || contestant.timed < seconds);
    }
  }
}

void Summarise(Contestant& contestant) {
  const json summary = Ask(contestant, "summary");
  if (!contestant.error.empty()) {
    contestant.result = {{"error", contestant.error}};
    return;
  }
  json& result = contestant.result;
  const double median = summary["median"], lower = summary["lower_quartile"], upper = summary["upper_quartile"];
  result["load_to_first"] = Median(contestant.load_to_first);
  result["load_to_first_cpu"] = Median(contestant.load_cpu);
  result["first"] = Median(contestant.first);
  result["median"] = median;
  result["least"] = summary["least"];
  result["cpu"] = Median(contestant.cpu);
  result["cpu_least"] = *std::min_element(contestant.cpu.begin(), contestant.cpu.end());
  result["spread"] = median > 0 ? (upper - lower) / median : 0;
  result["runs"] = summary["runs"];
  result["blocks"] = contestant.block_medians.size();
  if (summary["runs"].get<int64_t>() >= kRunsForTail) result["p99_9"] = summary["p99_9"];
}

// How far our first outputs are from the other's.
void CompareOutputs(std::vector<Contestant>& contestants, const std::string& directory) {
  std::map<std::string, std::vector<Binding>> outputs;
  for (Contestant& contestant : contestants) {
    const std::string path = absl::StrCat(directory, "/outputs_", contestant.name);
    Ask(contestant, absl::StrCat("outputs ", path));
    if (!contestant.error.empty()) continue;
    absl::StatusOr<std::vector<Binding>> bindings = ReadBindings(path);
    if (bindings.ok()) outputs[contestant.name] = *std::move(bindings);
  }
  for (Contestant& contestant : contestants) {
    if (contestant.name == "aot" || !outputs.count("aot") || !outputs.count(contestant.name)) continue;
    const double difference = RelativeDifference(outputs["aot"], outputs[contestant.name]);
    if (difference >= 0) contestant.result["difference"] = difference;
  }
}

json Ratios(const json& ours, const json& theirs) {
  json ratios = json::object();
  for (const char* member : {"median", "least", "cpu", "load_to_first", "load_to_first_cpu"}) {
    ratios[member] = theirs[member].get<double>() / ours[member].get<double>();
  }
  ratios["resident"] = ours["resident_bytes"].get<double>() / theirs["resident_bytes"].get<double>();
  return ratios;
}

int64_t FileBytes(const std::string& path) {
  std::error_code error;
  const uintmax_t bytes = fs::file_size(path, error);
  return error ? 0 : static_cast<int64_t>(bytes);
}

std::vector<Contestant> MakeContestants(const std::string& directory, const std::string& prepared,
                                        const ContestOptions& options) {
  const std::string inputs = prepared + "/inputs", threads = absl::StrCat(options.threads);
  std::vector<Contestant> contestants(1);
  contestants[0].name = "aot";
  contestants[0].arguments = {options.programs + "/aot_peer", prepared + "/model.so", inputs, threads, options.cpus};
  for (const std::string& peer : options.peers) {
    Contestant contestant;
    contestant.name = peer;
    contestant.arguments = {absl::StrCat(options.programs, "/", peer, "_peer"), directory + "/model.onnx", inputs,
                            threads, options.cpus};
    if (peer == "ort") contestant.arguments.push_back(options.ort_library);
    contestants.push_back(std::move(contestant));
  }
  return contestants;
}

}  // namespace

absl::StatusOr<json> RunContest(const std::string& directory, const ContestOptions& options, const Machine& machine) {
  TemporaryDirectory temporary;
  if (temporary.path().empty()) return absl::UnavailableError("no temporary directory can be made");
  absl::StatusOr<json> prepared = PrepareModel(directory, temporary.path(), options.prepare, machine);
  if (!prepared.ok()) return prepared.status();
  json result = *std::move(prepared);

  std::vector<Contestant> contestants = MakeContestants(directory, temporary.path(), options);
  for (int start = 0; start < kStarts; ++start) {
    for (Contestant& contestant : contestants) StartAndLoad(contestant);
  }
  CompareOutputs(contestants, temporary.path());
  for (Contestant& contestant : contestants) {
    const json memory = Ask(contestant, absl::StrCat("warm ", kBlockSeconds));
    contestant.result.update(memory);
    contestant.result["disk_bytes"] = FileBytes(contestant.arguments[1]);
  }
  TakeTurns(contestants, options.seconds);
  for (Contestant& contestant : contestants) {
    Summarise(contestant);
    contestant.process = nullptr;
    result["peers"][contestant.name] = contestant.result;
  }
  const json& ours = result["peers"]["aot"];
  if (ours.contains("error")) return absl::InternalError(ours["error"].get<std::string>());
  result["ratios"] = json::object();
  for (const std::string& peer : options.peers) {
    if (!result["peers"][peer].contains("error")) result["ratios"][peer] = Ratios(ours, result["peers"][peer]);
  }
  // By CPU time, which other work on the machine hardly touches; it adds up over threads.
  result["share_of_limit"] = result["least_seconds"].get<double>() * options.threads / ours["cpu"].get<double>();
  return result;
}

}  // namespace aot::perf
