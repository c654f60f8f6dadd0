// The weight segment: constants in their storage type, matrices in panels where a kernel wants them so.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/ir/reference_bridge.h"
#include "compiler/schedule/program.h"

namespace aot::schedule {
namespace {

// Copies one matrix operand into panels (see PanelPacking).
void Pack(const PanelPacking& packing, const uint8_t* from, int64_t element_bytes, char* to) {
  int64_t depth = packing.depth();
  std::vector<int64_t> k_offsets(depth);
  for (int64_t k = 0; k < depth; ++k) {
    int64_t rest = k, offset = 0;
    for (size_t d = packing.k_sizes.size(); d-- > 0;) {
      offset += rest % packing.k_sizes[d] * packing.k_strides[d];
      rest /= packing.k_sizes[d];
    }
    k_offsets[k] = offset;
  }
  for (int64_t group = 0; group < packing.groups; ++group) {
    for (int64_t start = 0; start < packing.cols; start += packing.width) {
      int64_t width = std::min(packing.width, packing.cols - start);
      for (int64_t k = 0; k < depth; ++k) {
        for (int64_t n = start; n < start + width; ++n) {
          int64_t source = group * packing.group_stride + k_offsets[k] + n * packing.col_stride;
          std::memcpy(to, from + source * element_bytes, element_bytes);
          to += element_bytes;
        }
      }
    }
  }
}

}  // namespace

absl::StatusOr<std::string> PackWeights(const Program& program) {
  std::string bytes(program.weights_size, '\0');
  for (const Weight& weight : program.weights) {
    auto tensor = nn::ToTensor(weight.value);
    if (!tensor.ok()) return tensor.status();
    if (static_cast<int64_t>(tensor->bytes().size()) != weight.bytes)
      return absl::InternalError(
          absl::StrCat("a constant has ", tensor->bytes().size(), " bytes, planned were ", weight.bytes));
    if (weight.packing)
      Pack(*weight.packing, tensor->bytes().data(), weight.bytes / std::max<int64_t>(1, tensor->size()),
           &bytes[weight.offset]);
    else if (weight.bytes > 0)
      std::memcpy(&bytes[weight.offset], tensor->bytes().data(), weight.bytes);
  }
  return bytes;
}

}  // namespace aot::schedule
