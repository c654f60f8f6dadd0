#include "runtime/ota/load.h"

#include <cerrno>
#include <string>

#include "aot/aot.h"

namespace aot::ota {
namespace {

Code CodeOf(aot_status status) {
  switch (status) {
    case AOT_OK:
      return Code::kOk;
    case AOT_NOT_FOUND:
      return Code::kNotFound;
    case AOT_OUT_OF_MEMORY:
      return Code::kOutOfMemory;
    case AOT_DIGEST_MISMATCH:
      return Code::kDigest;
    case AOT_MALFORMED:
      return Code::kMalformed;
    case AOT_VERSION_MISMATCH:
    case AOT_WRONG_TARGET:
    case AOT_MISSING_CPU_FEATURE:
    case AOT_UNSUPPORTED:
      return Code::kIncompatible;
    case AOT_SELF_TEST_FAILED:
    case AOT_EXECUTION_FAILED:
      return Code::kFailedSelfTest;
    default:
      return Code::kIo;
  }
}

Status StatusOf(aot_status status, const aot_error& error) {
  // A block that went bad is damage, to be fetched again.
  if (status == AOT_IO_ERROR && error.system_error == EIO) return Status(Code::kDigest, error.message);
  const std::string path = error.path;
  return Status(CodeOf(status), (path.empty() ? "" : path + ": ") + error.message);
}

}  // namespace

Status LoadSlot(StateDirectory* state, const Slot& slot, aot_model** out) {
  const auto path_of = [&](const Part& part) { return state->path() + "/" + PartStore::PathOf(part.sha256); };
  const std::string manifest = path_of(slot.manifest);
  const std::string code = path_of(slot.code);
  const std::string weights = path_of(slot.weights);
  aot_parts parts = {};
  parts.size = sizeof(parts);
  parts.manifest.path = manifest.c_str();
  parts.code.path = code.c_str();
  if (slot.weights.length > 0) parts.weights.path = weights.c_str();
  aot_load_options options = {};
  options.size = sizeof(options);
  // The loader hashes the copies of manifest and code that it goes on to use, and the mapping of the weights. The
  // manifest's digest is the signed one, and names the others: whatever the paths lead to, only signed bytes are used.
  options.flags = AOT_LOAD_VERIFY | AOT_LOAD_PREFAULT;
  options.manifest_sha256 = slot.manifest.sha256.bytes.data();
  aot_error error = {};
  aot_model* model = nullptr;
  aot_status status = aot_load_parts(&parts, &options, &model, &error);
  if (status != AOT_OK) return StatusOf(status, error);
  status = aot_self_test(model, &error);
  // An artifact that brings no self-test has proved all that it can by loading.
  if (status != AOT_OK && status != AOT_NO_SELF_TEST) {
    aot_unload(model);
    return StatusOf(status, error);
  }
  *out = model;
  return Status();
}

}  // namespace aot::ota
