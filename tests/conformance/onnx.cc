// Runs ONNX's own conformance suite through the compiler and the runtime. tests/conformance/README.md says how it is
// used.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/aotctl/output.h"
#include "clients/model/native_target.h"
#include "clients/tensor_io/file.h"
#include "tests/conformance/expected.h"
#include "tests/conformance/suite.h"

namespace aot::tests {
namespace {

struct Args {
  std::string suite, target = "native", json, only, expected, name;
  int opt_level = 3;
  int jobs = 2;
  int limit_seconds = 120;
  bool update = false;
  bool quiet = false;
};

void AddOptions(CLI::App& app, Args* args) {
  app.add_option("--suite", args->suite, "Directory of cases in ONNX's layout, at any depth")->required();
  app.add_option("--opt", args->opt_level, "Optimisation level, 0 to 3")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  app.add_option("--only", args->only, "Cases whose name contains this; * stands for anything");
  app.add_option("--target", args->target, "Target; native: the best for this machine")->capture_default_str();
  app.add_option("--jobs", args->jobs, "Worker processes")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--limit", args->limit_seconds, "Seconds that one case may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--json", args->json, "Write every case's result to this file");
  auto* expected = app.add_option("--expected", args->expected, "A list of expected results to compare with");
  auto* name = app.add_option("--name", args->name, "The suite's name in that list")->needs(expected);
  expected->needs(name);
  app.add_flag("--update", args->update, "Write what came out to the list instead")->needs(expected);
  app.add_flag("--quiet", args->quiet, "Only the totals");
}

absl::Status WriteJson(const Args& args, const std::string& target, const std::vector<CaseResult>& results,
                       const Totals& totals) {
  nlohmann::json cases = nlohmann::json::array();
  for (const CaseResult& result : results) cases.push_back(nlohmann::json::parse(ToJson(result)));
  nlohmann::json all = {{"target", target},     {"opt", args.opt_level}, {"cases", std::move(cases)},
                        {"pass", totals.pass},  {"fail", totals.fail},   {"unsupported", totals.unsupported},
                        {"bound", totals.bound}};
  return clients::WriteFile(clients::UserPath(args.json), all.dump(1) + "\n");
}

// Compares with the list or rewrites the suite's part of it. The number of deviations.
absl::StatusOr<size_t> HandleExpected(const Args& args, const std::vector<CaseResult>& results) {
  const std::string path = clients::UserPath(args.expected);
  absl::StatusOr<std::string> text = clients::ReadFile(path);
  if (absl::IsNotFound(text.status()) && args.update) text = "{}";
  if (!text.ok()) return text.status();
  absl::StatusOr<Expected> expected = ParseExpected(*text);
  if (!expected.ok()) return expected.status();
  if (args.update) {
    (*expected)[args.name] = Record(results, (*expected)[args.name]);
    if (absl::Status status = clients::WriteFile(path, FormatExpected(*expected)); !status.ok()) return status;
    return 0;
  }
  auto suite = expected->find(args.name);
  if (suite == expected->end()) return absl::NotFoundError(absl::StrCat(path, " has no suite ", args.name));
  const std::vector<std::string> deviations = Deviations(suite->second, results);
  for (const std::string& deviation : deviations) printf("%s\n", clients::Printable(deviation).c_str());
  printf("%zu cases deviate from %s\n", deviations.size(), path.c_str());
  return deviations.size();
}

absl::StatusOr<int> Run(const Args& args) {
  absl::StatusOr<std::string> target = clients::ResolveTarget(args.target);
  if (!target.ok()) return target.status();
  if (!clients::RunsHere(*target)) {
    return absl::FailedPreconditionError(absl::StrCat("code for ", *target, " doesn't run on this machine"));
  }
  const std::string suite = clients::UserPath(args.suite);
  absl::StatusOr<std::vector<std::string>> cases = ListCases(suite, args.only);
  if (!cases.ok()) return cases.status();
  compiler::Options options;
  options.target = *target;
  options.opt_level = args.opt_level;
  options.threads = 1;
  WorkerOptions workers;
  workers.jobs = args.jobs;
  workers.limit = absl::Seconds(args.limit_seconds);
  const std::vector<CaseResult> results = RunSuite(suite, *cases, options, workers, [&](const CaseResult& result) {
    if (args.quiet || (result.outcome == Outcome::kPass && args.only.empty())) return;
    std::string line = absl::StrFormat("%-11s  %s  %s", Name(result.outcome), result.name, result.message);
    printf("%s\n", clients::Printable(line).c_str());
    fflush(stdout);
  });
  const Totals totals = Count(results);
  if (!args.json.empty()) {
    if (absl::Status status = WriteJson(args, *target, results, totals); !status.ok()) return status;
  }
  size_t deviations = 0;
  if (!args.expected.empty()) {
    absl::StatusOr<size_t> found = HandleExpected(args, results);
    if (!found.ok()) return found.status();
    deviations = *found;
  }
  printf("target %s, opt %d; operands that decide shapes were bound to constants in %d cases\n", target->c_str(),
         args.opt_level, totals.bound);
  printf("onnx conformance: %d pass, %d fail, %d unsupported, of %d\n", totals.pass, totals.fail, totals.unsupported,
         totals.all());
  return totals.fail == 0 && deviations == 0 ? 0 : 1;
}

}  // namespace
}  // namespace aot::tests

int main(int argc, char** argv) {
  aot::tests::Args args;
  CLI::App app("Runs ONNX's conformance suite", "onnx");
  aot::tests::AddOptions(app, &args);
  CLI11_PARSE(app, argc, argv);
  absl::StatusOr<int> code = aot::tests::Run(args);
  if (code.ok()) return *code;
  fprintf(stderr, "onnx: %s\n", std::string(code.status().message()).c_str());
  return 2;
}
