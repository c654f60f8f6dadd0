// What root metadata says about the roles.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "proto/aot/v1/release.pb.h"

namespace aot::server {

struct RootInfo {
  int64_t version = 0;
  // With name, threshold and keys; version and expiry are those of each role's own metadata and not in root.
  std::vector<aot::v1::Role> roles;
};

// INTERNAL: the bytes, which the registry signed, are not root metadata.
absl::StatusOr<RootInfo> ParseRoot(absl::string_view metadata);

}  // namespace aot::server
