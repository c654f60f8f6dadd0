// What one client may ask of the server. Checked before the work.
#pragma once

#include <cstdint>

#include "absl/time/time.h"

namespace aot::server {

struct Limits {
  int64_t max_model_bytes = int64_t{4} << 30;  // of all files of one model
  int max_external_blobs = 1024;
  int max_chunk_bytes = 2 << 20;  // data of one UploadModelRequest
  int download_chunk_bytes = 256 << 10;
  absl::Duration stall = absl::Seconds(60);  // of a stream whose other side does nothing
  int max_concurrent_streams = 128;          // of one connection
  int max_threads = 128;                     // for RPCs that block
};

// Of one gRPC message: the largest is an upload chunk with its frame.
inline int MaxMessageBytes(const Limits& limits) { return limits.max_chunk_bytes + (64 << 10); }

}  // namespace aot::server
