// The tables of the index and their history (docs/formats/database.md).
#pragma once

#include "absl/status/status.h"
#include "registry/index/database.h"

namespace aot::registry {

// The schema that this build reads and writes; PRAGMA user_version of the file.
inline constexpr int kSchemaVersion = 1;
// "AOTR": PRAGMA application_id, so that another program's database is refused.
inline constexpr int kApplicationId = 0x414f5452;

// Checks the file and brings it to kSchemaVersion, one transaction for each migration.
absl::Status PrepareSchema(Database& db);

}  // namespace aot::registry
