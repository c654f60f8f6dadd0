// The API as tests call it: one connection, whole calls.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "proto/aot/v1/compile.grpc.pb.h"
#include "proto/aot/v1/registry.grpc.pb.h"
#include "proto/aot/v1/release.grpc.pb.h"

namespace aot::server {

// A path among the test's data, from the workspace's root.
std::string Runfile(const std::string& path);

struct Compiled {
  grpc::Status status;
  std::vector<aot::v1::CompileResponse> events;

  // The last event, or an empty one.
  aot::v1::CompileResponse last() const { return events.empty() ? aot::v1::CompileResponse() : events.back(); }
  const std::string key() const { return last().result().artifact().key(); }
};

// Thread-safe but for the members that return references to a call in progress.
class TestClient {
 public:
  explicit TestClient(int port);

  // Sends a model without external data in chunks of at most `chunk` bytes.
  grpc::Status Upload(const std::string& model, size_t chunk = 1000);
  // `call`, if given, is the caller's way to cancel.
  Compiled Compile(const std::string& model, const std::string& target = "cortex-a75",
                   grpc::ClientContext* call = nullptr);
  grpc::Status GetPart(const std::string& key, aot::v1::ArtifactPart part, int64_t offset, std::string* bytes,
                       aot::v1::Digest* digest);
  aot::v1::GetStatisticsResponse Statistics();

  static aot::v1::UploadModelRequest Header(const std::string& model);
  static aot::v1::UploadModelRequest Chunk(const std::string& model, int64_t offset, const std::string& data);
  static aot::v1::CompileRequest Request(const std::string& model, const std::string& target);

  const std::shared_ptr<grpc::Channel> channel;
  const std::unique_ptr<aot::v1::CompileService::Stub> compile;
  const std::unique_ptr<aot::v1::RegistryService::Stub> registry;
  const std::unique_ptr<aot::v1::ReleaseService::Stub> release;
};

}  // namespace aot::server
