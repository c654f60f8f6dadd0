// Getting a part of an artifact from a server, checked against its digest.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "clients/aotctl/connection.h"
#include "clients/aotctl/progress.h"

namespace aot::clients {

// Statuses: RegistryService.GetArtifact. A transfer that breaks is resumed a few times. DATA_LOSS: what came isn't what
// its digest says. `artifact`, if not null, gets the record.
absl::StatusOr<std::string> Download(const Connection& connection, const std::string& key, v1::ArtifactPart part,
                                     Progress& progress, v1::Artifact* artifact = nullptr);

}  // namespace aot::clients
