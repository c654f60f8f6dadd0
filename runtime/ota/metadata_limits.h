// How large signed metadata may be. A device takes no more by default, and the registry signs no more: a publication
// that every device would refuse must fail on the server, where somebody sees it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace aot::ota {

// Bytes of a file; the values are those of the reference client of The Update Framework.
inline constexpr int64_t kMaxRootBytes = 512000;
inline constexpr int64_t kMaxTimestampBytes = 16384;
inline constexpr int64_t kMaxSnapshotBytes = 2000000;
inline constexpr int64_t kMaxTargetsBytes = 5000000;

// Values of a file (objects, arrays, strings, numbers...), and how deep they may be nested. They bound the memory that
// a parsed file takes, about 100 bytes each.
inline constexpr size_t kMaxMetadataValues = 200000;
inline constexpr int kMaxMetadataDepth = 32;

}  // namespace aot::ota
