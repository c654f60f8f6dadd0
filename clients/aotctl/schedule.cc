#include "clients/aotctl/schedule.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "clients/model/model_file.h"
#include "clients/tensor_io/file.h"
#include "compiler/schedule_report.h"

namespace aot::clients {
namespace {

using compiler::ScheduledStep;
using compiler::ScheduleReport;

// "28.9 M".
std::string Count(double number) {
  if (number >= 1e9) return absl::StrFormat("%.3g G", number / 1e9);
  if (number >= 1e6) return absl::StrFormat("%.3g M", number / 1e6);
  if (number >= 1e3) return absl::StrFormat("%.3g k", number / 1e3);
  return absl::StrFormat("%.0f", number);
}

std::string WorkText(const ScheduledStep& step) {
  std::vector<std::string> parts;
  if (step.multiply_adds > 0) parts.push_back(absl::StrCat(Count(step.multiply_adds), " multiply-adds"));
  if (step.byte_products > 0) parts.push_back(absl::StrCat(Count(step.byte_products), " products of bytes"));
  if (step.operations > 0) parts.push_back(absl::StrCat(Count(step.operations), " other operations"));
  if (step.weight_bytes > 0) parts.push_back(absl::StrCat(FormatBytes(step.weight_bytes), " of weights"));
  parts.push_back(absl::StrCat(FormatBytes(step.activation_bytes), " of inputs and outputs"));
  return absl::StrJoin(parts, ", ");
}

void ReportStep(size_t number, const ScheduledStep& step, double seconds, double share, Context& context) {
  context.output.Line(absl::StrFormat("%4d  %-8s %4.1f %%  %s  %s%s", number, FormatSeconds(seconds), 100 * share,
                                      step.operation, step.shape, step.conditional ? ", if a condition holds" : ""));
  auto detail = [&](const char* name, const std::string& text) {
    if (!text.empty()) context.output.Line(absl::StrFormat("      %-9s %s", name, text));
  };
  detail("makes", step.value);
  detail("algorithm", step.algorithm);
  detail("tile", step.tile);
  detail("packing", step.packing);
  detail("why", step.reason);
  detail("work", WorkText(step));
  context.output.json()["steps"].push_back({{"step", number},
                                            {"value", step.value},
                                            {"operation", step.operation},
                                            {"shape", step.shape},
                                            {"algorithm", step.algorithm},
                                            {"tile", step.tile},
                                            {"packing", step.packing},
                                            {"reason", step.reason},
                                            {"conditional", step.conditional},
                                            {"multiply_adds", step.multiply_adds},
                                            {"byte_products", step.byte_products},
                                            {"operations", step.operations},
                                            {"weight_bytes", step.weight_bytes},
                                            {"activation_bytes", step.activation_bytes},
                                            {"cycles", step.cycles},
                                            {"predicted_seconds", seconds}});
}

void ReportMemory(const ScheduleReport& report, Context& context) {
  context.output.Line(absl::StrCat("arena     ", report.arena_bytes, " bytes; lower bound of this schedule ",
                                   report.arena_lower_bound, "; without reuse ", report.arena_without_reuse,
                                   "; without fusion ", report.arena_unfused));
  context.output.Line(absl::StrCat("weights   ", report.weights_bytes, " bytes, packed"));
  context.output.json()["arena"] = {{"bytes", report.arena_bytes},
                                    {"lower_bound", report.arena_lower_bound},
                                    {"without_reuse", report.arena_without_reuse},
                                    {"without_fusion", report.arena_unfused}};
  context.output.json()["packed_weights_bytes"] = report.weights_bytes;
}

}  // namespace

absl::Status ShowSchedule(const CompileFlags& flags, double clock, Context& context) {
  absl::StatusOr<std::vector<compiler::Options>> options = ToOptions(flags);
  if (!options.ok()) return options.status();
  if (options->size() != 1) return UsageError("--schedule is about one target; name one with --target");
  absl::StatusOr<compiler::Model> model = ReadModel(UserPath(flags.model));
  if (!model.ok()) return model.status();
  absl::StatusOr<ScheduleReport> report = compiler::ReportSchedule(*model, options->front());
  if (!report.ok()) return report.status();
  double cycles = 0;
  for (const ScheduledStep& step : report->steps) cycles += step.cycles;
  const double seconds_per_cycle = 1e-9 / clock;
  context.output.json() = {{"artifact", report->artifact},
                           {"target", report->target},
                           {"clock_ghz", clock},
                           {"predicted_seconds", cycles * seconds_per_cycle},
                           {"steps", nlohmann::json::array()}};
  context.output.Line(absl::StrFormat("%s: %d steps, %s predicted at %g GHz, artifact %s", report->target,
                                      report->steps.size(), FormatSeconds(cycles * seconds_per_cycle), clock,
                                      report->artifact));
  for (size_t i = 0; i < report->steps.size(); ++i) {
    const ScheduledStep& step = report->steps[i];
    ReportStep(i, step, step.cycles * seconds_per_cycle, cycles > 0 ? step.cycles / cycles : 0, context);
  }
  ReportMemory(*report, context);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<PredictedStep>> ReadSchedule(const std::string& path, const std::string& artifact_key) {
  absl::StatusOr<std::string> text = ReadFile(path);
  if (!text.ok()) return text.status();
  auto wrong = [&](absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat(path, ": ", what)); };
  const nlohmann::json file = nlohmann::json::parse(*text, nullptr, false);
  if (!file.is_object() || !file.contains("steps") || !file["steps"].is_array() || !file.contains("artifact"))
    return wrong("this isn't what `aotctl inspect --schedule --json` writes");
  if (file["artifact"] != artifact_key) {
    return wrong(absl::StrCat("it is about the artifact ", file["artifact"].dump(), ", not about ", artifact_key,
                              "; give inspect the same model and options as compile"));
  }
  std::vector<PredictedStep> steps;
  for (const nlohmann::json& entry : file["steps"]) {
    if (!entry.is_object()) return wrong("a step is no object");
    PredictedStep step;
    auto seconds = entry.find("predicted_seconds"), operation = entry.find("operation"),
         algorithm = entry.find("algorithm");
    if (seconds != entry.end() && seconds->is_number()) step.seconds = *seconds;
    if (operation != entry.end() && operation->is_string()) step.operation = *operation;
    if (algorithm != entry.end() && algorithm->is_string()) step.algorithm = *algorithm;
    steps.push_back(std::move(step));
  }
  return steps;
}

}  // namespace aot::clients
