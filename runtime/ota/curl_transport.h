// HTTP and HTTPS over libcurl.
#pragma once

#include <memory>
#include <string>

#include "runtime/ota/transport.h"

namespace aot::ota {

struct CurlOptions {
  int64_t connect_timeout_ms = 15000;
  // A transfer that stays below this speed for this time is ended.
  int64_t low_speed_bytes_per_second = 256;
  int64_t low_speed_seconds = 30;
  // Redirects are refused unless this is above 0; an https URL never leads to an http one.
  int max_redirects = 0;
  // Certificates that vouch for servers, a PEM file. Empty: the system's.
  std::string ca_file;
};

// Certificates and host names of https servers are always verified. Not thread-safe; connections are kept open between
// requests. Returns nullptr if libcurl can't start.
std::unique_ptr<Transport> MakeCurlTransport(const CurlOptions& options);

}  // namespace aot::ota
