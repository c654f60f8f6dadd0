// aotctl cache: how the server's cache does, and cleaning it up.
#include "absl/strings/str_cat.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/verbs.h"

namespace aot::clients {
namespace {

using v1::RegistryService;

struct StatisticsArgs {};

absl::Status Statistics(const StatisticsArgs&, Context& context) {
  Connection connection(context.server);
  v1::GetStatisticsResponse s;
  absl::Status status =
      connection.Call(connection.registry(), &RegistryService::Stub::GetStatistics, v1::GetStatisticsRequest(), &s);
  if (!status.ok()) return status;
  const std::vector<std::pair<std::string, int64_t>> counters = {
      {"cache_hits", s.cache_hits()},
      {"cache_misses", s.cache_misses()},
      {"joined", s.joined()},
      {"workers_started", s.workers_started()},
      {"compiles_succeeded", s.compiles_succeeded()},
      {"compiles_failed", s.compiles_failed()},
      {"workers_lost", s.workers_lost()},
      {"workers_cancelled", s.workers_cancelled()},
      {"queued", s.queued()},
      {"running", s.running()},
      {"models", s.models()},
      {"artifacts", s.artifacts()},
      {"releases", s.releases()},
      {"blobs", s.blobs()},
      {"blob_bytes", s.blob_bytes()},
      {"upload_bytes", s.upload_bytes()},
      {"quarantined", s.quarantined()},
      {"quarantine_bytes", s.quarantine_bytes()},
      {"uptime_seconds", s.uptime_seconds()},
  };
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, value] : counters) {
    context.output.json()[name] = value;
    rows.push_back({name, absl::StrCat(value)});
  }
  context.output.Table(rows);
  return absl::OkStatus();
}

struct CollectArgs {
  int64_t budget_bytes = 0;
  int32_t keep_superseded = 4;
};

absl::Status Collect(const CollectArgs& args, Context& context) {
  Connection connection(context.server);
  v1::CollectGarbageRequest request;
  request.set_budget_bytes(args.budget_bytes);
  request.set_keep_superseded(args.keep_superseded);
  v1::CollectGarbageResponse response;
  absl::Status status =
      connection.Call(connection.registry(), &RegistryService::Stub::CollectGarbage, request, &response);
  if (!status.ok()) return status;
  context.output.Line(absl::StrCat("removed ", response.artifacts_removed(), " artifacts, ", response.models_removed(),
                                   " models, ", response.releases_removed(), " releases, ", response.blobs_removed(),
                                   " files: ", FormatBytes(response.freed_bytes()), "; kept ",
                                   FormatBytes(response.kept_bytes())));
  context.output.json() = {{"artifacts_removed", response.artifacts_removed()},
                           {"models_removed", response.models_removed()},
                           {"releases_removed", response.releases_removed()},
                           {"blobs_removed", response.blobs_removed()},
                           {"freed_bytes", response.freed_bytes()},
                           {"kept_bytes", response.kept_bytes()}};
  return absl::OkStatus();
}

}  // namespace

void AddCache(CLI::App& app, Context& context) {
  CLI::App* group = AddGroup(app, context, "cache", "Shows (alone) and cleans up the server's cache", &Statistics);
  AddCommand(*group, context, "statistics", "Hits, misses, workers, sizes", std::make_shared<StatisticsArgs>(),
             &Statistics);
  auto args = std::make_shared<CollectArgs>();
  CLI::App* command = AddCommand(*group, context, "gc",
                                 "Removes what was used longest ago, until the rest fits a budget", args, &Collect);
  command->footer(
      "Damaged files go first. What releases, running transfers and uploads of the last day need stays, whatever the "
      "budget.");
  command->add_option("--budget", args->budget_bytes, "Of all stored files, such as 500MB or 2GiB")
      ->required()
      ->transform(CLI::AsSizeValue(true).description(""));
  command
      ->add_option("--keep-superseded", args->keep_superseded,
                   "Replaced releases that each channel, model and target keeps")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

}  // namespace aot::clients
