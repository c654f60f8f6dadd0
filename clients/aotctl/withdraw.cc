// aotctl withdraw: takes a model back from a channel.
#include "absl/strings/str_cat.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/verbs.h"

namespace aot::clients {
namespace {

struct WithdrawArgs {
  std::string channel = "stable", name;
};

absl::Status Run(const WithdrawArgs& args, Context& context) {
  Connection connection(context.server);
  v1::WithdrawRequest request;
  request.set_channel(args.channel);
  request.set_model_name(args.name);
  v1::WithdrawResponse response;
  absl::Status status = connection.Call(connection.release(), &v1::ReleaseService::Stub::Withdraw, request, &response);
  if (!status.ok()) return status;
  context.output.Line(absl::StrCat(args.channel, "/", args.name, " withdrawn"));
  context.output.json() = {{"channel", args.channel}, {"name", args.name}};
  return absl::OkStatus();
}

}  // namespace

void AddWithdraw(CLI::App& app, Context& context) {
  auto args = std::make_shared<WithdrawArgs>();
  CLI::App* command = AddCommand(app, context, "withdraw",
                                 "Takes a model out of a channel: devices are offered it no more", args, &Run);
  command->footer(
      "Devices keep what they have installed. The artifacts can be deleted after the next `aotctl cache gc`.");
  command->add_option("--channel", args->channel, "The channel")->capture_default_str();
  command->add_option("--name", args->name, "The name that devices ask for")->required();
}

}  // namespace aot::clients
