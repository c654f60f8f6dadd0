// aotctl models: what was uploaded.
#include "absl/strings/str_cat.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/paging.h"
#include "clients/aotctl/verbs.h"

namespace aot::clients {
namespace {

using v1::RegistryService;

struct ListArgs {
  int64_t limit = 1000;
};

absl::Status List(const ListArgs& args, Context& context) {
  Connection connection(context.server);
  std::vector<std::vector<std::string>> rows = {{"MODEL", "SIZE", "UPLOADED", "NAME"}};
  context.output.json()["models"] = nlohmann::json::array();
  auto fetch = [&](const v1::ListModelsRequest& request, v1::ListModelsResponse* response) {
    return connection.Call(connection.registry(), &RegistryService::Stub::ListModels, request, response);
  };
  auto take = [&](const v1::ListModelsResponse& response) -> int64_t {
    for (const v1::Model& model : response.models()) {
      rows.push_back({model.digest().hash(), FormatBytes(model.digest().size_bytes()),
                      FormatTime(model.created_unix_seconds()), model.name()});
      context.output.json()["models"].push_back({{"hash", model.digest().hash()},
                                                 {"size_bytes", model.digest().size_bytes()},
                                                 {"name", model.name()},
                                                 {"external_files", model.external_count()},
                                                 {"created_unix_seconds", model.created_unix_seconds()},
                                                 {"last_used_unix_seconds", model.last_used_unix_seconds()}});
    }
    return response.models_size();
  };
  absl::Status status =
      ForEachPage<v1::ListModelsRequest, v1::ListModelsResponse>(v1::ListModelsRequest(), args.limit, fetch, take);
  if (!status.ok()) return status;
  context.output.Table(rows);
  return absl::OkStatus();
}

struct DeleteArgs {
  std::string hash;
};

absl::Status Delete(const DeleteArgs& args, Context& context) {
  Connection connection(context.server);
  v1::DeleteModelRequest request;
  request.mutable_digest()->set_hash(args.hash);
  v1::DeleteModelResponse response;
  absl::Status status = connection.Call(connection.registry(), &RegistryService::Stub::DeleteModel, request, &response);
  if (!status.ok()) return status;
  context.output.Line(absl::StrCat("deleted ", args.hash));
  context.output.json()["deleted"] = args.hash;
  return absl::OkStatus();
}

}  // namespace

void AddModels(CLI::App& app, Context& context) {
  CLI::App* group = AddGroup(app, context, "models", "Lists (alone) and deletes the models that the server has", &List);
  auto list = std::make_shared<ListArgs>();
  AddCommand(*group, context, "list", "Lists models, newest first", list, &List)
      ->add_option("--limit", list->limit, "At most so many")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  auto remove = std::make_shared<DeleteArgs>();
  AddCommand(*group, context, "delete", "Deletes a model with its artifacts", remove, &Delete)
      ->add_option("hash", remove->hash, "The model's hash, as `aotctl models list` shows it")
      ->required();
}

}  // namespace aot::clients
