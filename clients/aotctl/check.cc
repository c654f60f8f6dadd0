// aotctl check: would this model compile, and if not, why.
#include "absl/strings/str_cat.h"
#include "clients/aotctl/backend.h"
#include "clients/aotctl/compile_flags.h"
#include "clients/aotctl/verbs.h"
#include "clients/model/model_file.h"
#include "clients/tensor_io/file.h"

namespace aot::clients {
namespace {

void Report(const std::vector<TypedValue>& values, const std::string& role, Context& context) {
  for (const TypedValue& value : values) {
    context.output.Line(absl::StrCat("  ", role, " ", value.name, ": ", value.element, " ",
                                     reference::ToString(value.shape), value.at_most ? " at most" : ""));
    context.output.json()[role + "s"].push_back(
        {{"name", value.name}, {"type", value.element}, {"shape", value.shape}, {"at_most", value.at_most}});
  }
}

absl::Status Run(const CompileFlags& flags, Context& context) {
  absl::StatusOr<std::vector<compiler::Options>> options = ToOptions(flags);
  if (!options.ok()) return options.status();
  const std::string path = UserPath(flags.model);
  absl::StatusOr<compiler::Model> model = ReadModel(path);
  if (!model.ok()) return model.status();
  std::unique_ptr<Backend> backend = flags.local ? LocalBackend(context) : ServerBackend(context);
  if (absl::Status status = backend->SetModel(*std::move(model), ModelName(path)); !status.ok()) return status;
  for (size_t i = 0; i < options->size(); ++i) {
    absl::StatusOr<Checked> checked = backend->Check((*options)[i]);
    if (!checked.ok()) return checked.status();
    context.output.json()["targets"].push_back((*options)[i].target);
    if (i > 0) continue;  // what importing tells about the model is the same for every target
    int nodes = 0;
    for (const auto& [name, count] : checked->operators) nodes += count;
    context.output.Line(absl::StrCat(checked->graph_name, ": ", nodes, " nodes"));
    context.output.json()["graph"] = checked->graph_name;
    Report(checked->inputs, "input", context);
    Report(checked->outputs, "output", context);
    for (const auto& [name, count] : checked->operators) {
      context.output.Line(absl::StrCat("  ", count, " x ", name));
      context.output.json()["operators"][name] = count;
    }
  }
  context.output.Line("supported");
  context.output.json()["supported"] = true;
  return absl::OkStatus();
}

}  // namespace

void AddCheck(CLI::App& app, Context& context) {
  auto flags = std::make_shared<CompileFlags>();
  CLI::App* command =
      AddCommand(app, context, "check", "Says whether a model would compile, without compiling it", flags, &Run);
  command->footer(
      "For an unsupported model the message lists every unsupported node with its operator and the reason, one a line, "
      "and the exit "
      "status is 3.");
  AddCompileFlags(command, flags.get());
}

}  // namespace aot::clients
