// How a model is named: the digests that the API (proto/aot/v1/artifact.proto) asks for.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "absl/strings/string_view.h"
#include "compiler/pipeline.h"

namespace aot::clients {

// SHA-256 as 64 lower-case hexadecimal digits, and the number of bytes.
struct Digest {
  std::string hash;
  int64_t size = 0;
};

Digest DigestOf(absl::string_view bytes);

struct ModelDigests {
  Digest model;                            // over all parts, as Model.digest of the API defines it
  Digest file;                             // the model file alone
  std::map<std::string, Digest> external;  // by location
};

ModelDigests DigestsOf(const compiler::Model& model);

}  // namespace aot::clients
