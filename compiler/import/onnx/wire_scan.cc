#include "compiler/import/onnx/wire_scan.h"

#include <algorithm>
#include <array>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/text.h"

namespace aot::import::onnx {
namespace {

// The messages that the scan goes into.
enum class Kind {
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kFunction,
  kTensor,
  kSparseTensor,
  kValueInfo,
  kType,
  kTensorType,
  kSequenceType,  // and optionals
  kMapType,
  kShape,
  kDimension,
  kPair,  // two texts
  // Not messages:
  kName,     // a text of at most kLongestName bytes
  kText,     // a text of any length
  kIntegers  // packed varints
};

struct Field {
  Kind message;
  uint32_t number;
  Kind holds;
};

// Length-delimited fields by the numbers of third_party/onnx/onnx.proto. Others are raw data, packed floats or unknown:
// their bytes are kept as they are.
constexpr Field kFields[] = {
    {Kind::kModel, 7, Kind::kGraph},
    {Kind::kModel, 8, Kind::kPair},
    {Kind::kModel, 14, Kind::kPair},
    {Kind::kModel, 25, Kind::kFunction},
    {Kind::kGraph, 1, Kind::kNode},
    {Kind::kGraph, 2, Kind::kName},
    {Kind::kGraph, 5, Kind::kTensor},
    {Kind::kGraph, 11, Kind::kValueInfo},
    {Kind::kGraph, 12, Kind::kValueInfo},
    {Kind::kGraph, 13, Kind::kValueInfo},
    {Kind::kGraph, 14, Kind::kPair},
    {Kind::kGraph, 15, Kind::kSparseTensor},
    {Kind::kGraph, 16, Kind::kPair},
    {Kind::kNode, 1, Kind::kName},
    {Kind::kNode, 2, Kind::kName},
    {Kind::kNode, 3, Kind::kName},
    {Kind::kNode, 4, Kind::kName},
    {Kind::kNode, 5, Kind::kAttribute},
    {Kind::kNode, 7, Kind::kName},
    {Kind::kNode, 8, Kind::kName},
    {Kind::kNode, 9, Kind::kPair},
    {Kind::kAttribute, 1, Kind::kName},
    {Kind::kAttribute, 4, Kind::kText},
    {Kind::kAttribute, 5, Kind::kTensor},
    {Kind::kAttribute, 6, Kind::kGraph},
    {Kind::kAttribute, 8, Kind::kIntegers},
    {Kind::kAttribute, 9, Kind::kText},
    {Kind::kAttribute, 10, Kind::kTensor},
    {Kind::kAttribute, 11, Kind::kGraph},
    {Kind::kAttribute, 14, Kind::kType},
    {Kind::kAttribute, 15, Kind::kType},
    {Kind::kAttribute, 21, Kind::kName},
    {Kind::kAttribute, 22, Kind::kSparseTensor},
    {Kind::kAttribute, 23, Kind::kSparseTensor},
    {Kind::kFunction, 1, Kind::kName},
    {Kind::kFunction, 4, Kind::kName},
    {Kind::kFunction, 5, Kind::kName},
    {Kind::kFunction, 6, Kind::kName},
    {Kind::kFunction, 7, Kind::kNode},
    {Kind::kFunction, 9, Kind::kPair},
    {Kind::kFunction, 10, Kind::kName},
    {Kind::kFunction, 11, Kind::kAttribute},
    {Kind::kFunction, 12, Kind::kValueInfo},
    {Kind::kFunction, 13, Kind::kName},
    {Kind::kFunction, 14, Kind::kPair},
    {Kind::kTensor, 1, Kind::kIntegers},
    {Kind::kTensor, 3, Kind::kPair},
    {Kind::kTensor, 5, Kind::kIntegers},
    {Kind::kTensor, 6, Kind::kText},
    {Kind::kTensor, 7, Kind::kIntegers},
    {Kind::kTensor, 8, Kind::kName},
    {Kind::kTensor, 11, Kind::kIntegers},
    {Kind::kTensor, 13, Kind::kPair},
    {Kind::kTensor, 16, Kind::kPair},
    {Kind::kSparseTensor, 1, Kind::kTensor},
    {Kind::kSparseTensor, 2, Kind::kTensor},
    {Kind::kSparseTensor, 3, Kind::kIntegers},
    {Kind::kValueInfo, 1, Kind::kName},
    {Kind::kValueInfo, 2, Kind::kType},
    {Kind::kValueInfo, 4, Kind::kPair},
    {Kind::kType, 1, Kind::kTensorType},
    {Kind::kType, 4, Kind::kSequenceType},
    {Kind::kType, 5, Kind::kMapType},
    {Kind::kType, 6, Kind::kText},
    {Kind::kType, 7, Kind::kPair},
    {Kind::kType, 8, Kind::kTensorType},
    {Kind::kType, 9, Kind::kSequenceType},
    {Kind::kTensorType, 2, Kind::kShape},
    {Kind::kSequenceType, 1, Kind::kType},
    {Kind::kMapType, 2, Kind::kType},
    {Kind::kShape, 1, Kind::kDimension},
    {Kind::kDimension, 2, Kind::kName},
    {Kind::kDimension, 3, Kind::kText},
};

class Scanner {
 public:
  explicit Scanner(absl::string_view bytes)
      : at_(reinterpret_cast<const uint8_t*>(bytes.data())), size_(bytes.size()) {}

