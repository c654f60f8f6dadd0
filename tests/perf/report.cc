#include "tests/perf/report.h"

#include <cmath>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/aotctl/output.h"

namespace aot::perf {
namespace {

using clients::FormatBytes;
using clients::FormatSeconds;
using nlohmann::json;

std::string PeerLine(const std::string& name, const json& peer) {
  if (peer.contains("error")) {
    std::string error = peer["error"];
    if (error.size() > 160) error = error.substr(0, 160) + "...";
    return absl::StrFormat("  %-13s %s\n", PeerName(name), error);
  }
  return absl::StrFormat(
      "  %-13s load to first %-8s first %-8s median %-8s (least %s, cpu %s, least cpu %s, spread %.1f %%)  p99.9 %-8s  "
      "resident %-7s  disk %s\n",
      PeerName(name), FormatSeconds(peer["load_to_first"]), FormatSeconds(peer["first"]), FormatSeconds(peer["median"]),
      FormatSeconds(peer["least"]), FormatSeconds(peer["cpu"]), FormatSeconds(peer["cpu_least"]),
      100 * peer["spread"].get<double>(), peer.contains("p99_9") ? FormatSeconds(peer["p99_9"]) : "-",
      FormatBytes(peer["resident_bytes"]), FormatBytes(peer["disk_bytes"]));
}

}  // namespace

std::string PeerName(const std::string& peer) {
  if (peer == "aot") return "AOT";
  if (peer == "ort") return "ONNX Runtime";
  if (peer == "opencv") return "OpenCV";
  return peer;
}

double GeometricMean(const std::vector<double>& values) {
  double sum = 0;
  int count = 0;
  for (double value : values) {
    if (!(value > 0)) continue;
    sum += std::log(value);
    ++count;
  }
  return count == 0 ? 0 : std::exp(sum / count);
}

json GeometricMeans(const json& models) {
  std::map<std::string, std::map<std::string, std::vector<double>>> values;
  for (const json& model : models) {
    if (!model.contains("ratios")) continue;
    for (const auto& [peer, ratios] : model["ratios"].items())
      for (const auto& [member, ratio] : ratios.items()) values[peer][member].push_back(ratio);
  }
  json means = json::object();
  for (const auto& [peer, members] : values) {
    for (const auto& [member, ratios] : members) means[peer][member] = GeometricMean(ratios);
    means[peer]["models"] = members.at("median").size();
  }
  return means;
}

std::string ModelText(const json& model) {
  std::string text = model["model"].get<std::string>();
  if (model.contains("error")) return absl::StrCat(text, "\n  ", model["error"].get<std::string>(), "\n");
  absl::StrAppendFormat(&text, "  limit %s, %.0f %% of it reached\n", FormatSeconds(model["least_seconds"]),
                        100 * model["share_of_limit"].get<double>());
  text += PeerLine("aot", model["peers"]["aot"]);
  for (const auto& [name, peer] : model["peers"].items())
    if (name != "aot") text += PeerLine(name, peer);
  for (const auto& [name, ratios] : model["ratios"].items()) {
    absl::StrAppendFormat(
        &text, "  %s / AOT: %.2f (least %.2f, cpu %.2f)  load to first %.1f (cpu %.1f)  resident memory AOT / it %.2f",
        PeerName(name), ratios["median"].get<double>(), ratios["least"].get<double>(), ratios["cpu"].get<double>(),
        ratios["load_to_first"].get<double>(), ratios["load_to_first_cpu"].get<double>(),
        ratios["resident"].get<double>());
    const json& peer = model["peers"][name];
    if (peer.contains("difference"))
      absl::StrAppendFormat(&text, "  outputs differ by %.1e", peer["difference"].get<double>());
    text += "\n";
  }
  return text;
}

std::string MachineText(const json& machine) {
  std::string text =
      absl::StrFormat("%s, %d thread(s): %.1f GFLOP/s of 32-bit multiply-adds, %.1f GOP/s of 8-bit dot products",
                      machine["processor"].get<std::string>(), machine["threads"].get<int>(),
                      machine["flops"].get<double>() / 1e9, machine["byte_ops"].get<double>() / 1e9);
  for (const json& level : machine["levels"]) {
    absl::StrAppendFormat(&text, "; %s %.1f GB/s", level["name"].get<std::string>(),
                          level["bytes_per_second"].get<double>() / 1e9);
  }
  return text + "\n";
}

std::string KernelText(const json& kernel) {
  std::string text = absl::StrFormat("%-38s %-8s (least %s)", kernel["name"].get<std::string>(),
                                     FormatSeconds(kernel["median"]), FormatSeconds(kernel["least"]));
  if (kernel.contains("share_of_peak")) {
    absl::StrAppendFormat(&text, "  %.1f %% of peak", 100 * kernel["share_of_peak"].get<double>());
    if (double wanted = kernel["wanted_share"]; wanted > 0)
      absl::StrAppendFormat(&text, " (wanted %.0f)", 100 * wanted);
  }
  if (kernel.contains("factor")) {
    absl::StrAppendFormat(&text, "  %.2f times as fast as direct", kernel["factor"].get<double>());
    if (double wanted = kernel["wanted_factor"]; wanted > 0) absl::StrAppendFormat(&text, " (wanted %.1f)", wanted);
  }
  if (kernel.contains("onednn_least")) {
    absl::StrAppendFormat(&text, "  oneDNN %s, oneDNN / AOT %.2f (least %.2f)", FormatSeconds(kernel["onednn_median"]),
                          kernel["onednn_median"].get<double>() / kernel["median"].get<double>(),
                          kernel["onednn_least"].get<double>() / kernel["least"].get<double>());
  } else {
    absl::StrAppend(&text, "  oneDNN: ", kernel["onednn_error"].get<std::string>());
  }
  return absl::StrCat(text, "  [", kernel["algorithm"].get<std::string>(), "]\n");
}

std::string GeometricMeansText(const json& means) {
  std::string text;
  for (const auto& [peer, mean] : means.items()) {
    absl::StrAppendFormat(&text,
                          "geometric mean over %d models, %s / AOT: %.2f (least %.2f, cpu %.2f), load to first result "
                          "%.1f; resident memory "
                          "AOT / it %.2f\n",
                          mean["models"].get<int>(), PeerName(peer), mean["median"].get<double>(),
                          mean["least"].get<double>(), mean["cpu"].get<double>(), mean["load_to_first"].get<double>(),
                          mean["resident"].get<double>());
  }
  return text;
}

}  // namespace aot::perf
