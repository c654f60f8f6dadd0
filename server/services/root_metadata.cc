#include "server/services/root_metadata.h"

#include <nlohmann/json.hpp>
#include <string>

#include "absl/strings/str_cat.h"

namespace aot::server {

absl::StatusOr<RootInfo> ParseRoot(absl::string_view metadata) {
  // The library's accessors throw on what they don't find; nothing else in here does.
  try {
    nlohmann::json root = nlohmann::json::parse(metadata.begin(), metadata.end()).at("signed");
    RootInfo info;
    info.version = root.at("version").get<int64_t>();
    for (const auto& [name, entry] : root.at("roles").items()) {
      aot::v1::Role& role = info.roles.emplace_back();
      role.set_name(name);
      role.set_threshold(entry.at("threshold").get<int32_t>());
      for (const nlohmann::json& id : entry.at("keyids")) {
        const nlohmann::json& key = root.at("keys").at(id.get<std::string>());
        aot::v1::PublicKey& proto = *role.add_keys();
        proto.set_id(id.get<std::string>());
        proto.set_type(key.at("keytype").get<std::string>());
        proto.set_public_hex(key.at("keyval").at("public").get<std::string>());
      }
    }
    return info;
  } catch (const nlohmann::json::exception& error) {
    return absl::InternalError(absl::StrCat("the root metadata can't be read: ", error.what()));
  }
}

}  // namespace aot::server
