// aot-reduce: shrinks a model for which a command fails to a few nodes for which it still fails.
//
//   aot-reduce model.onnx -o small.onnx -- sh -c 'aot-compile "$0" -t x86-64-v3 -o /tmp/a.so'
//
// The command gets the path of a candidate as its last argument. A candidate is kept if the command ends as it did for
// the whole model: with the same exit status, or by the same signal. --contains TEXT asks for a text in what it prints
// as well.
//
// Exit status: 0 done; 1 a file can't be read or written, or the command doesn't fail for the whole model; 2 a mistake
// on the command line.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <iostream>

#include "clients/tensor_io/file.h"
#include "compiler/tools/reduce_model.h"

namespace aot::tools {
namespace {

struct Arguments {
  std::string model, output, contains;
  std::vector<std::string> dims, command;
  int64_t most_tries = 10'000;
  unsigned seconds = 300;
};

struct Outcome {
  int status = 0;  // of waitpid
  bool found = false;
};

// Runs the command with `path` behind it; what it prints goes to `log`.
Outcome RunCommand(const Arguments& arguments, const std::string& path, const std::string& log) {
  const pid_t child = fork();
  if (child == 0) {
    const int file = open(log.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
    dup2(file, 1);
    dup2(file, 2);
    std::vector<char*> argv;
    for (const std::string& argument : arguments.command) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(const_cast<char*>(path.c_str()));
    argv.push_back(nullptr);
    alarm(arguments.seconds);
    execvp(argv[0], argv.data());
    _exit(127);
  }
  Outcome outcome;
  waitpid(child, &outcome.status, 0);
  auto text = clients::ReadFile(log);
  outcome.found = arguments.contains.empty() || (text.ok() && text->find(arguments.contains) != std::string::npos);
  return outcome;
}

int Fail(const std::string& message) {
  std::cerr << "aot-reduce: " << message << "\n";
  return 1;
}

int Run(const Arguments& arguments) {
  auto bytes = clients::ReadFile(arguments.model);
  if (!bytes.ok()) return Fail(std::string(bytes.status().message()));
  aot::onnx::ModelProto model;
  if (!model.ParseFromString(*bytes)) return Fail(arguments.model + " is no ONNX model");
  ReduceOptions options;
  options.most_tries = arguments.most_tries;
  for (const std::string& text : arguments.dims) {
    const size_t at = text.rfind('=');
    if (at == std::string::npos) return Fail("--dim: '" + text + "' isn't NAME=N");
    options.dims[text.substr(0, at)] = std::strtoll(text.c_str() + at + 1, nullptr, 10);
  }
  std::string directory = (std::filesystem::temp_directory_path() / "aot-reduce-XXXXXX").string();
  if (!mkdtemp(directory.data())) return Fail("can't make a temporary directory");
  const std::string candidate_path = directory + "/candidate.onnx", log = directory + "/log";
  auto outcome_of = [&](const aot::onnx::ModelProto& candidate) {
    if (!clients::WriteFile(candidate_path, candidate.SerializeAsString()).ok()) return Outcome{};
    return RunCommand(arguments, candidate_path, log);
  };
  const Outcome whole = outcome_of(model);
  int result = 0;
  if (whole.status == 0 || !whole.found) {
    result = Fail("the command doesn't fail for the whole model, or prints something else");
  } else {
    const aot::onnx::ModelProto small = ReduceModel(model, options, [&](const aot::onnx::ModelProto& candidate) {
      const Outcome outcome = outcome_of(candidate);
      return outcome.status == whole.status && outcome.found;
    });
    const absl::Status written = clients::WriteFile(arguments.output, small.SerializeAsString());
    if (!written.ok()) result = Fail(std::string(written.message()));
    std::cout << arguments.output << ": " << small.graph().node_size() << " of " << model.graph().node_size()
              << " nodes, " << small.ByteSizeLong() << " of " << bytes->size() << " bytes\n";
  }
  std::filesystem::remove_all(directory);
  return result;
}

}  // namespace
}  // namespace aot::tools

int main(int argc, char** argv) {
  CLI::App app("Shrinks a model for which a command fails.", "aot-reduce");
  aot::tools::Arguments arguments;
  app.add_option("model", arguments.model, "ONNX file")->required();
  app.add_option("-o,--output", arguments.output, "Where the small model goes")->required();
  app.add_option("--dim", arguments.dims, "Size of a symbolic dimension: NAME=N");
  app.add_option("--contains", arguments.contains, "A text that the command must print");
  app.add_option("--tries", arguments.most_tries, "Most runs of the command");
  app.add_option("--seconds", arguments.seconds, "Most seconds for one run");
  app.add_option("command", arguments.command, "Behind --: the command and its arguments")->required();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return aot::tools::Run(arguments);
}
