// Stage 4 as a whole: object files for all kernels of a program and for the entry function that calls them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/schedule/program.h"

namespace aot::codegen {

// Objects in the order of program.kernels, then the entry's. `threads` work at a time, each in contexts of its own; the
// result doesn't depend on their number. `progress(done, total)` is called under a lock. `key` (32 bytes) goes into the
// descriptor.
absl::StatusOr<std::vector<std::string>> GenerateObjects(const schedule::Program& program,
                                                         const target::Description& target, absl::string_view key,
                                                         int threads, const std::function<void(int, int)>& progress);

// The entry function and the descriptor (runtime/format/entry.h) are object 0 of EntryObjects(program); the others hold
// the steps of long programs.
size_t EntryObjects(const schedule::Program& program);
absl::StatusOr<std::string> EmitEntry(const schedule::Program& program, size_t number,
                                      const target::Description& target, absl::string_view key);

}  // namespace aot::codegen
