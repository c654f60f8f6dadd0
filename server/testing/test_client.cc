#include "server/testing/test_client.h"

#include <algorithm>
#include <cstdlib>

#include "registry/digest.h"
#include "server/model_digest.h"

namespace aot::server {

using registry::BlobRef;

std::string Runfile(const std::string& path) {
  return std::string(getenv("TEST_SRCDIR")) + "/" + getenv("TEST_WORKSPACE") + "/" + path;
}

TestClient::TestClient(int port)
    : channel(grpc::CreateChannel("127.0.0.1:" + std::to_string(port), grpc::InsecureChannelCredentials())),
      compile(aot::v1::CompileService::NewStub(channel)),
      registry(aot::v1::RegistryService::NewStub(channel)),
      release(aot::v1::ReleaseService::NewStub(channel)) {}

aot::v1::UploadModelRequest TestClient::Header(const std::string& model) {
  aot::v1::UploadModelRequest request;
  request.mutable_header()->set_name("test");
  *request.mutable_header()->mutable_model() = ToProto(BlobRef::Of(model));
  *request.mutable_header()->mutable_file() = ToProto(BlobRef::Of(model));
  return request;
}

aot::v1::UploadModelRequest TestClient::Chunk(const std::string& model, int64_t offset, const std::string& data) {
  aot::v1::UploadModelRequest request;
  request.mutable_chunk()->set_file_hash(BlobRef::Of(model).digest.Hex());
  request.mutable_chunk()->set_offset(offset);
  request.mutable_chunk()->set_data(data);
  return request;
}

aot::v1::CompileRequest TestClient::Request(const std::string& model, const std::string& target) {
  aot::v1::CompileRequest request;
  *request.mutable_model() = ToProto(BlobRef::Of(model));
  request.mutable_options()->set_target(target);
  return request;
}

grpc::Status TestClient::Upload(const std::string& model, size_t chunk) {
  grpc::ClientContext call;
  aot::v1::UploadModelResponse response;
  auto writer = compile->UploadModel(&call, &response);
  bool open = writer->Write(Header(model));
  for (size_t offset = 0; open && offset < model.size(); offset += chunk) {
    open = writer->Write(Chunk(model, static_cast<int64_t>(offset), model.substr(offset, chunk)));
  }
  writer->WritesDone();
  return writer->Finish();
}

Compiled TestClient::Compile(const std::string& model, const std::string& target, grpc::ClientContext* call) {
  grpc::ClientContext own;
  auto reader = compile->Compile(call != nullptr ? call : &own, Request(model, target));
  Compiled compiled;
  aot::v1::CompileResponse event;
  while (reader->Read(&event)) compiled.events.push_back(event);
  compiled.status = reader->Finish();
  return compiled;
}

grpc::Status TestClient::GetPart(const std::string& key, aot::v1::ArtifactPart part, int64_t offset, std::string* bytes,
                                 aot::v1::Digest* digest) {
  grpc::ClientContext call;
  aot::v1::GetArtifactRequest request;
  request.set_key(key);
  request.set_part(part);
  request.set_offset(offset);
  auto reader = registry->GetArtifact(&call, request);
  aot::v1::GetArtifactResponse response;
  while (reader->Read(&response)) {
    if (response.has_digest()) *digest = response.digest();
    bytes->append(response.data());
  }
  return reader->Finish();
}

aot::v1::GetStatisticsResponse TestClient::Statistics() {
  grpc::ClientContext call;
  aot::v1::GetStatisticsResponse response;
  registry->GetStatistics(&call, {}, &response);
  return response;
}

}  // namespace aot::server
