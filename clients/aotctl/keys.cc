// aotctl keys: whom devices trust.
#include "absl/strings/str_cat.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/verbs.h"
#include "clients/tensor_io/file.h"

namespace aot::clients {
namespace {

using v1::ReleaseService;

struct ListArgs {};

void Report(const v1::Role& role, std::vector<std::vector<std::string>>* rows, nlohmann::json* json) {
  nlohmann::json entry = {{"role", role.name()},
                          {"threshold", role.threshold()},
                          {"version", role.version()},
                          {"expires_unix_seconds", role.expires_unix_seconds()},
                          {"keys", nlohmann::json::array()}};
  for (const v1::PublicKey& key : role.keys()) {
    rows->push_back({role.name(), absl::StrCat(role.threshold(), " of ", role.keys_size()),
                     FormatTime(role.expires_unix_seconds()), key.type(), key.id()});
    entry["keys"].push_back({{"id", key.id()}, {"type", key.type()}, {"public_hex", key.public_hex()}});
  }
  json->push_back(std::move(entry));
}

const std::vector<std::string> kHeading = {"ROLE", "THRESHOLD", "EXPIRES", "TYPE", "KEY"};

absl::Status List(const ListArgs&, Context& context) {
  Connection connection(context.server);
  v1::ListKeysResponse response;
  absl::Status status =
      connection.Call(connection.release(), &ReleaseService::Stub::ListKeys, v1::ListKeysRequest(), &response);
  if (!status.ok()) return status;
  std::vector<std::vector<std::string>> rows = {kHeading};
  context.output.json()["roles"] = nlohmann::json::array();
  for (const v1::Role& role : response.roles()) Report(role, &rows, &context.output.json()["roles"]);
  context.output.Table(rows);
  return absl::OkStatus();
}

struct RotateArgs {
  std::string role;
};

absl::Status Rotate(const RotateArgs& args, Context& context) {
  Connection connection(context.server);
  v1::RotateKeyRequest request;
  request.set_role(args.role);
  v1::RotateKeyResponse response;
  absl::Status status = connection.Call(connection.release(), &ReleaseService::Stub::RotateKey, request, &response);
  if (!status.ok()) return status;
  std::vector<std::vector<std::string>> rows = {kHeading};
  Report(response.role(), &rows, &context.output.json()["roles"]);
  context.output.Table(rows);
  context.output.Line(absl::StrCat("root version ", response.root_version()));
  context.output.json()["root_version"] = response.root_version();
  return absl::OkStatus();
}

struct RootArgs {
  std::string output;
  int64_t version = 0;
};

absl::Status Root(const RootArgs& args, Context& context) {
  Connection connection(context.server);
  v1::GetRootRequest request;
  request.set_version(args.version);
  v1::GetRootResponse response;
  absl::Status status = connection.Call(connection.release(), &ReleaseService::Stub::GetRoot, request, &response);
  if (!status.ok()) return status;
  std::string path = UserPath(args.output);
  status = WriteFile(path, response.metadata());
  if (!status.ok()) return status;
  context.output.Line(absl::StrCat(path, ": root version ", response.version()));
  if (!response.repository_url().empty()) context.output.Line(absl::StrCat("repository ", response.repository_url()));
  context.output.json() = {
      {"file", path}, {"version", response.version()}, {"repository_url", response.repository_url()}};
  return absl::OkStatus();
}

}  // namespace

void AddKeys(CLI::App& app, Context& context) {
  CLI::App* group = AddGroup(app, context, "keys", "Shows (alone) and rotates the keys that sign releases", &List);
  AddCommand(*group, context, "list", "Lists the roles with their public keys", std::make_shared<ListArgs>(), &List);
  auto rotate = std::make_shared<RotateArgs>();
  AddCommand(*group, context, "rotate", "Replaces a role's keys by a new one; devices follow by themselves", rotate,
             &Rotate)
      ->add_option("role", rotate->role, "root, targets, snapshot or timestamp")
      ->required();
  auto root = std::make_shared<RootArgs>();
  CLI::App* command = AddCommand(
      *group, context, "root", "Writes the root.json that a device must be given to trust this registry", root, &Root);
  command->add_option("--output,-o", root->output, "Where it goes")->default_str("root.json");
  root->output = "root.json";
  command->add_option("--version", root->version, "A version of root; 0: the newest")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

}  // namespace aot::clients
