/* device_check ARTIFACT [STATUS]: what a device does with an artifact of compiler/emit/testdata, in C, with the public
 * header alone. Loads, verifies, runs, self-tests; or expects loading to end with STATUS. Tests run it on the host and,
 * cross-built, in an emulator. */
#include <stdio.h>
#include <string.h>

#include "aot/aot.h"

static int Run(aot_model* model) {
  float x[8] = {1, 1, 1, 1, 2, 2, 2, 2}, y[8] = {0};
  const float expected[8] = {1.5f, 2.25f, 3, 3, 2.5f, 4.25f, 6, 7};
  int64_t count = 41;
  const void* inputs[] = {x, &count};
  void* outputs[] = {y, &count};
  aot_error error;
  aot_run_args args;
  memset(&args, 0, sizeof args);
  args.size = sizeof args;
  args.inputs = inputs;
  args.outputs = outputs;
  args.input_count = 2;
  args.output_count = 2;
  args.error = &error;
  if (aot_run(model, &args) != AOT_OK || aot_self_test(model, &error) != AOT_OK) {
    fprintf(stderr, "%s\n", error.message);
    return 1;
  }
  if (memcmp(y, expected, sizeof y) != 0 || count != 42) {
    fprintf(stderr, "wrong result: %g %g %g..., count %lld\n", y[0], y[1], y[2], (long long)count);
    return 1;
  }
  return 0;
}

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  const char* expected = argc > 2 ? argv[2] : "AOT_OK";
  aot_load_options options;
  memset(&options, 0, sizeof options);
  options.size = sizeof options;
  options.flags = AOT_LOAD_VERIFY | AOT_LOAD_PREFAULT;
  aot_model* model;
  aot_error error;
  const aot_status status = aot_load_file(argv[1], &options, &model, &error);
  printf("%s%s%s\n", aot_status_text(status), status != AOT_OK ? ": " : "", status != AOT_OK ? error.message : "");
  if (strcmp(aot_status_text(status), expected) != 0) return 1;
  const int result = status == AOT_OK ? Run(model) : 0;
  aot_unload(model);
  return result;
}
