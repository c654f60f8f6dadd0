// Objects in, one code object out: LLD in this process, and the policy of docs/formats/artifact.md enforced on the
// result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "compiler/target/target.h"

namespace aot::emit {

// Links relocatable ELF objects, in their order, into a shared object that exports the descriptor only, imports nothing
// and has no relocations. A read-only segment of weights_size bytes past the end of the file is described by a program
// header, for the `.so` form.
//
// Only .text, .rodata and constant sections are taken; memcpy, memmove, memset and half-precision conversions are
// linked in where the objects refer to them. The result depends on the arguments alone. Thread-safe: links run one at a
// time, since LLD is not re-entrant.
//
// INTERNAL: the objects don't link or the result breaks the policy; the message names the symbol or section.
// UNAVAILABLE: no room for the temporary files, which live in a private directory under $TMPDIR.
absl::StatusOr<std::string> LinkCode(std::vector<std::string> objects, const target::Description& target,
                                     uint64_t weights_size);

}  // namespace aot::emit
