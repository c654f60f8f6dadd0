// The weight segment: constants in their storage type, matrices in panels where a kernel wants them so.
#include <cstring>

#include "absl/strings/str_cat.h"
#include "compiler/ir/reference_bridge.h"
#include "compiler/ir/temporary_constant.h"
#include "compiler/schedule/arena.h"
#include "compiler/schedule/program.h"
#include "compiler/schedule/winograd.h"

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

// The same for dot product instructions: signed bytes in words of four, or widened in words of two.
void PackWords(const PanelPacking& packing, const int8_t* from, char* to) {
  int64_t last = packing.k_sizes.back(), words = (last + packing.products - 1) / packing.products;
  int64_t taps = last == 0 ? 0 : packing.depth() / last;
  auto append = [&to](auto value) {
    std::memcpy(to, &value, sizeof value);
    to += sizeof value;
  };
  for (int64_t group = 0; group < packing.groups; ++group) {
    for (int64_t start = 0; start < packing.cols; start += packing.width) {
      int64_t end = std::min(start + packing.width, packing.cols);
      // The element in row (tap, k) of column n.
      auto element = [&](int64_t tap, int64_t k, int64_t n) -> int8_t {
        if (k >= last) return 0;
        int64_t offset = k * packing.k_strides.back();
        for (size_t d = packing.k_sizes.size() - 1; d-- > 0;) {
          offset += tap % packing.k_sizes[d] * packing.k_strides[d];
          tap /= packing.k_sizes[d];
        }
        return from[group * packing.group_stride + offset + n * packing.col_stride];
      };
      for (int64_t n = start; n < end; ++n) {
        int64_t sum = 0;
        for (int64_t tap = 0; tap < taps; ++tap)
          for (int64_t k = 0; k < last; ++k) sum += element(tap, k, n);
        append(static_cast<int32_t>(-packing.zero_point * sum));
      }
      for (int64_t tap = 0; tap < taps; ++tap) {
        for (int64_t word = 0; word < words; ++word) {
          for (int64_t n = start; n < end; ++n) {
            for (int64_t i = 0; i < packing.products; ++i) {
              int8_t value = element(tap, word * packing.products + i, n);
              if (packing.products == 4)
                append(value);
              else
                append(static_cast<int16_t>(value));
            }
          }
        }
      }
    }
  }
}

// A filter [3, 3, K, cols] transformed for minimal filtering, in panels for each position.
void PackTransformed(const PanelPacking& packing, const reference::Tensor& from, char* to) {
  int64_t depth = packing.depth(), taps = depth * packing.cols;
  float* panels = reinterpret_cast<float*>(to);
  auto matrix = WinogradFilterMatrix(packing.winograd);
  std::vector<double> transformed(matrix.size() * matrix.size());
  for (int64_t start = 0; start < packing.cols; start += packing.width) {
    int64_t width = std::min(packing.width, packing.cols - start);
    for (int64_t k = 0; k < depth; ++k) {
      for (int64_t n = start; n < start + width; ++n) {
        double filter[9];
        for (int64_t tap = 0; tap < 9; ++tap) filter[tap] = from.GetFloat(tap * taps + k * packing.cols + n);
        TransformFilter(matrix, filter, transformed.data());
        int64_t at = start * depth + k * width + n - start;
        for (size_t p = 0; p < transformed.size(); ++p)
          panels[static_cast<int64_t>(p) * taps + at] = static_cast<float>(transformed[p]);
      }
    }
  }
}

// The packed bytes of one weight, to `to`, which has room for weight.bytes.
absl::Status PackOne(const Weight& weight, char* to) {
  auto tensor = nn::ToTensor(weight.value);
  if (!tensor.ok()) return tensor.status();
  int64_t size = static_cast<int64_t>(tensor->bytes().size());
  int64_t element_bytes = size / std::max<int64_t>(1, tensor->size());
  int64_t planned = weight.packing ? weight.packing->bytes(element_bytes) : size;
  if (planned != weight.bytes)
    return absl::InternalError(absl::StrCat("a constant has ", planned, " bytes, planned were ", weight.bytes));
  if (weight.packing && weight.packing->winograd > 0)
    PackTransformed(*weight.packing, *tensor, to);
  else if (weight.packing && weight.packing->products > 1)
    PackWords(*weight.packing, reinterpret_cast<const int8_t*>(tensor->bytes().data()), to);
  else if (weight.packing)
    Pack(*weight.packing, tensor->bytes().data(), element_bytes, to);
  else if (weight.bytes > 0)
    std::memcpy(to, tensor->bytes().data(), weight.bytes);
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> PackWeights(const Program& program) {
  // A constant that was computed here is given back once it is packed, so that the two are in memory together for one
  // weight at a time. Several weights may be packings of one constant.
  nn::TemporaryUses packings_left;
  for (const Weight& weight : program.weights) packings_left.Add(weight.value);
  // Grown weight by weight (they are in the order of their offsets): what is reserved takes no memory yet.
  std::string bytes;
  bytes.reserve(program.weights_size);
  for (const Weight& weight : program.weights) {
    bytes.resize(weight.offset + weight.bytes);
    if (absl::Status status = PackOne(weight, &bytes[weight.offset]); !status.ok()) return status;
    packings_left.Remove(weight.value);
  }
  bytes.resize(program.weights_size);
  return bytes;
}

int64_t WeightSegment::Place(absl::string_view packed) {
  const auto size = static_cast<int64_t>(packed.size());
  const size_t hash = std::hash<std::string_view>()(std::string_view(packed.data(), packed.size()));
  for (auto [found, end] = places_.equal_range(hash); found != end; ++found) {
    const auto [offset, bytes] = found->second;
    if (bytes == size && absl::string_view(bytes_).substr(offset, size) == packed) return offset;
  }
  bytes_.resize((bytes_.size() + kArenaAlignment - 1) / kArenaAlignment * kArenaAlignment);
  const auto offset = static_cast<int64_t>(bytes_.size());
  bytes_.append(packed.data(), packed.size());
  places_.emplace(hash, std::make_pair(offset, size));
  return offset;
}

absl::Status WeightSegment::Add(Program& program) {
  nn::TemporaryUses packings_left;
  for (const Weight& weight : program.weights) packings_left.Add(weight.value);
  std::unordered_map<int64_t, int64_t> moved;  // offset in the program's own plan -> in the segment
  std::string packed;
  for (const Weight& weight : program.weights) {
    packed.resize(weight.bytes);
    if (absl::Status status = PackOne(weight, packed.data()); !status.ok()) return status;
    packings_left.Remove(weight.value);
    // Nothing is read of a weight without bytes, whose offset is the next one's, too.
    if (weight.bytes > 0) moved[weight.offset] = Place(packed);
  }
  for (Step& step : program.steps)
    for (Location& location : step.arguments)
      if (location.kind == Location::Kind::kWeights) location.position = moved[location.position];
  program.weights.clear();
  program.weights_size = 0;
  return absl::OkStatus();
}

}  // namespace aot::schedule
