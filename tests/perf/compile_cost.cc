// compile_cost: time and peak memory of compiling generated models, as a table; says whether the promises hold.
//
// A model is made in one process, compiled in another from the file that the first wrote.
//
// Promised: a chain of 10 000 nodes in under 60 s and of 100 000 in under 11 times that; never more than 3 times the
// model's bytes plus 200 MB of memory. Exit status 1 if one of them is broken.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "compiler/pipeline.h"
#include "tests/perf/generated_models.h"
#include "tests/perf/measure.h"

namespace aot::perf {
namespace {

struct Arguments {
  std::string only, write;
  std::vector<int64_t> sizes;
  std::string target = "x86-64-v3";
  int opt_level = 3;
  int threads = 2;
  int limit_seconds = 660;
  bool stages = false;
};

std::vector<int64_t> SizesOf(const GeneratedModel& model, const Arguments& arguments) {
  if (!arguments.sizes.empty()) return arguments.sizes;
  if (model.name.rfind("large", 0) == 0) return {300};
  return {10'000, 100'000};
}

constexpr double kMegabyte = 1 << 20;

std::string ReadAndCompile(const std::string& path, const Arguments& arguments) {
  compiler::Model model;
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  model.bytes.resize(static_cast<size_t>(file.tellg()));
  file.seekg(0);
  if (!file.read(model.bytes.data(), static_cast<std::streamsize>(model.bytes.size()))) return "can't read " + path;
  compiler::Options options;
  options.target = arguments.target;
  options.opt_level = arguments.opt_level;
  options.threads = arguments.threads;
  const auto start = std::chrono::steady_clock::now();
  auto tell = [&](absl::string_view what) {
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    printf("  %-20s %7.1f s, %7.1f MB now, %7.1f MB at most\n", std::string(what).c_str(), seconds,
           static_cast<double>(ResidentBytes()) / kMegabyte, static_cast<double>(PeakBytes()) / kMegabyte);
    fflush(stdout);
  };
  compiler::Progress progress;
  if (arguments.stages) {
    tell("start");
    progress = [&](compiler::Stage stage, int done, int total) {
      if (done == total) tell(compiler::Name(stage));
    };
  }
  auto artifact = compiler::Compile(model, options, progress);
  return artifact.ok() ? "" : std::string(artifact.status().message());
}

bool Write(const compiler::Model& model, const std::string& path) {
  std::ofstream file(path, std::ios::binary);
  file.write(model.bytes.data(), static_cast<std::streamsize>(model.bytes.size()));
  file.close();
  return static_cast<bool>(file);
}

bool Report(const GeneratedModel& generated, int64_t size, double model_bytes, const Cost& cost,
            double ten_thousand_seconds) {
  const double allowed = 3 * model_bytes + 200 * kMegabyte;
  std::string verdict;
  if (!cost.error.empty()) verdict = cost.error.substr(0, 200);
  const bool is_chain = generated.name != "initialisers" && (size == 10'000 || size == 100'000);
  if (is_chain && size == 10'000 && cost.seconds > 60) absl::StrAppend(&verdict, " over 60 s");
  if (is_chain && size == 100'000 && ten_thousand_seconds > 0 && cost.seconds > 11 * ten_thousand_seconds) {
    absl::StrAppend(&verdict, " over 11 times 10 000 nodes");
  }
  if (static_cast<double>(cost.peak_bytes) > allowed) absl::StrAppend(&verdict, " over 3 times the model + 200 MB");
  printf("%-20s %8lld %10.1f %9.1f %9.1f %10.1f %10.1f  %s\n", generated.name.c_str(), static_cast<long long>(size),
         model_bytes / kMegabyte, cost.seconds, cost.cpu_seconds, static_cast<double>(cost.peak_bytes) / kMegabyte,
         allowed / kMegabyte, verdict.empty() ? "ok" : verdict.c_str());
  fflush(stdout);
  return verdict.empty();
}

int Run(const Arguments& arguments) {
  printf("%-20s %8s %10s %9s %9s %10s %10s\n", "model", "size", "MB", "s", "cpu s", "peak MB", "allowed MB");
  bool all_hold = true;
  const std::string directory =
      arguments.write.empty() ? std::filesystem::temp_directory_path().string() : arguments.write;
  for (const GeneratedModel& generated : GeneratedModels()) {
    if (!arguments.only.empty() && generated.name != arguments.only) continue;
    double ten_thousand_seconds = 0;
    for (int64_t size : SizesOf(generated, arguments)) {
      const std::string path = absl::StrCat(directory, "/", generated.name, "-", size, ".onnx");
      const Cost making =
          Measure([&] { return Write(generated.make(size), path) ? std::string() : "can't write " + path; },
                  arguments.limit_seconds);
      if (!making.error.empty()) {
        fprintf(stderr, "%s\n", making.error.c_str());
        return 1;
      }
      if (!arguments.write.empty()) continue;
      const auto bytes = static_cast<double>(std::filesystem::file_size(path));
      const Cost cost = Measure([&] { return ReadAndCompile(path, arguments); }, arguments.limit_seconds);
      std::filesystem::remove(path);
      all_hold = Report(generated, size, bytes, cost, ten_thousand_seconds) && all_hold;
      if (size == 10'000) ten_thousand_seconds = cost.seconds;
    }
  }
  return all_hold ? 0 : 1;
}

}  // namespace
}  // namespace aot::perf

int main(int argc, char** argv) {
  CLI::App app("Time and memory of compiling generated models.", "compile_cost");
  aot::perf::Arguments arguments;
  app.add_option("--only", arguments.only, "One of the models of generated_models.cc");
  app.add_option("--size", arguments.sizes, "Nodes, initialisers or MB instead of the standard sizes");
  app.add_option("--target", arguments.target);
  app.add_option("--opt", arguments.opt_level)->check(CLI::Range(0, 3));
  app.add_option("--threads", arguments.threads);
  app.add_option("--limit", arguments.limit_seconds, "Seconds after which a compile is killed");
  app.add_flag("--stages", arguments.stages, "Time and memory after each stage as well");
  app.add_option("--write", arguments.write, "Writes the models into this directory and compiles nothing");
  CLI11_PARSE(app, argc, argv);
  return aot::perf::Run(arguments);
}
