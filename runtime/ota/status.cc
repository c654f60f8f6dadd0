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

bool MayPass(const Status& status) {
  const Code code = status.code();
  return code == Code::kNetwork || code == Code::kIo || code == Code::kNoSpace || code == Code::kOutOfMemory ||
         code == Code::kBusy;
}

std::string Printable(std::string_view text) {
  static constexpr char kDigits[] = "0123456789abcdef";
  static constexpr size_t kMost = 200;
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (out.size() >= kMost) return out + "...";
    if (byte >= 0x20 && byte < 0x7f) {
      out.push_back(c);
    } else {
      out += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

}  // namespace aot::ota
