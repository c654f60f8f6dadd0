// TUF's dates.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace aot::ota {

// Parses exactly "YYYY-MM-DDTHH:MM:SSZ" into seconds since 1970-01-01T00:00:00Z. False for anything else, impossible
// days included.
bool ParseUtcTime(std::string_view text, int64_t* seconds);

// The inverse, for messages.
std::string FormatUtcTime(int64_t seconds);

}  // namespace aot::ota
