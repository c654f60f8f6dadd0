// aotctl artifacts: what was compiled.
#include <map>

#include "absl/strings/str_cat.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/download.h"
#include "clients/aotctl/paging.h"
#include "clients/aotctl/verbs.h"
#include "clients/tensor_io/file.h"

namespace aot::clients {
namespace {

using v1::RegistryService;

struct ListArgs {
  std::string model, target;
  int64_t limit = 1000;
};

absl::Status List(const ListArgs& args, Context& context) {
  Connection connection(context.server);
  std::vector<std::vector<std::string>> rows = {{"ARTIFACT", "TARGET", "SIZE", "LAST USED", "MODEL"}};
  context.output.json()["artifacts"] = nlohmann::json::array();
  auto fetch = [&](const v1::ListArtifactsRequest& request, v1::ListArtifactsResponse* response) {
    return connection.Call(connection.registry(), &RegistryService::Stub::ListArtifacts, request, response);
  };
  auto take = [&](const v1::ListArtifactsResponse& response) -> int64_t {
    for (const v1::Artifact& artifact : response.artifacts()) {
      int64_t size = artifact.manifest().size_bytes() + artifact.code().size_bytes() + artifact.weights().size_bytes();
      rows.push_back({artifact.key(), artifact.target(), FormatBytes(size),
                      FormatTime(artifact.last_used_unix_seconds()), artifact.model_hash()});
      context.output.json()["artifacts"].push_back({{"artifact", artifact.key()},
                                                    {"target", artifact.target()},
                                                    {"model", artifact.model_hash()},
                                                    {"options", artifact.options()},
                                                    {"compiler", artifact.compiler_version()},
                                                    {"manifest_bytes", artifact.manifest().size_bytes()},
                                                    {"code_bytes", artifact.code().size_bytes()},
                                                    {"weight_bytes", artifact.weights().size_bytes()},
                                                    {"created_unix_seconds", artifact.created_unix_seconds()},
                                                    {"last_used_unix_seconds", artifact.last_used_unix_seconds()},
                                                    {"compile_seconds", artifact.compile_seconds()}});
    }
    return response.artifacts_size();
  };
  v1::ListArtifactsRequest request;
  request.set_model_hash(args.model);
  request.set_target(args.target);
  absl::Status status =
      ForEachPage<v1::ListArtifactsRequest, v1::ListArtifactsResponse>(request, args.limit, fetch, take);
  if (!status.ok()) return status;
  context.output.Table(rows);
  return absl::OkStatus();
}

struct GetArgs {
  std::string key, output;
  v1::ArtifactPart part = v1::ARTIFACT_PART_SHARED_OBJECT;
};

absl::Status Get(const GetArgs& args, Context& context) {
  Connection connection(context.server);
  absl::StatusOr<std::string> bytes = Download(connection, args.key, args.part, context.progress);
  if (!bytes.ok()) return bytes.status();
  std::string path = UserPath(args.output);
  if (absl::Status status = WriteFile(path, *bytes); !status.ok()) return status;
  context.output.Line(absl::StrCat(path, ": ", FormatBytes(static_cast<int64_t>(bytes->size()))));
  context.output.json() = {{"artifact", args.key}, {"file", path}, {"bytes", bytes->size()}};
  return absl::OkStatus();
}

struct DeleteArgs {
  std::string key;
};

absl::Status Delete(const DeleteArgs& args, Context& context) {
  Connection connection(context.server);
  v1::DeleteArtifactRequest request;
  request.set_key(args.key);
  v1::DeleteArtifactResponse response;
  absl::Status status =
      connection.Call(connection.registry(), &RegistryService::Stub::DeleteArtifact, request, &response);
  if (!status.ok()) return status;
  context.output.Line(absl::StrCat("deleted ", args.key));
  context.output.json()["deleted"] = args.key;
  return absl::OkStatus();
}

void AddGet(CLI::App& group, Context& context) {
  auto args = std::make_shared<GetArgs>();
  CLI::App* command = AddCommand(group, context, "get", "Downloads an artifact or one of its parts", args, &Get);
  command->add_option("artifact", args->key, "The artifact key")->required();
  command->add_option("--output,-o", args->output, "Where it goes")->required();
  const std::map<std::string, v1::ArtifactPart> parts = {{"so", v1::ARTIFACT_PART_SHARED_OBJECT},
                                                         {"manifest", v1::ARTIFACT_PART_MANIFEST},
                                                         {"code", v1::ARTIFACT_PART_CODE},
                                                         {"weights", v1::ARTIFACT_PART_WEIGHTS}};
  command->add_option("--part", args->part, "so, manifest, code or weights")
      ->transform(CLI::CheckedTransformer(parts, CLI::ignore_case).description(""))
      ->default_str("so");
}

}  // namespace

void AddArtifacts(CLI::App& app, Context& context) {
  CLI::App* group =
      AddGroup(app, context, "artifacts", "Lists (alone), downloads and deletes compiled artifacts", &List);
  auto list = std::make_shared<ListArgs>();
  CLI::App* command = AddCommand(*group, context, "list", "Lists artifacts, newest first", list, &List);
  command->add_option("--model", list->model, "Only those of the model with this hash");
  command->add_option("--target,-t", list->target, "Only those for this target");
  command->add_option("--limit", list->limit, "At most so many")->check(CLI::PositiveNumber)->capture_default_str();
  AddGet(*group, context);
  auto remove = std::make_shared<DeleteArgs>();
  AddCommand(*group, context, "delete", "Removes an artifact that no release has", remove, &Delete)
      ->add_option("artifact", remove->key, "The artifact key")
      ->required();
}

}  // namespace aot::clients
