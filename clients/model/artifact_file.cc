#include "clients/model/artifact_file.h"

#include "absl/strings/str_cat.h"

namespace aot::clients {
namespace {

absl::Status FaultStatus(absl::string_view where, absl::string_view part, const aot_fault& fault) {
  char text[256];
  aot_fault_text(&fault, text, sizeof(text));
  std::string message = absl::StrCat(where, ": ", part, ": ", text);
  return fault.kind == AOT_FAULT_DIGEST ? absl::DataLossError(message) : absl::InvalidArgumentError(message);
}

using TensorAt = bool (*)(const aot_manifest*, uint32_t, aot_manifest_tensor*);

std::vector<Port> Ports(const aot_manifest& manifest, TensorAt at) {
  std::vector<Port> ports;
  aot_manifest_tensor tensor;
  for (uint32_t i = 0; at(&manifest, i, &tensor); ++i) {
    Port port;
    port.name = std::string(tensor.name.data, tensor.name.size);
    port.type.element = static_cast<reference::ElementType>(tensor.dtype);  // both are onnx.TensorProto.DataType
    port.type.shape.assign(tensor.dims, tensor.dims + tensor.rank);
    ports.push_back(std::move(port));
  }
  return ports;
}

}  // namespace

absl::StatusOr<ArtifactFile> OpenArtifact(absl::string_view bytes, absl::string_view where) {
  ArtifactFile file;
  aot_fault fault;
  if (!aot_container_open(bytes.data(), bytes.size(), &file.container, &fault)) {
    return FaultStatus(where, "not a whole artifact", fault);
  }
  const char* manifest = bytes.data() + file.container.manifest_offset;
  if (!aot_manifest_open(manifest, file.container.manifest_size, &file.manifest, &fault)) {
    return FaultStatus(where, "manifest", fault);
  }
  return file;
}

std::vector<Port> Inputs(const aot_manifest& manifest) { return Ports(manifest, aot_manifest_input); }
std::vector<Port> Outputs(const aot_manifest& manifest) {
  std::vector<Port> outputs = Ports(manifest, aot_manifest_output);
  aot_manifest_bound bound;
  for (uint32_t i = 0; aot_manifest_bound_at(&manifest, i, &bound); ++i) {
    outputs[bound.output].dims_output = bound.dims;
    outputs[bound.dims].tells_dims = true;
  }
  return outputs;
}

}  // namespace aot::clients
