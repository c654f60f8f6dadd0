// Entity tags and the conditional headers of RFC 9110, section 13.
#pragma once

#include <string>

#include "absl/strings/string_view.h"
#include "registry/digest.h"

namespace aot::server {

// "sha256-<hex>", with the quotes. Strong: equal tags mean equal bytes.
std::string EntityTag(const registry::Digest& digest);

// If-None-Match: whether the client has what `tag` names, i.e. the answer is 304. Compares weakly; "*" matches.
bool NoneMatchHits(absl::string_view header, absl::string_view tag);

// If-Range: whether a range may be served. Only the very tag counts: objects here have no dates.
bool RangeAllowed(absl::string_view if_range, absl::string_view tag);

}  // namespace aot::server
