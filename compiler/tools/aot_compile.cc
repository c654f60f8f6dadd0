// aot-compile: an ONNX file to an artifact file, without a server.
//
// Exit status: 0 done; 1 the model is wrong, a file can't be read or written, or a limit is reached; 2 a mistake on the
// command line; 3 the model is valid but uses what is not supported (the message lists every such node).
#include <CLI/CLI.hpp>
#include <iostream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "clients/model/binding_flags.h"
#include "clients/model/bound_input.h"
#include "clients/model/model_file.h"
#include "clients/tensor_io/file.h"
#include "compiler/pipeline.h"
#include "compiler/target/target.h"

namespace aot::compiler {
namespace {

enum ExitStatus { kDone = 0, kFailure = 1, kUsage = 2, kUnsupported = 3 };

struct Arguments {
  std::string model, target, output;
  std::vector<std::string> dims, input_shapes, input_elements, bind_inputs, states, buckets, external;
  int opt_level = 3;
  std::string math = "default";
  std::string optimize_for = "balanced";
  std::string name;
  int threads = 0;
  bool check = false;
};

void Declare(CLI::App& app, Arguments& arguments) {
  std::vector<std::string> targets;
  for (const target::Description& description : target::All()) targets.push_back(description.name);
  app.add_option("model", arguments.model, "ONNX file")->required();
  app.add_option("-t,--target", arguments.target, "Device to compile for")->required()->check(CLI::IsMember(targets));
  app.add_option("-o,--output", arguments.output, "Artifact to write (.so)");
  app.add_option("--dim", arguments.dims, "Binds a symbolic dimension: NAME=N");
  app.add_option("--input-shape", arguments.input_shapes,
                 "Binds an input's whole shape: NAME=1x3x48x320. The tensors of a sequence NAME are inputs NAME[0], "
                 "NAME[1], ...");
  app.add_option("--input-elements", arguments.input_elements,
                 "How many tensors a sequence input has: NAME=3; whether an optional input is there: NAME=1 or "
                 "NAME=absent. Default: as many as have an --input-shape");
  app.add_option("--bind-input", arguments.bind_inputs,
                 "Makes an input a constant: NAME=@FILE (.npy or .pb). For operands that decide shapes");
  app.add_option("--state", arguments.states, clients::kStateFlagHelp)->allow_extra_args(false);
  app.add_option("--bucket", arguments.buckets, clients::kBucketFlagHelp)->allow_extra_args(false);
  app.add_option("--external", arguments.external,
                 "An external data file by the name that the model gives it: NAME=FILE. Without any, the files beside "
                 "the model are read");
  app.add_option("--opt", arguments.opt_level, "0: only what is needed, to 3: all")->check(CLI::Range(0, 3));
  app.add_option("--math", arguments.math, "strict: no transform that changes rounding")
      ->check(CLI::IsMember({"default", "strict"}));
  app.add_option(
         "--optimize-for", arguments.optimize_for,
         "latency: weights may grow as far as it saves time; balanced: all together by a quarter; size: not at all")
      ->check(CLI::IsMember({"latency", "balanced", "size"}));
  app.add_option("--name", arguments.name, "Model name in the manifest; default: the graph's name");
  app.add_option("--threads", arguments.threads, "Threads of the compile; 0: one per core")->check(CLI::Range(0, 1024));
  app.add_flag("--check", arguments.check,
               "Says whether the model would compile and what it takes and gives; writes nothing");
  app.footer("Exit status: 0 done, 1 error, 2 mistake on the command line, 3 model not supported.");
}

// The parts of NAME=VALUE, split at the last '='.
absl::StatusOr<std::pair<std::string, std::string>> Split(absl::string_view flag, const std::string& text) {
  size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size())
    return absl::InvalidArgumentError(absl::StrCat(flag, ": '", text, "' isn't NAME=VALUE"));
  return std::make_pair(text.substr(0, at), text.substr(at + 1));
}

absl::StatusOr<Options> ToOptions(const Arguments& arguments) {
  Options options;
  options.target = arguments.target;
  options.opt_level = arguments.opt_level;
  options.strict_math = arguments.math == "strict";
  if (auto value = ParseOptimizeFor(arguments.optimize_for)) options.optimize_for = *value;
  options.model_name = arguments.name;
  options.threads = arguments.threads;
  for (const std::string& text : arguments.dims) {
    auto parts = Split("--dim", text);
    if (!parts.ok()) return parts.status();
    int64_t size = 0;
    if (!absl::SimpleAtoi(parts->second, &size) || size < 1)
      return absl::InvalidArgumentError(absl::StrCat("--dim: '", text, "': a dimension is a number of at least 1"));
    if (!options.dims.emplace(parts->first, size).second)
      return absl::InvalidArgumentError(absl::StrCat("--dim: ", parts->first, " is bound twice"));
  }
  for (const std::string& text : arguments.input_shapes) {
    auto parts = Split("--input-shape", text);
    if (!parts.ok()) return parts.status();
    std::vector<int64_t> shape;
    for (absl::string_view part : absl::StrSplit(parts->second, 'x')) {
      int64_t size = 0;
      if (!absl::SimpleAtoi(part, &size) || size < 0)
        return absl::InvalidArgumentError(absl::StrCat("--input-shape: '", text, "': write a shape as 1x3x48x320"));
      shape.push_back(size);
    }
    if (!options.input_shapes.emplace(parts->first, std::move(shape)).second)
      return absl::InvalidArgumentError(absl::StrCat("--input-shape: ", parts->first, " is bound twice"));
  }
  for (const std::string& text : arguments.input_elements) {
    auto parts = Split("--input-elements", text);
    if (!parts.ok()) return parts.status();
    int64_t count = kAbsent;
    if (parts->second != "absent" && (!absl::SimpleAtoi(parts->second, &count) || count < 0))
      return absl::InvalidArgumentError(absl::StrCat("--input-elements: '", text, "': write a number, or absent"));
    if (!options.input_elements.emplace(parts->first, count).second)
      return absl::InvalidArgumentError(absl::StrCat("--input-elements: ", parts->first, " is bound twice"));
  }
  for (const std::string& text : arguments.bind_inputs) {
    auto bound = clients::ReadBoundInput(text);
    if (!bound.ok()) return bound.status();
    if (!options.bind_inputs.insert(*std::move(bound)).second)
      return absl::InvalidArgumentError(absl::StrCat("--bind-input: '", text, "': bound twice"));
  }
  if (absl::Status status = clients::ParseStates(arguments.states, &options); !status.ok()) return status;
  if (absl::Status status = clients::ParseBuckets(arguments.buckets, &options); !status.ok()) return status;
  if (absl::Status status = CheckOptions(options); !status.ok()) return status;
  return options;
}

absl::StatusOr<Model> Load(const Arguments& arguments) {
  std::string path = clients::UserPath(arguments.model);
  if (arguments.external.empty()) return clients::ReadModel(path);
  auto bytes = clients::ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  Model model;
  model.bytes = *std::move(bytes);
  for (const std::string& text : arguments.external) {
    auto parts = Split("--external", text);
    if (!parts.ok()) return parts.status();
    auto data = clients::ReadFile(clients::UserPath(parts->second));
    if (!data.ok()) return data.status();
    model.external[parts->first] = *std::move(data);
  }
  return model;
}

ExitStatus Report(const absl::Status& status) {
  std::cerr << "aot-compile: " << status.message() << "\n";
  return absl::IsUnimplemented(status) ? kUnsupported : kFailure;
}

void Print(absl::string_view title, const std::vector<ValueInfo>& values) {
  for (const ValueInfo& value : values)
    std::cout << title << " " << value.name << ": " << reference::Name(value.type.element) << " "
              << reference::ToString(value.type.shape) << (value.dims_output >= 0 ? " at most" : "") << "\n";
}

ExitStatus RunCheck(const Model& model, const Options& options) {
  auto info = Check(model, options);
  if (!info.ok()) return Report(info.status());
  std::cout << "model " << info->graph_name << "\n";
  Print("input", info->inputs);
  Print("output", info->outputs);
  for (const auto& [name, count] : info->operators) std::cout << "operator " << name << ": " << count << "\n";
  return kDone;
}

ExitStatus RunCompile(const Model& model, const Options& options, const std::string& output) {
  auto artifact = Compile(model, options);
  if (!artifact.ok()) return Report(artifact.status());
  auto file = SharedObject(*artifact);
  if (!file.ok()) return Report(file.status());
  if (absl::Status status = clients::WriteFile(output, *file); !status.ok()) return Report(status);
  std::cout << output << ": " << file->size() << " bytes (code " << artifact->code.size() << ", weights "
            << artifact->weights.size() << "), key " << artifact->key << "\n";
  return kDone;
}

ExitStatus Run(const Arguments& arguments) {
  auto options = ToOptions(arguments);
  if (!options.ok()) {
    std::cerr << "aot-compile: " << options.status().message() << "\n";
    return kUsage;
  }
  if (!arguments.check && arguments.output.empty()) {
    std::cerr << "aot-compile: --output is missing (or --check, to write nothing)\n";
    return kUsage;
  }
  auto model = Load(arguments);
  if (!model.ok()) return Report(model.status());
  if (arguments.check) return RunCheck(*model, *options);
  return RunCompile(*model, *options, clients::UserPath(arguments.output));
}

}  // namespace
}  // namespace aot::compiler

int main(int argc, char** argv) {
  CLI::App app("Compiles an ONNX model to native code for one device.", "aot-compile");
  aot::compiler::Arguments arguments;
  aot::compiler::Declare(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? aot::compiler::kDone : aot::compiler::kUsage;
  }
  return aot::compiler::Run(arguments);
}
