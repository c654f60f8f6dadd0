#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "clients/aotctl/backend.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/download.h"
#include "clients/aotctl/upload.h"

namespace aot::clients {
namespace {

v1::CompileOptions ToProto(const compiler::Options& options) {
  v1::CompileOptions proto;
  proto.set_target(options.target);
  proto.set_opt_level(options.opt_level);
  for (const auto& [name, size] : options.dims) (*proto.mutable_dims())[name] = size;
  for (const auto& [name, shape] : options.input_shapes) {
    v1::Shape& value = (*proto.mutable_input_shapes())[name];
    for (int64_t dim : shape) value.add_dims(dim);
  }
  for (const auto& [name, count] : options.input_elements) (*proto.mutable_input_elements())[name] = count;
  for (const auto& [name, tensor] : options.bind_inputs) {
    v1::TensorValue& value = (*proto.mutable_bind_inputs())[name];
    value.set_type(static_cast<int>(tensor.element()));
    for (int64_t dim : tensor.shape()) value.add_dims(dim);
    value.set_data(tensor.bytes().data(), tensor.bytes().size());
  }
  for (const auto& [input, output] : options.states) (*proto.mutable_states())[input] = output;
  for (const auto& bucket : options.buckets) {
    v1::Bucket& value = *proto.add_buckets();
    for (const auto& [name, size] : bucket) (*value.mutable_dims())[name] = size;
  }
  proto.set_strict_math(options.strict_math);
  proto.set_model_name(options.model_name);
  switch (options.optimize_for) {
    case compiler::OptimizeFor::kLatency:
      proto.set_optimize_for(v1::OPTIMIZE_FOR_LATENCY);
      break;
    case compiler::OptimizeFor::kBalanced:
      proto.set_optimize_for(v1::OPTIMIZE_FOR_BALANCED);
      break;
    case compiler::OptimizeFor::kSize:
      proto.set_optimize_for(v1::OPTIMIZE_FOR_SIZE);
      break;
  }
  return proto;
}

// "STAGE_GENERATE" -> "generate".
std::string StageName(v1::Stage stage) { return absl::AsciiStrToLower(absl::StrCat(v1::Stage_Name(stage)).substr(6)); }

std::vector<TypedValue> Convert(const google::protobuf::RepeatedPtrField<v1::ValueInfo>& values) {
  std::vector<TypedValue> out;
  for (const v1::ValueInfo& value : values) {
    out.push_back({value.name(), value.type(), {value.dims().begin(), value.dims().end()}, value.at_most()});
  }
  return out;
}

absl::Status ToStatus(const v1::Failure& failure) {
  return absl::Status(static_cast<absl::StatusCode>(failure.code()), failure.message());
}

class Server : public Backend {
 public:
  explicit Server(Context& context) : context_(context), connection_(context.server) {}

  absl::Status SetModel(compiler::Model model, const std::string& name) override {
    ModelDigests digests = DigestsOf(model);
    model_ = clients::ToProto(digests.model);
    return UploadIfNeeded(connection_, model, digests, name, context_.progress);
  }

  absl::StatusOr<Compiled> Compile(const compiler::Options& options) override {
    v1::CompileRequest request;
    *request.mutable_model() = model_;
    *request.mutable_options() = ToProto(options);
    grpc::ClientContext call;
    auto reader = connection_.compile().Compile(&call, request);
    v1::CompileResponse event;
    v1::CompileResult result;
    absl::Status failure;
    while (reader->Read(&event)) {
      switch (event.event_case()) {
        case v1::CompileResponse::kQueued:
          context_.progress.Update(absl::StrCat(options.target, ": queued, ", event.queued().ahead(), " ahead"), 0, 0);
          break;
        case v1::CompileResponse::kProgress:
          context_.progress.Update(absl::StrCat(options.target, ": ", StageName(event.progress().stage())),
                                   event.progress().done(), event.progress().total());
          break;
        case v1::CompileResponse::kResult:
          result = event.result();
          break;
        case v1::CompileResponse::kFailure:
          failure = ToStatus(event.failure());  // the whole text; the call's own status may be cut
          break;
        case v1::CompileResponse::EVENT_NOT_SET:  // of a newer server
          break;
      }
    }
    absl::Status status = connection_.ToStatus(reader->Finish());
    context_.progress.Clear();
    if (!failure.ok()) return failure;
    if (!status.ok()) return status;
    const v1::Artifact& artifact = result.artifact();
    if (artifact.key().empty()) return absl::InternalError("the server ended the compile without a result");
    if (artifact.target() != options.target) {
      return absl::InternalError(absl::StrCat("the server answered with an artifact for ", artifact.target(), " where ",
                                              options.target, " was asked for"));
    }
    Compiled compiled;
    compiled.key = artifact.key();
    compiled.target = artifact.target();
    compiled.cache_hit = result.cache_hit();
    compiled.manifest_bytes = artifact.manifest().size_bytes();
    compiled.code_bytes = artifact.code().size_bytes();
    compiled.weight_bytes = artifact.weights().size_bytes();
    compiled.compiler_version = artifact.compiler_version();
    return compiled;
  }

  absl::StatusOr<Checked> Check(const compiler::Options& options) override {
    v1::CheckRequest request;
    *request.mutable_model() = model_;
    *request.mutable_options() = ToProto(options);
    v1::CheckResponse response;
    absl::Status status = connection_.Call(connection_.compile(), &v1::CompileService::Stub::Check, request, &response);
    if (!status.ok()) return status;
    if (response.has_failure()) return ToStatus(response.failure());
    Checked checked{
        response.info().graph_name(), Convert(response.info().inputs()), Convert(response.info().outputs()), {}};
    for (const auto& [name, count] : response.info().operators()) checked.operators[name] = count;
    return checked;
  }

  absl::StatusOr<std::string> SharedObject(const Compiled& compiled) override {
    return Download(connection_, compiled.key, v1::ARTIFACT_PART_SHARED_OBJECT, context_.progress);
  }

 private:
  Context& context_;
  Connection connection_;
  v1::Digest model_;
};

}  // namespace

std::unique_ptr<Backend> ServerBackend(Context& context) { return std::make_unique<Server>(context); }

}  // namespace aot::clients
