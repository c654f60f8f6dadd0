// Sending a model to a server: only what it lacks, resuming what broke off.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/progress.h"
#include "clients/model/model_digest.h"
#include "compiler/pipeline.h"

namespace aot::clients {

// Makes sure that the server has the model. Nothing is sent if it knows the model digest; otherwise only the files that
// it lacks. A stream that breaks is resumed from what the server committed, a few times. Statuses:
// CompileService.UploadModel.
absl::Status UploadIfNeeded(const Connection& connection, const compiler::Model& model, const ModelDigests& digests,
                            const std::string& name, Progress& progress);

v1::Digest ToProto(const Digest& digest);

}  // namespace aot::clients
