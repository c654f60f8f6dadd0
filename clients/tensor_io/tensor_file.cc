#include "clients/tensor_io/tensor_file.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/npy.h"

namespace aot::clients {

using reference::Tensor;
using reference::TensorType;

std::string ToString(const TensorType& type) {
  return absl::StrCat(reference::Name(type.element), " ", reference::ToString(type.shape));
}

absl::Status CheckType(const Tensor& tensor, const TensorType& expected, absl::string_view where) {
  if (tensor.type() == expected) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(where, " holds ", ToString(tensor.type()), " where the model takes ", ToString(expected)));
}

absl::StatusOr<NamedTensor> ReadTypedTensorFile(const std::string& path) {
  bool npy = absl::EndsWith(path, ".npy");
  if (!npy && !absl::EndsWith(path, ".pb")) {
    return absl::InvalidArgumentError(absl::StrCat(
        path, ": a raw file doesn't state its type; a .npy or .pb (ONNX TensorProto) file is needed here"));
  }
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  if (!npy) return ParseOnnxTensor(*bytes, path);
  absl::StatusOr<Tensor> tensor = ParseNpy(*bytes, path);
  if (!tensor.ok()) return tensor.status();
  return NamedTensor{"", *std::move(tensor)};
}

absl::StatusOr<NamedTensor> ReadTensorFile(const std::string& path, const TensorType& expected) {
  if (absl::EndsWith(path, ".npy") || absl::EndsWith(path, ".pb")) {
    absl::StatusOr<NamedTensor> tensor = ReadTypedTensorFile(path);
    if (!tensor.ok()) return tensor.status();
    if (absl::Status status = CheckType(tensor->tensor, expected, path); !status.ok()) return status;
    return tensor;
  }
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  if (reference::StorageBits(expected.element) == 0) {
    return absl::InvalidArgumentError(absl::StrCat(path, ": strings can't come from a raw file; use .pb"));
  }
  Tensor tensor(expected);
  if (bytes->size() != tensor.bytes().size()) {
    return absl::InvalidArgumentError(absl::StrCat(path, " has ", bytes->size(), " bytes; the model takes ",
                                                   ToString(expected), ", that is ", tensor.bytes().size(), " bytes"));
  }
  std::copy(bytes->begin(), bytes->end(), tensor.mutable_bytes().begin());
  return NamedTensor{"", std::move(tensor)};
}

absl::Status WriteTensorFile(const std::string& path, const NamedTensor& tensor) {
  if (absl::EndsWith(path, ".npy") || absl::EndsWith(path, ".pb")) {
    absl::StatusOr<std::string> bytes =
        absl::EndsWith(path, ".npy") ? SerializeNpy(tensor.tensor) : SerializeOnnxTensor(tensor.name, tensor.tensor);
    if (!bytes.ok()) return absl::Status(bytes.status().code(), absl::StrCat(path, ": ", bytes.status().message()));
    return WriteFile(path, *bytes);
  }
  absl::Span<const uint8_t> bytes = tensor.tensor.bytes();
  return WriteFile(path, absl::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

}  // namespace aot::clients
