#include "runtime/core/error.h"

#include <errno.h>
#include <string.h>

#include "runtime/port/port.h"

const char* aot_status_text(aot_status status) {
  switch (status) {
    case AOT_OK:
      return "AOT_OK";
    case AOT_INVALID_ARGUMENT:
      return "AOT_INVALID_ARGUMENT";
    case AOT_NOT_FOUND:
      return "AOT_NOT_FOUND";
    case AOT_IO_ERROR:
      return "AOT_IO_ERROR";
    case AOT_OUT_OF_MEMORY:
      return "AOT_OUT_OF_MEMORY";
    case AOT_MALFORMED:
      return "AOT_MALFORMED";
    case AOT_VERSION_MISMATCH:
      return "AOT_VERSION_MISMATCH";
    case AOT_WRONG_TARGET:
      return "AOT_WRONG_TARGET";
    case AOT_MISSING_CPU_FEATURE:
      return "AOT_MISSING_CPU_FEATURE";
    case AOT_DIGEST_MISMATCH:
      return "AOT_DIGEST_MISMATCH";
    case AOT_ARENA_TOO_SMALL:
      return "AOT_ARENA_TOO_SMALL";
    case AOT_BUSY:
      return "AOT_BUSY";
    case AOT_SELF_TEST_FAILED:
      return "AOT_SELF_TEST_FAILED";
    case AOT_NO_SELF_TEST:
      return "AOT_NO_SELF_TEST";
    case AOT_EXECUTION_FAILED:
      return "AOT_EXECUTION_FAILED";
    case AOT_UNSUPPORTED:
      return "AOT_UNSUPPORTED";
    case AOT_NETWORK_ERROR:
      return "AOT_NETWORK_ERROR";
    case AOT_BAD_SIGNATURE:
      return "AOT_BAD_SIGNATURE";
    case AOT_EXPIRED:
      return "AOT_EXPIRED";
    case AOT_ROLLBACK:
      return "AOT_ROLLBACK";
    case AOT_LIMIT_EXCEEDED:
      return "AOT_LIMIT_EXCEEDED";
  }
  return "AOT_UNKNOWN_STATUS";
}

/* The place of an error, without its message. */
static void Begin(aot_error* error, aot_status status, const char* path, uint64_t offset) {
  aot_text_builder builder;
  error->status = status;
  error->system_error = 0;
  error->offset = offset;
  aot_text_begin(&builder, error->path, sizeof error->path);
  if (path != NULL) aot_text_add(&builder, path);
}

aot_status aot_report(aot_error* error, aot_status status, const char* path, uint64_t offset, const aot_piece* pieces,
                      size_t count) {
  if (error == NULL) return status;
  Begin(error, status, path, offset);
  aot_text_builder builder;
  aot_text_begin(&builder, error->message, sizeof error->message);
  if (path != NULL) {
    aot_text_add(&builder, path);
    aot_text_add(&builder, ": ");
  }
  for (size_t i = 0; i < count; ++i) {
    if (pieces[i].text != NULL) {
      aot_text_add(&builder, pieces[i].text);
    } else {
      aot_text_add_u64(&builder, pieces[i].number);
    }
  }
  return status;
}

aot_status aot_report_fault(aot_error* error, const char* path, uint64_t base, const aot_fault* fault) {
  aot_fault placed = *fault;
  placed.offset += base;
  char text[256];
  aot_fault_text(&placed, text, sizeof text);
  const aot_status status = fault->kind == AOT_FAULT_VERSION || fault->kind == AOT_FAULT_UNKNOWN ? AOT_VERSION_MISMATCH
                            : fault->kind == AOT_FAULT_DIGEST                                    ? AOT_DIGEST_MISMATCH
                                                                                                 : AOT_MALFORMED;
  return AOT_REPORT(error, status, path, placed.offset, AOT_TEXT(text));
}

aot_status aot_report_system(aot_error* error, const char* path, const char* action, int system_error) {
  const aot_status status = system_error == ENOENT || system_error == ENOTDIR ? AOT_NOT_FOUND
                            : system_error == ENOMEM                          ? AOT_OUT_OF_MEMORY
                                                                              : AOT_IO_ERROR;
  char text[128];
  aot_port_error_text(system_error, text, sizeof text);
  AOT_REPORT(error, status, path, AOT_NO_OFFSET, AOT_TEXT("can't "), AOT_TEXT(action), AOT_TEXT(": "), AOT_TEXT(text));
  if (error != NULL) error->system_error = system_error;
  return status;
}
