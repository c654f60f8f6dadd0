#include "tests/e2e/device/tensor_file.h"

#include <fstream>
#include <iterator>

namespace aot::device {
namespace {

constexpr char kMagic[] = "\x93NUMPY";

bool IsNpy(const std::string& path) { return path.size() > 4 && path.compare(path.size() - 4, 4, ".npy") == 0; }

// NumPy's name of an element type; types it lacks travel as the unsigned integers of their size.
std::string NpyType(const aot_tensor_info& info) {
  switch (info.dtype) {
    case AOT_FLOAT32:
      return "<f4";
    case AOT_FLOAT64:
      return "<f8";
    case AOT_FLOAT16:
      return "<f2";
    case AOT_UINT8:
      return "|u1";
    case AOT_INT8:
      return "|i1";
    case AOT_BOOL:
      return "|b1";
    case AOT_INT16:
      return "<i2";
    case AOT_UINT16:
    case AOT_BFLOAT16:
      return "<u2";
    case AOT_INT32:
      return "<i4";
    case AOT_UINT32:
      return "<u4";
    case AOT_INT64:
      return "<i8";
    case AOT_UINT64:
      return "<u8";
    case AOT_COMPLEX64:
      return "<c8";
    case AOT_COMPLEX128:
      return "<c16";
    default:
      return "|u1";
  }
}

std::string DimsText(const aot_tensor_info& info) {
  std::string text = "(";
  for (uint32_t i = 0; i < info.rank; ++i)
    text += std::to_string(info.dims[i]) + (info.rank == 1 || i + 1 < info.rank ? "," : "");
  return text + ")";
}

// "(1, 3, 48)" without spaces and leading ones: what has the same elements in the same order.
std::string Comparable(const std::string& dims) {
  std::string text;
  for (const char c : dims)
    if (c != ' ') text.push_back(c);
  if (text.size() > 2 && text[text.size() - 2] == ',') text.erase(text.size() - 2, 1);
  while (text.compare(0, 3, "(1,") == 0) text.erase(1, 2);
  return text == "(1)" ? "()" : text;
}

// The value behind a key in NumPy's header, which is the text of a Python dictionary.
std::string HeaderValue(const std::string& header, const std::string& key, char end) {
  const size_t at = header.find("'" + key + "':");
  if (at == std::string::npos) return "";
  size_t begin = at + key.size() + 3;
  while (begin < header.size() && header[begin] == ' ') ++begin;
  const size_t stop = header.find(end, begin + 1);
  return stop == std::string::npos ? "" : header.substr(begin, stop + 1 - begin);
}

bool CheckNpy(const std::string& file, const aot_tensor_info& info, size_t* data_offset, std::string* message) {
  if (file.size() < 12 || file.compare(0, 6, kMagic) != 0) {
    *message = "not a .npy file";
    return false;
  }
  const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<uint8_t>(file[i])); };
  const bool first_version = byte(6) == 1;
  const size_t header_at = first_version ? 10 : 12;
  const size_t header_size = byte(8) | byte(9) << 8 | (first_version ? 0 : byte(10) << 16 | byte(11) << 24);
  if (header_size > file.size() - header_at) {
    *message = "the .npy header is cut off";
    return false;
  }
  const std::string header = file.substr(header_at, header_size);
  const std::string type = HeaderValue(header, "descr", '\'');
  const std::string dims = HeaderValue(header, "shape", ')');
  if (type != "'" + NpyType(info) + "'" || Comparable(dims) != Comparable(DimsText(info)) ||
      header.find("'fortran_order': False") == std::string::npos) {
    *message =
        "holds " + type + " " + dims + ", the model takes '" + NpyType(info) + "' " + DimsText(info) + " in C order";
    return false;
  }
  *data_offset = header_at + header_size;
  return true;
}

std::string NpyHeader(const aot_tensor_info& info) {
  std::string header = "{'descr': '" + NpyType(info) + "', 'fortran_order': False, 'shape': " + DimsText(info) + ", }";
  // The data starts at a multiple of 64 bytes.
  while ((10 + header.size() + 1) % 64 != 0) header.push_back(' ');
  header.push_back('\n');
  std::string out(kMagic, 6);
  out += {'\x01', '\x00', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  return out + header;
}

}  // namespace

bool ReadFile(const std::string& path, std::string* out, std::string* message) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    *message = path + ": can't be opened";
    return false;
  }
  out->assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  return true;
}

bool ReadTensor(const std::string& path, const aot_tensor_info& info, std::vector<uint8_t>* bytes,
                std::string* message) {
  std::string file;
  size_t offset = 0;
  if (!ReadFile(path, &file, message)) return false;
  if (IsNpy(path) && !CheckNpy(file, info, &offset, message)) {
    *message = path + ": " + *message;
    return false;
  }
  if (file.size() - offset != info.bytes) {
    *message = path + ": " + std::to_string(file.size() - offset) + " bytes of data, the model's input \"" + info.name +
               "\" takes " + std::to_string(info.bytes);
    return false;
  }
  bytes->assign(file.begin() + static_cast<std::ptrdiff_t>(offset), file.end());
  return true;
}

bool WriteTensor(const std::string& path, const aot_tensor_info& info, const std::vector<uint8_t>& bytes,
                 std::string* message) {
  std::ofstream file(path, std::ios::binary);
  if (IsNpy(path)) file << NpyHeader(info);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  file.close();
  if (file) return true;
  *message = path + ": can't be written";
  return false;
}

}  // namespace aot::device
