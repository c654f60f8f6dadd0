#include "clients/aotctl/connection.h"

#include "absl/strings/str_cat.h"

namespace aot::clients {
namespace {

// Larger than any message that the server sends: lists come in pages, files in chunks.
constexpr int kMaxMessageBytes = 16 << 20;

}  // namespace

Connection::Connection(const std::string& address) : address_(address) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  // A proxy of the environment has no business between a client and a server on the same machine.
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  std::shared_ptr<grpc::Channel> channel =
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
  compile_ = v1::CompileService::NewStub(channel);
  registry_ = v1::RegistryService::NewStub(channel);
  release_ = v1::ReleaseService::NewStub(channel);
}

absl::Status Connection::ToStatus(const grpc::Status& status) const {
  if (status.ok()) return absl::OkStatus();
  // absl's and gRPC's codes are both those of google.rpc.Code.
  auto code = static_cast<absl::StatusCode>(status.error_code());
  if (code == absl::StatusCode::kUnavailable) {
    return absl::UnavailableError(
        absl::StrCat("no answer from a server at ", address_, ": ", status.error_message(),
                     "\nStart one with `bazel run //server:aot_server`, name another with --server, or compile without "
                     "a server with --local"));
  }
  // The server knows no such call. That is no fault of the model, which UNIMPLEMENTED otherwise stands for.
  if (code == absl::StatusCode::kUnimplemented && status.error_message().empty()) {
    return absl::InternalError(absl::StrCat("the server at ", address_, " doesn't speak this version of the API"));
  }
  return absl::Status(code, status.error_message());
}

}  // namespace aot::clients