  absl::Status Scan() { return Message(Kind::kModel, at_ + size_, 0, 0); }
  const WireCounts& counts() const { return counts_; }

 private:
  absl::Status Refuse(absl::string_view why) const {
    return absl::InvalidArgumentError(absl::StrCat("not an ONNX model: ", why, " (", size_, " bytes)"));
  }
  absl::Status Corrupt() const { return Refuse("the data are truncated or corrupt"); }
  absl::Status TooMany(int64_t most, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat("the model has more than ", most, " ", what));
  }

  bool Varint(const uint8_t* end, uint64_t& value) {
    value = 0;
    for (int shift = 0; shift < 70 && at_ < end; shift += 7) {
      const uint8_t byte = *at_++;
      value |= shift < 64 ? static_cast<uint64_t>(byte & 0x7F) << shift : 0;
      if (byte < 0x80) return true;
    }
    return false;
  }

  // The fields of kFields by message and number; null for all others.
  static const Field* Find(Kind message, uint64_t number) {
    constexpr size_t kNumbers = 26;
    using Table = std::array<std::array<const Field*, kNumbers>, static_cast<size_t>(Kind::kPair) + 1>;
    static const Table table = [] {
      Table fields{};
      for (const Field& field : kFields) fields[static_cast<size_t>(field.message)][field.number] = &field;
      return fields;
    }();
    return number < kNumbers ? table[static_cast<size_t>(message)][number] : nullptr;
  }

  // A message or a text that begins here and ends at `end`.
  absl::Status Delimited(Kind kind, const uint8_t* end, int depth, int graphs) {
    switch (kind) {
      case Kind::kName:
      case Kind::kText:
        if (++counts_.texts > kMostTexts) return TooMany(kMostTexts, "names and texts");
        if (kind == Kind::kName && end - at_ > kLongestName) {
          const absl::string_view start(reinterpret_cast<const char*>(at_), 40);
          return absl::InvalidArgumentError(absl::StrCat("a name that starts with ", Quoted(start), " has ", end - at_,
                                                         " bytes; at most ", kLongestName, " are accepted"));
        }
        break;
      case Kind::kIntegers:
        counts_.integers += std::count_if(at_, end, [](uint8_t byte) { return byte < 0x80; });
        if (counts_.integers > kMostIntegers) return TooManyIntegers();
        break;
      case Kind::kNode:
        if (++counts_.nodes > kMostNodes) return TooMany(kMostNodes, "nodes");
        return Message(kind, end, depth, graphs);
      case Kind::kTensor:
        if (++counts_.tensors > kMostTensors) {
          return TooMany(kMostTensors, "initialisers and tensors in attributes");
        }
        return Message(kind, end, depth, graphs);
      case Kind::kGraph:
        if (graphs >= kDeepestGraph) {
          return absl::InvalidArgumentError(
              absl::StrCat("graphs are nested deeper than ", kDeepestGraph, " in attributes of nodes"));
        }
        return Message(kind, end, depth, graphs + 1);
      default:
        return Message(kind, end, depth, graphs);
    }
    at_ = end;
    return absl::OkStatus();
  }

  absl::Status TooManyIntegers() const {
    return TooMany(kMostIntegers, "integers outside of raw_data; large tensors keep their elements there");
  }

  absl::Status Message(Kind kind, const uint8_t* end, int depth, int graphs) {
    if (++counts_.messages > kMostMessages) return TooMany(kMostMessages, "messages, dimensions of shapes included");
    if (depth >= kDeepestMessage) {
      return Refuse(absl::StrCat("messages are nested deeper than ", kDeepestMessage, ", types of types for example"));
    }
    while (at_ < end) {
      uint64_t tag = 0, value = 0;
      if (!Varint(end, tag) || tag >> 3 == 0 || tag > UINT32_MAX) return Corrupt();
      switch (tag & 7) {
        case 0:
          if (!Varint(end, value)) return Corrupt();
          if (++counts_.integers > kMostIntegers) return TooManyIntegers();
          break;
        case 1:
        case 5: {
          const ptrdiff_t width = (tag & 7) == 1 ? 8 : 4;
          if (end - at_ < width) return Corrupt();
          at_ += width;
          break;
        }
        case 2: {
          if (!Varint(end, value) || value > static_cast<uint64_t>(end - at_)) return Corrupt();
          const Field* field = Find(kind, tag >> 3);
          if (!field) {
            at_ += value;
            break;
          }
          if (absl::Status status = Delimited(field->holds, at_ + value, depth + 1, graphs); !status.ok())
            return status;
          break;
        }
        default:  // groups: no version of the format has any
          return Corrupt();
      }
    }
    return absl::OkStatus();
  }

  const uint8_t* at_;
  const size_t size_;
  WireCounts counts_;
};

}  // namespace

absl::Status ScanModel(absl::string_view bytes, WireCounts* counts) {
  Scanner scanner(bytes);
  absl::Status status = scanner.Scan();
  if (counts) *counts = scanner.counts();
  return status;
}

}  // namespace aot::import::onnx
