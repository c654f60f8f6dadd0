// aotctl compile: a model in, artifacts for one or several targets out.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "clients/aotctl/backend.h"
#include "clients/aotctl/compile_flags.h"
#include "clients/aotctl/verbs.h"
#include "clients/model/model_file.h"
#include "clients/tensor_io/file.h"

namespace aot::clients {
namespace {

struct CompileArgs {
  CompileFlags flags;
  std::string output;
};

// Where the .so for a target goes: `output` itself for one target, a file in it for several.
std::string OutputPath(const CompileArgs& args, const std::string& target, size_t targets) {
  std::string output = UserPath(args.output);
  if (targets == 1 && !std::filesystem::is_directory(output)) return output;
  return absl::StrCat(output, "/", ModelName(UserPath(args.flags.model)), "-", target, ".so");
}

absl::Status Report(const Compiled& compiled, absl::Duration took, const std::string& path, Context& context) {
  const int64_t total = compiled.manifest_bytes + compiled.code_bytes + compiled.weight_bytes;
  const char* outcome = compiled.cache_hit ? "cache hit" : "compiled";
  context.output.Line(absl::StrCat(compiled.target, ": ", outcome, " in ", FormatSeconds(absl::ToDoubleSeconds(took)),
                                   ", ", FormatBytes(total), " (code ", FormatBytes(compiled.code_bytes), ", weights ",
                                   FormatBytes(compiled.weight_bytes), ")"));
  context.output.Line(absl::StrCat("  artifact ", compiled.key));
  nlohmann::json entry = {{"target", compiled.target},
                          {"artifact", compiled.key},
                          {"cache_hit", compiled.cache_hit},
                          {"seconds", absl::ToDoubleSeconds(took)},
                          {"manifest_bytes", compiled.manifest_bytes},
                          {"code_bytes", compiled.code_bytes},
                          {"weight_bytes", compiled.weight_bytes},
                          {"compiler", compiled.compiler_version}};
  if (!path.empty()) {
    context.output.Line(absl::StrCat("  written to ", path));
    entry["file"] = path;
  }
  context.output.json()["artifacts"].push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status Run(const CompileArgs& args, Context& context) {
  if (args.flags.local && args.output.empty()) {
    return UsageError("--local keeps nothing: name where the artifact goes with --output");
  }
  absl::StatusOr<std::vector<compiler::Options>> options = ToOptions(args.flags);
  if (!options.ok()) return options.status();
  const std::string path = UserPath(args.flags.model);
  absl::StatusOr<compiler::Model> model = ReadModel(path);
  if (!model.ok()) return model.status();
  if (options->size() > 1 && !args.output.empty()) {
    std::error_code error;
    std::filesystem::create_directories(UserPath(args.output), error);
    if (error) return absl::UnknownError(absl::StrCat("can't make the directory ", args.output, ": ", error.message()));
  }

  std::unique_ptr<Backend> backend = args.flags.local ? LocalBackend(context) : ServerBackend(context);
  if (absl::Status status = backend->SetModel(*std::move(model), ModelName(path)); !status.ok()) return status;
  for (const compiler::Options& one : *options) {
    absl::Time start = absl::Now();
    absl::StatusOr<Compiled> compiled = backend->Compile(one);
    if (!compiled.ok()) return compiled.status();
    absl::Duration took = absl::Now() - start;
    std::string file;
    if (!args.output.empty()) {
      absl::StatusOr<std::string> bytes = backend->SharedObject(*compiled);
      if (!bytes.ok()) return bytes.status();
      file = OutputPath(args, one.target, options->size());
      if (absl::Status status = WriteFile(file, *bytes); !status.ok()) return status;
    }
    if (absl::Status status = Report(*compiled, took, file, context); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

void AddCompile(CLI::App& app, Context& context) {
  auto args = std::make_shared<CompileArgs>();
  CLI::App* command = AddCommand(app, context, "compile", "Compiles a model for one or several targets", args, &Run);
  command->footer(
      "Uploads the model unless the server knows it, then compiles it, or finds it in the cache. Without --output the "
      "artifact stays "
      "on the server: publish it, or get it with `aotctl artifacts get`.");
  AddCompileFlags(command, &args->flags);
  command->add_option("--output,-o", args->output, "Where the .so goes; with several targets a directory");
}

}  // namespace aot::clients
