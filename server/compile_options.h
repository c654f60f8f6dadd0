// The options of a request as the compiler takes them. Links the compiler's key, not the compiler.
#pragma once

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/pipeline.h"
#include "proto/aot/v1/artifact.pb.h"

namespace aot::server {

// INVALID_ARGUMENT: an option is missing or out of range; the message names it. Whether the target exists is the
// compiler's to say. `threads` stays 0.
absl::StatusOr<compiler::Options> FromProto(const aot::v1::CompileOptions& options);

// INVALID_ARGUMENT if the message, or one inside it, has a field that this build doesn't know; names where. An option
// that would be ignored must not get a cached answer.
absl::Status RefuseUnknownFields(const google::protobuf::Message& message);

}  // namespace aot::server
