// The Range header of RFC 9110, section 14: single byte ranges.
#pragma once

#include <cstdint>

#include "absl/strings/string_view.h"

namespace aot::server {

struct ByteRange {
  enum class Kind {
    kWhole,          // no range, or one to ignore: several ranges, another unit, malformed
    kPart,           // bytes [first, first + length)
    kUnsatisfiable,  // starts past the end: 416
  };
  Kind kind = Kind::kWhole;
  uint64_t first = 0;
  uint64_t length = 0;  // of kWhole: the object's size
};

// `header` is the header's value, empty when there is none; `size` the object's length.
ByteRange ParseByteRange(absl::string_view header, uint64_t size);

}  // namespace aot::server
