// Stage 4 as a whole: object files for all kernels of a program and for the entry function that calls them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "compiler/schedule/program.h"

namespace aot::codegen {

// The code of one program, or of the buckets of an artifact: the first has the kernels of all
// (schedule::ShareKernels). `weights_size` is that of the segment that they share. Objects in the order of the kernels,
// then the entry's. `threads` work at a time, each in contexts of its own; the
// result doesn't depend on their number. `progress(done, total)` is called under a lock. `key` (32 bytes) goes into the
// descriptor.
absl::StatusOr<std::vector<std::string>> GenerateObjects(absl::Span<const schedule::Program> programs,
                                                         int64_t weights_size, const target::Description& target,
                                                         absl::string_view key, int threads,
                                                         const std::function<void(int, int)>& progress);

// The entry function and the descriptor (runtime/format/entry.h) are object 0 of EntryObjects(programs); the others
// hold the steps of long programs.
size_t EntryObjects(absl::Span<const schedule::Program> programs);
absl::StatusOr<std::string> EmitEntry(absl::Span<const schedule::Program> programs, int64_t weights_size, size_t number,
                                      const target::Description& target, absl::string_view key);

}  // namespace aot::codegen
