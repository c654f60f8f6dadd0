#include "runtime/ota/status.h"

namespace aot::ota {

const char* CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kIo:
      return "i/o error";
    case Code::kNoSpace:
      return "no space";
    case Code::kNetwork:
      return "network error";
    case Code::kNotFound:
      return "not found";
    case Code::kMissingMetadata:
      return "missing metadata";
    case Code::kMalformed:
      return "malformed";
    case Code::kSignature:
      return "bad signature";
    case Code::kExpired:
      return "expired";
    case Code::kRollback:
      return "rollback";
    case Code::kDigest:
      return "digest mismatch";
    case Code::kIncompatible:
      return "incompatible";
    case Code::kLimit:
      return "over the limit";
    case Code::kOutOfMemory:
      return "out of memory";
    case Code::kBusy:
      return "busy";
    case Code::kFailedSelfTest:
      return "failed self-test";
  }
  return "unknown";
}

}  // namespace aot::ota
