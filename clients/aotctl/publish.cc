// aotctl publish: artifacts become what devices get.
#include "absl/strings/str_cat.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/verbs.h"

namespace aot::clients {
namespace {

struct PublishArgs {
  std::string channel = "stable", name;
  std::vector<std::string> keys;
};

absl::Status Run(const PublishArgs& args, Context& context) {
  Connection connection(context.server);
  v1::PublishRequest request;
  request.set_channel(args.channel);
  request.set_model_name(args.name);
  for (const std::string& key : args.keys) request.add_artifact_keys(key);
  v1::PublishResponse response;
  absl::Status status = connection.Call(connection.release(), &v1::ReleaseService::Stub::Publish, request, &response);
  if (!status.ok()) return status;
  const v1::Release& release = response.release();
  context.output.Line(
      absl::StrCat(release.channel(), "/", release.model_name(), " version ", release.version(), " published"));
  nlohmann::json& json = context.output.json();
  json = {{"channel", release.channel()},
          {"name", release.model_name()},
          {"version", release.version()},
          {"published_unix_seconds", release.published_unix_seconds()},
          {"artifacts", nlohmann::json::array()}};
  for (const v1::Artifact& artifact : release.artifacts()) {
    context.output.Line(absl::StrCat("  ", artifact.target(), "  ", artifact.key()));
    json["artifacts"].push_back({{"artifact", artifact.key()}, {"target", artifact.target()}});
  }
  return absl::OkStatus();
}

}  // namespace

void AddPublish(CLI::App& app, Context& context) {
  auto args = std::make_shared<PublishArgs>();
  CLI::App* command = AddCommand(app, context, "publish",
                                 "Makes a signed release: what devices of a channel get for a model", args, &Run);
  command->add_option("--channel", args->channel, "The channel")->capture_default_str();
  command->add_option("--name", args->name, "The name that devices ask for")->required();
  command->add_option("artifacts", args->keys, "Artifact keys, one for each target")->required();
}

}  // namespace aot::clients
