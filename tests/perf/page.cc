// page: docs/performance.md from the JSON of comparisons and of a measurement of kernels.
//
//   page COMPARE.json... KERNELS.json > docs/performance.md
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/aotctl/output.h"
#include "clients/tensor_io/file.h"
#include "tests/perf/report.h"
#include "tools/docs/markdown.h"

namespace aot::perf {
namespace {

using clients::FormatBytes;
using clients::FormatSeconds;
using nlohmann::json;

std::string Two(const json& number) { return absl::StrFormat("%.2f", number.get<double>()); }
std::string One(const json& number) { return absl::StrFormat("%.1f", number.get<double>()); }
std::string Percent(const json& share) { return absl::StrFormat("%.0f %%", 100 * share.get<double>()); }

std::string Introduction(const json& compare) {
  const json& settings = compare["settings"];
  return absl::StrCat(
      "# Performance\n\n"
      "Generated from runs of `//tests/perf:compare` and `//tests/perf:kernels`, which "
      "[tests/perf](../tests/perf/README.md) describes: what is "
      "timed, how, and what each column means. Measure your own model with them, or with `aotctl bench`.\n\n"
      "Target ",
      settings["target"].get<std::string>(), ", `--optimize-for ", settings["optimize_for"].get<std::string>(), "`, ",
      settings["threads"].get<int>(), " thread(s), compiler ", settings["compiler"].get<std::string>(),
      ", on a machine that did other work at the same time: read ratios rather than times, and CPU times rather than "
      "wall "
      "times.\n\n**The machine**: ",
      MachineText(compare["machine"]), "\n");
}

// One row a model: our times beside a peer's.
std::string PeerTable(const json& models, const std::string& peer) {
  std::vector<docs::Row> rows = {{"Model", "AOT", PeerName(peer), "Ratio", "of medians", "of least runs",
                                  "Load to first result", "of CPU times", "Memory, ours / its", "Outputs differ by"}};
  std::string left_out;
  for (const json& model : models) {
    if (model.contains("error") || !model["peers"].contains(peer)) continue;
    const std::string name = model["model"];
    if (!model["ratios"].contains(peer)) {
      absl::StrAppend(&left_out, left_out.empty() ? "" : ", ", name);
      continue;
    }
    const json &ours = model["peers"]["aot"], &theirs = model["peers"][peer], &ratios = model["ratios"][peer];
    rows.push_back({name, FormatSeconds(ours["cpu"]), FormatSeconds(theirs["cpu"]), Two(ratios["cpu"]),
                    Two(ratios["median"]), Two(ratios["least"]), One(ratios["load_to_first"]),
                    One(ratios["load_to_first_cpu"]), Two(ratios["resident"]),
                    theirs.contains("difference") ? absl::StrFormat("%.0e", theirs["difference"].get<double>()) : "-"});
  }
  std::string text =
      absl::StrCat("## Against ", PeerName(peer),
                   "\n\nCPU time of a run, medians, and their ratio, the peer's over ours; then that of the wall "
                   "times' medians and of the least runs.\n\n",
                   docs::Table(rows));
  if (!left_out.empty()) absl::StrAppend(&text, "\nIt can't run: ", left_out, ".\n");
  return text + "\n";
}

// Resident memory that is neither packed weights nor arena: program, code, inputs and outputs. Negative where a run
// reads only some of the weights.
std::string Beyond(const json& model) {
  const int64_t bytes = model["peers"]["aot"]["resident_bytes"].get<int64_t>() -
                        model["packed_weights_bytes"].get<int64_t>() - model["arena_bytes"].get<int64_t>();
  return absl::StrCat(bytes < 0 ? "-" : "", FormatBytes(std::abs(bytes)));
}

std::string OwnTable(const json& models) {
  std::vector<docs::Row> rows = {{"Model", "Load to first result", "First", "Median", "p99.9", "Spread", "Limit",
                                  "Share", "Resident", "beyond weights and arena", "Arena", "Packed weights",
                                  "Artifact", "Model's file"}};
  for (const json& model : models) {
    if (model.contains("error")) continue;
    const json& ours = model["peers"]["aot"];
    rows.push_back({model["model"], FormatSeconds(ours["load_to_first"]), FormatSeconds(ours["first"]),
                    FormatSeconds(ours["median"]), ours.contains("p99_9") ? FormatSeconds(ours["p99_9"]) : "-",
                    Percent(ours["spread"]), FormatSeconds(model["least_seconds"]), Percent(model["share_of_limit"]),
                    FormatBytes(ours["resident_bytes"]), Beyond(model), FormatBytes(model["arena_bytes"]),
                    FormatBytes(model["packed_weights_bytes"]), FormatBytes(model["artifact_bytes"]),
                    FormatBytes(model["model_bytes"])});
  }
  return absl::StrCat(
      "## The artifacts themselves\n\nFirst: the first run after loading. Limit: what the machine needs at least for "
      "the schedule's operations and bytes; the share is that over our CPU time.\n\n",
      docs::Table(rows), "\n");
}

std::string KernelTable(const json& report) {
  std::vector<docs::Row> rows = {{"Kernel", "AOT", "Share of peak", "Wanted", "oneDNN", "oneDNN / AOT", "Algorithm"}};
  for (const json& kernel : report["kernels"]) {
    std::string wanted = "-", share = kernel.contains("share_of_peak") ? Percent(kernel["share_of_peak"]) : "-";
    if (kernel["wanted_share"].get<double>() > 0) wanted = Percent(kernel["wanted_share"]);
    if (kernel.contains("factor")) {
      absl::StrAppend(&share, ", ", Two(kernel["factor"]), " x direct");
      if (kernel["wanted_factor"].get<double>() > 0) wanted = absl::StrCat(Two(kernel["wanted_factor"]), " x direct");
    }
    std::string theirs = "-", ratio = "-";
    if (kernel.contains("onednn_least")) {
      theirs = FormatSeconds(kernel["onednn_least"]);
      ratio = absl::StrFormat("%.2f", kernel["onednn_least"].get<double>() / kernel["least"].get<double>());
    }
    rows.push_back({kernel["name"], FormatSeconds(kernel["least"]), share, wanted, theirs, ratio, kernel["algorithm"]});
  }
  return absl::StrCat("## Kernels\n\nOne operation each, least times, against the machine's peak and oneDNN: ",
                      MachineText(report["machine"]), "\n", docs::Table(rows),
                      "\nGeometric mean, oneDNN / AOT: ", Two(report["geometric_mean"]), ".\n");
}

std::string Page(const json& compare, const json& kernels) {
  std::string text = Introduction(compare);
  absl::StrAppend(&text, "**Geometric means**:\n\n```\n", GeometricMeansText(compare["geometric_means"]), "```\n\n");
  for (const auto& [peer, mean] : compare["geometric_means"].items()) text += PeerTable(compare["models"], peer);
  text += OwnTable(compare["models"]);
  for (const json& model : compare["models"]) {
    if (model.contains("error")) {
      absl::StrAppend(&text, "Not measured: ", model["model"].get<std::string>(), ": ",
                      model["error"].get<std::string>(), "\n\n");
    }
  }
  return text + KernelTable(kernels);
}

int Run(int argc, char** argv) {
  std::vector<json> reports;
  for (int i = 1; i < argc; ++i) {
    absl::StatusOr<std::string> text = clients::ReadFile(clients::UserPath(argv[i]));
    reports.push_back(text.ok() ? json::parse(*text, nullptr, false) : json());
    if (!reports.back().contains(i + 1 < argc ? "models" : "kernels")) {
      fprintf(stderr, "page: %s isn't the report of a %s\n", argv[i], i + 1 < argc ? "comparison" : "run of kernels");
      return 2;
    }
  }
  if (reports.size() < 2) {
    fprintf(stderr, "usage: page COMPARE.json... KERNELS.json\n");
    return 2;
  }
  // The models of all comparisons as one; machine and settings are the first one's.
  json compare = reports[0];
  for (size_t i = 1; i + 1 < reports.size(); ++i)
    for (const json& model : reports[i]["models"]) compare["models"].push_back(model);
  compare["geometric_means"] = GeometricMeans(compare["models"]);
  printf("%s", Page(compare, reports.back()).c_str());
  return 0;
}

}  // namespace
}  // namespace aot::perf

int main(int argc, char** argv) { return aot::perf::Run(argc, argv); }
