// random_models: the property test of random_models_test, for as many seeds as there is time for.
//
//   bazel run //tests/numeric:random_models -- --from 1000 --count 500 --save /tmp/failures
//
// Each seed runs in a process of its own. Exit status 1 if one failed; its model is saved for aot-reduce.
#include <CLI/CLI.hpp>
#include <cstdio>
#include <fstream>

#include <sys/wait.h>
#include <unistd.h>

#include "compiler/testing/compiled_function.h"
#include "tests/numeric/check_random_model.h"

namespace aot::numeric {
namespace {

struct Arguments {
  uint32_t from = 0, count = 100;
  std::string target, save;
};

bool Check(uint32_t seed, const Arguments& arguments) {
  const RandomModel model = MakeRandomModel(seed);
  fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(300);
    const std::string wrong = CheckRandomModel(model, arguments.target);
    if (!wrong.empty()) printf("seed %u: %s\n%s", seed, wrong.c_str(), model.text.c_str());
    fflush(stdout);
    _exit(wrong.empty() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (status == 0) return true;
  if (WIFSIGNALED(status)) printf("seed %u: signal %d\n%s", seed, WTERMSIG(status), model.text.c_str());
  if (!arguments.save.empty()) {
    std::ofstream(arguments.save + "/seed_" + std::to_string(seed) + ".onnx", std::ios::binary) << model.model.bytes;
  }
  return false;
}

int Run(const Arguments& arguments) {
  uint32_t failures = 0;
  for (uint32_t seed = arguments.from; seed < arguments.from + arguments.count; ++seed) {
    if (!Check(seed, arguments)) ++failures;
  }
  printf("random models: %u right, %u wrong\n", arguments.count - failures, failures);
  return failures == 0 ? 0 : 1;
}

}  // namespace
}  // namespace aot::numeric

int main(int argc, char** argv) {
  CLI::App app("Random models, compiled and held against the reference.", "random_models");
  aot::numeric::Arguments arguments;
  arguments.target = aot::testing::HostTarget();
  app.add_option("--from", arguments.from, "First seed");
  app.add_option("--count", arguments.count, "Number of seeds");
  app.add_option("--target", arguments.target, "A target that this machine runs");
  app.add_option("--save", arguments.save, "Directory for models that fail");
  CLI11_PARSE(app, argc, argv);
  return aot::numeric::Run(arguments);
}
