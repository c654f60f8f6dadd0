#include "clients/model/bound_input.h"

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/tensor_file.h"

namespace aot::clients {

absl::StatusOr<std::pair<std::string, reference::Tensor>> ReadBoundInput(const std::string& text) {
  // Names may contain '='; a file name that starts with '@' can be written as ./@name.
  const size_t at = text.find("=@");
  if (at == std::string::npos || at == 0 || at + 2 == text.size()) {
    return absl::InvalidArgumentError(absl::StrCat("--bind-input: '", text, "' isn't NAME=@FILE"));
  }
  absl::StatusOr<NamedTensor> tensor = ReadTypedTensorFile(UserPath(text.substr(at + 2)));
  if (!tensor.ok()) {
    return absl::Status(tensor.status().code(), absl::StrCat("--bind-input: ", tensor.status().message()));
  }
  return std::make_pair(text.substr(0, at), std::move(tensor->tensor));
}

}  // namespace aot::clients
