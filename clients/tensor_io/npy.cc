#include "clients/tensor_io/npy.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace aot::clients {
namespace {

using reference::ElementType;

constexpr absl::string_view kMagic("\x93NUMPY", 6);
// A header holds one dtype and one shape; numpy itself refuses more than 10 000 characters by default.
constexpr size_t kMaxHeader = 10000;
constexpr size_t kMaxRank = 64;

struct TypeCode {
  absl::string_view code;  // NumPy's kind and size in bytes
  ElementType element;
};
constexpr TypeCode kTypeCodes[] = {
    {"f2", ElementType::kFloat16}, {"f4", ElementType::kFloat32}, {"f8", ElementType::kFloat64},
    {"i1", ElementType::kInt8},    {"i2", ElementType::kInt16},   {"i4", ElementType::kInt32},
    {"i8", ElementType::kInt64},   {"u1", ElementType::kUint8},   {"u2", ElementType::kUint16},
    {"u4", ElementType::kUint32},  {"u8", ElementType::kUint64},  {"b1", ElementType::kBool},
};

absl::Status Bad(absl::string_view where, absl::string_view what) {
  return absl::InvalidArgumentError(absl::StrCat(where, ": not a usable .npy file: ", what));
}

// The text of a header's value: what follows 'key': up to the comma or bracket that ends it.
absl::StatusOr<absl::string_view> Value(absl::string_view header, absl::string_view key, absl::string_view where) {
  size_t at = header.find(absl::StrCat("'", key, "':"));
  if (at == absl::string_view::npos) return Bad(where, absl::StrCat("its header lacks '", key, "'"));
  absl::string_view rest = absl::StripAsciiWhitespace(header.substr(at + key.size() + 3));
  size_t end = absl::StartsWith(rest, "(") ? rest.find(')') : rest.find_first_of(",}");
  if (end == absl::string_view::npos) return Bad(where, absl::StrCat("the header's '", key, "' never ends"));
  return absl::StripAsciiWhitespace(rest.substr(0, end));
}

struct Header {
  reference::TensorType type;
  bool big_endian = false;
};

absl::StatusOr<Header> ParseHeader(absl::string_view text, absl::string_view where) {
  Header header;
  absl::StatusOr<absl::string_view> descr = Value(text, "descr", where);
  if (!descr.ok()) return descr.status();
  absl::string_view code = *descr;
  if (code.size() != 5 || code.front() != '\'' || code.back() != '\'') {
    return Bad(where, absl::StrCat("element type ", code, "; plain numbers and booleans are supported, such as '<f4'"));
  }
  code = code.substr(1, 3);
  const TypeCode* found = std::find_if(std::begin(kTypeCodes), std::end(kTypeCodes),
                                       [&](const TypeCode& t) { return t.code == code.substr(1); });
  if (found == std::end(kTypeCodes) || code.find_first_of("<>|=") != 0) {
    return Bad(where, absl::StrCat("element type '", code, "'; use one of f2 f4 f8 i1 i2 i4 i8 u1 u2 u4 u8 b1"));
  }
  header.type.element = found->element;
  header.big_endian = code[0] == '>';

  absl::StatusOr<absl::string_view> order = Value(text, "fortran_order", where);
  if (!order.ok()) return order.status();
  absl::StatusOr<absl::string_view> shape = Value(text, "shape", where);
  if (!shape.ok()) return shape.status();
  if (!absl::ConsumePrefix(&*shape, "(")) return Bad(where, "its shape is not a tuple");
  for (absl::string_view item : absl::StrSplit(*shape, ',', absl::SkipWhitespace())) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(item, &dim) || dim < 0) return Bad(where, absl::StrCat("dimension '", item, "'"));
    header.type.shape.push_back(dim);
    if (header.type.shape.size() > kMaxRank) return Bad(where, absl::StrCat("more than ", kMaxRank, " dimensions"));
  }
  if (*order == "True" && header.type.shape.size() > 1) {
    return Bad(where, "Fortran order; save numpy.ascontiguousarray(a) instead");
  }
  if (*order != "True" && *order != "False") return Bad(where, absl::StrCat("fortran_order is ", *order));
  return header;
}

}  // namespace

absl::StatusOr<reference::Tensor> ParseNpy(absl::string_view bytes, absl::string_view where) {
  if (!absl::StartsWith(bytes, kMagic) || bytes.size() < 10) return Bad(where, "it doesn't begin with \\x93NUMPY");
  auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(bytes[i])); };
  size_t major = byte(6);
  if (major < 1 || major > 3) return Bad(where, absl::StrCat("format version ", major, "; 1 to 3 are known"));
  size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < 8 + length_bytes) return Bad(where, "it ends inside its header");
  size_t length = 0;
  for (size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
  if (length > kMaxHeader) return Bad(where, absl::StrCat("a header of ", length, " bytes"));
  if (bytes.size() < 8 + length_bytes + length) return Bad(where, "it ends inside its header");
  absl::StatusOr<Header> header = ParseHeader(bytes.substr(8 + length_bytes, length), where);
  if (!header.ok()) return header.status();
  bytes.remove_prefix(8 + length_bytes + length);

  const size_t width = static_cast<size_t>(reference::StorageBits(header->type.element)) / 8;
  std::optional<int64_t> count = reference::ElementCount(header->type.shape);
  if (!count || static_cast<uint64_t>(*count) > bytes.size() / width || bytes.size() != *count * width) {
    return Bad(where, absl::StrCat("shape ", reference::ToString(header->type.shape), " doesn't fit its ", bytes.size(),
                                   " bytes of data"));
  }
  reference::Tensor tensor(header->type);
  absl::Span<uint8_t> out = tensor.mutable_bytes();
  if (!bytes.empty()) memcpy(out.data(), bytes.data(), bytes.size());
  if (header->big_endian) {
    for (size_t i = 0; i < out.size(); i += width) std::reverse(out.begin() + i, out.begin() + i + width);
  }
  return tensor;
}

absl::StatusOr<std::string> SerializeNpy(const reference::Tensor& tensor) {
  const TypeCode* code = std::find_if(std::begin(kTypeCodes), std::end(kTypeCodes),
                                      [&](const TypeCode& t) { return t.element == tensor.element(); });
  if (code == std::end(kTypeCodes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("NumPy has no ", reference::Name(tensor.element()), "; write a .pb or .raw file instead"));
  }
  absl::string_view order = code->code[1] == '1' ? "|" : "<";
  std::string header = absl::StrCat("{'descr': '", order, code->code, "', 'fortran_order': False, 'shape': (",
                                    absl::StrJoin(tensor.shape(), ", "), tensor.shape().size() == 1 ? "," : "", "), }");
  // NumPy aligns the data to 64 bytes with spaces and ends the header with a newline.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header.push_back('\n');
  std::string out(kMagic);
  out.append({'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)});
  out.append(header);
  out.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
  return out;
}

}  // namespace aot::clients
