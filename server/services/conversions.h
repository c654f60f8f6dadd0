// Rows of the registry as messages of the API.
#pragma once

#include "absl/status/status.h"
#include "proto/aot/v1/artifact.pb.h"
#include "proto/aot/v1/compile.pb.h"
#include "registry/records.h"

namespace aot::server {

aot::v1::Model ToProto(const registry::ModelRecord& model);
aot::v1::Artifact ToProto(const registry::ArtifactRecord& artifact);
// Code and whole message; invalid UTF-8 (names out of a broken model) is replaced, since a string field can't carry it.
aot::v1::Failure ToFailure(const absl::Status& status);

}  // namespace aot::server
