// The device runner of the model tests: runs one artifact on raw files. Includes what a device application would:
// aot/aot.h alone.
//
//   runner MODEL.so INPUT.raw... -- OUTPUT.raw...
//
// Inputs and outputs are in the model's order, as their bytes lie in memory. Prints the arena's size ("arena BYTES").
// Exit status 0, or 1 with a message on stderr.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "aot/aot.h"

namespace {

struct Free {
  void operator()(void* memory) const { free(memory); }
};
using Buffer = std::unique_ptr<void, Free>;

Buffer Allocate(size_t bytes) { return Buffer(aligned_alloc(64, (bytes / 64 + 1) * 64)); }

bool Fail(const char* what, const char* why) {
  fprintf(stderr, "runner: %s: %s\n", what, why);
  return false;
}

// Exactly `bytes` bytes; a shorter or longer file is an error.
bool Read(const char* path, void* data, size_t bytes) {
  FILE* file = fopen(path, "rb");
  if (file == nullptr) return Fail(path, "can't be opened");
  bool whole = fread(data, 1, bytes, file) == bytes && fgetc(file) == EOF;
  fclose(file);
  return whole || Fail(path, "has another size than the input");
}

bool Write(const char* path, const void* data, size_t bytes) {
  FILE* file = fopen(path, "wb");
  if (file == nullptr) return Fail(path, "can't be opened");
  bool whole = fwrite(data, 1, bytes, file) == bytes;
  whole = fclose(file) == 0 && whole;
  return whole || Fail(path, "can't be written");
}

bool Run(aot_model* model, char** inputs, size_t input_count, char** outputs, size_t output_count) {
  if (input_count != aot_input_count(model)) return Fail("inputs", "another number than the model's");
  if (output_count != aot_output_count(model)) return Fail("outputs", "another number than the model's");
  std::vector<Buffer> buffers;
  std::vector<const void*> in;
  std::vector<void*> out;
  std::vector<size_t> sizes;
  aot_tensor_info info = {};
  info.size = sizeof(info);
  for (uint32_t i = 0; i < input_count; ++i) {
    if (aot_input_info(model, i, &info) != AOT_OK) return Fail(inputs[i], "no such input");
    buffers.push_back(Allocate(info.bytes));
    in.push_back(buffers.back().get());
    if (!Read(inputs[i], buffers.back().get(), info.bytes)) return false;
  }
  for (uint32_t i = 0; i < output_count; ++i) {
    if (aot_output_info(model, i, &info) != AOT_OK) return Fail(outputs[i], "no such output");
    sizes.push_back(info.bytes);
    if (info.state != AOT_NO_STATE) {  // lies in the input's buffer
      out.push_back(const_cast<void*>(in[info.state]));
      continue;
    }
    buffers.push_back(Allocate(info.bytes));
    out.push_back(buffers.back().get());
  }
  aot_error error = {};
  aot_run_args args = {};
  args.size = sizeof(args);
  args.inputs = in.data();
  args.outputs = out.data();
  args.input_count = static_cast<uint32_t>(in.size());
  args.output_count = static_cast<uint32_t>(out.size());
  args.error = &error;
  if (aot_run(model, &args) != AOT_OK) return Fail("aot_run", error.message);
  for (size_t i = 0; i < output_count; ++i) {
    if (!Write(outputs[i], out[i], sizes[i])) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int separator = 2;
  while (separator < argc && strcmp(argv[separator], "--") != 0) ++separator;
  if (separator >= argc) {
    Fail("usage", "runner MODEL.so INPUT.raw... -- OUTPUT.raw...");
    return 1;
  }
  aot_load_options options = {};
  options.size = sizeof(options);
  options.flags = AOT_LOAD_VERIFY;
  aot_model* model = nullptr;
  aot_error error = {};
  if (aot_load_file(argv[1], &options, &model, &error) != AOT_OK) {
    Fail(argv[1], error.message);
    return 1;
  }
  printf("arena %llu\n", static_cast<unsigned long long>(aot_arena_bytes(model)));
  bool ran = Run(model, argv + 2, static_cast<size_t>(separator - 2), argv + separator + 1,
                 static_cast<size_t>(argc - separator - 1));
  aot_unload(model);
  return ran ? 0 : 1;
}
