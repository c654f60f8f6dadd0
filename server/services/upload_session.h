// What one upload stream has sent so far, and the rules for what may come next. No gRPC in here.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"

#include "proto/aot/v1/compile.pb.h"
#include "registry/registry.h"
#include "server/limits.h"

namespace aot::server {

// Not thread-safe. The errors are those of CompileService.UploadModel. After an error only Suspend and destruction
// follow.
class UploadSession {
 public:
  // `registry` must outlive the session.
  UploadSession(registry::Registry& registry, const Limits& limits) : registry_(registry), limits_(limits) {}

  // The header first, then chunks.
  absl::Status Receive(const aot::v1::UploadModelRequest& request);
  // After the header: the model is stored already, nothing need be sent. Describe gives the answer.
  bool known() const { return known_.has_value(); }
  void Describe(aot::v1::UploadModelResponse* response) const;
  // The stream ended: stores the model if all of its files are here.
  absl::Status Finish(aot::v1::UploadModelResponse* response);
  // Keeps an incomplete file for a later stream.
  void Suspend();

 private:
  absl::Status ReceiveHeader(const aot::v1::UploadHeader& header);
  absl::Status ReceiveChunk(const aot::v1::UploadChunk& chunk);
  absl::Status OpenFile(const registry::BlobRef& file);
  absl::Status CommitFile();
  // Announced files that are not stored yet.
  std::vector<registry::BlobRef> Missing();

  registry::Registry& registry_;
  const Limits limits_;
  std::optional<registry::ModelRecord> model_;          // from the header
  std::optional<registry::ModelRecord> known_;          // as stored before
  std::map<std::string, registry::BlobRef> announced_;  // by hash
  // Nothing announced is collected as garbage before the model is stored.
  std::vector<registry::BlobPin> pins_;
  registry::BlobRef current_file_;
  std::unique_ptr<registry::BlobWriter> current_;  // null: between files
};

}  // namespace aot::server
