/* Filling an aot_error: the one place where the runtime's messages are put together. */
#ifndef AOT_RUNTIME_CORE_ERROR_H_
#define AOT_RUNTIME_CORE_ERROR_H_

#include "runtime/format/fault.h"
#include "runtime/include/aot/aot.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One piece of a message: text, or a number. */
typedef struct aot_piece {
  const char* text; /* NULL: the number */
  uint64_t number;
} aot_piece;
#define AOT_TEXT(s) ((aot_piece){(s), 0})
#define AOT_NUMBER(n) ((aot_piece){NULL, (uint64_t)(n)})

/* Fills *error (unless NULL) and returns `status`, so that a function can `return aot_report(...)`. path may be NULL.
 */
aot_status aot_report(aot_error* error, aot_status status, const char* path, uint64_t offset, const aot_piece* pieces,
                      size_t count);
#define AOT_REPORT(error, status, path, offset, ...)                        \
  aot_report(error, status, path, offset, (const aot_piece[]){__VA_ARGS__}, \
             sizeof((const aot_piece[]){__VA_ARGS__}) / sizeof(aot_piece))

/* What a reader of the format found, in a part of the artifact that starts at `base` of the file. */
aot_status aot_report_fault(aot_error* error, const char* path, uint64_t base, const aot_fault* fault);

/* What the operating system refused: "can't <action>: <its text>". */
aot_status aot_report_system(aot_error* error, const char* path, const char* action, int system_error);

#ifdef __cplusplus
}
#endif

#endif
