// aotctl targets: what can be compiled for.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/verbs.h"
#include "clients/model/native_target.h"
#include "compiler/target/target.h"

namespace aot::clients {
namespace {

struct TargetsArgs {
  bool local = false;
};

// This build's descriptions in the form that a server gives.
v1::ListTargetsResponse OwnTargets() {
  v1::ListTargetsResponse response;
  for (const target::Description& description : target::All()) {
    v1::Target* target = response.add_targets();
    target->set_name(description.name);
    target->set_summary(description.summary);
    target->set_triple(description.triple);
    target->set_cpu(description.cpu);
    target->set_vector_bits(description.vector_bits);
    for (const std::string& feature : description.required_features) target->add_required_features(feature);
  }
  return response;
}

absl::Status Run(const TargetsArgs& args, Context& context) {
  v1::ListTargetsResponse response;
  if (args.local) {
    response = OwnTargets();
  } else {
    Connection connection(context.server);
    absl::Status status = connection.Call(connection.registry(), &v1::RegistryService::Stub::ListTargets,
                                          v1::ListTargetsRequest(), &response);
    if (!status.ok()) return status;
  }
  absl::StatusOr<std::string> native = ResolveTarget("native");
  std::vector<std::vector<std::string>> rows = {{"TARGET", "TRIPLE", "SIMD", ""}};
  context.output.json()["targets"] = nlohmann::json::array();
  for (const v1::Target& target : response.targets()) {
    bool is_native = native.ok() && target.name() == *native;
    rows.push_back({target.name(), target.triple(), absl::StrCat(target.vector_bits(), " bits"),
                    absl::StrCat(target.summary(), is_native ? " [native]" : "")});
    context.output.json()["targets"].push_back(
        {{"name", target.name()},
         {"summary", target.summary()},
         {"triple", target.triple()},
         {"cpu", target.cpu()},
         {"vector_bits", target.vector_bits()},
         {"native", is_native},
         {"required_features",
          std::vector<std::string>(target.required_features().begin(), target.required_features().end())}});
  }
  context.output.Table(rows);
  if (!native.ok()) context.output.Note(native.status().message());
  return absl::OkStatus();
}

}  // namespace

void AddTargets(CLI::App& app, Context& context) {
  auto args = std::make_shared<TargetsArgs>();
  CLI::App* command =
      AddCommand(app, context, "targets", "Lists the targets, and which one `native` means here", args, &Run);
  command->add_flag("--local", args->local, "Those of this program instead of the server's");
}

}  // namespace aot::clients
