#include "clients/model/model_file.h"

#include <filesystem>
#include <set>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/file.h"
#include "third_party/onnx/onnx.pb.h"

namespace aot::clients {
namespace {

namespace fs = std::filesystem;
namespace pb = ::aot::onnx;

// Collects the locations of external tensors. Recursion is bounded by the depth that Protobuf's parser accepts.
class LocationCollector {
 public:
  void Collect(const pb::ModelProto& model) {
    Graph(model.graph());
    for (const pb::FunctionProto& function : model.functions()) Nodes(function.node());
  }
  const std::set<std::string>& locations() const { return locations_; }

 private:
  void Graph(const pb::GraphProto& graph) {
    for (const pb::TensorProto& tensor : graph.initializer()) Tensor(tensor);
    for (const pb::SparseTensorProto& tensor : graph.sparse_initializer()) Sparse(tensor);
    Nodes(graph.node());
  }

  template <typename NodeList>
  void Nodes(const NodeList& nodes) {
    for (const pb::NodeProto& node : nodes) {
      for (const pb::AttributeProto& attribute : node.attribute()) Attribute(attribute);
    }
  }

  void Attribute(const pb::AttributeProto& attribute) {
    if (attribute.has_t()) Tensor(attribute.t());
    if (attribute.has_sparse_tensor()) Sparse(attribute.sparse_tensor());
    if (attribute.has_g()) Graph(attribute.g());
    for (const pb::TensorProto& tensor : attribute.tensors()) Tensor(tensor);
    for (const pb::SparseTensorProto& tensor : attribute.sparse_tensors()) Sparse(tensor);
    for (const pb::GraphProto& graph : attribute.graphs()) Graph(graph);
  }

  void Sparse(const pb::SparseTensorProto& tensor) {
    Tensor(tensor.values());
    Tensor(tensor.indices());
  }

  void Tensor(const pb::TensorProto& tensor) {
    if (tensor.data_location() != pb::TensorProto::EXTERNAL) return;
    for (const pb::StringStringEntryProto& entry : tensor.external_data()) {
      if (entry.key() == "location") locations_.insert(entry.value());
    }
  }

  std::set<std::string> locations_;
};

absl::Status CheckLocation(const std::string& model, const std::string& directory, const std::string& location) {
  auto refuse = [&](absl::string_view why) {
    return absl::PermissionDeniedError(absl::StrCat(model, ": external data at '", location, "' ", why,
                                                    "; only files inside the model's own directory are read"));
  };
  if (location.empty() || location.find('\0') != std::string::npos) return refuse("isn't a file name");
  if (fs::path(location).is_absolute()) return refuse("is an absolute path");
  for (const fs::path& part : fs::path(location)) {
    if (part == "..") return refuse("contains '..'");
  }
  std::error_code error;
  fs::path root = fs::canonical(directory, error);
  if (error) return absl::NotFoundError(absl::StrCat(directory, ": ", error.message()));
  fs::path file = fs::canonical(fs::path(directory) / location, error);
  if (error) {
    return absl::NotFoundError(
        absl::StrCat(model, ": its external data file '", location, "' isn't beside it: ", error.message()));
  }
  fs::path relative = file.lexically_relative(root);
  if (relative.empty() || *relative.begin() == "..") return refuse("leads elsewhere through a symbolic link");
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<compiler::Model> ReadModel(const std::string& path) {
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  compiler::Model model;
  model.bytes = *std::move(bytes);
  // A model without external data, which is nearly every one, lacks this key: don't parse it for nothing.
  if (model.bytes.find("location") == std::string::npos) return model;
  pb::ModelProto proto;
  if (model.bytes.size() > INT32_MAX ||
      !proto.ParseFromArray(model.bytes.data(), static_cast<int>(model.bytes.size()))) {
    return model;
  }
  LocationCollector collector;
  collector.Collect(proto);
  std::string directory = fs::path(path).parent_path().string();
  if (directory.empty()) directory = ".";
  for (const std::string& location : collector.locations()) {
    if (absl::Status status = CheckLocation(path, directory, location); !status.ok()) return status;
    absl::StatusOr<std::string> data = ReadFile(absl::StrCat(directory, "/", location));
    if (!data.ok()) return data.status();
    model.external.emplace(location, *std::move(data));
  }
  return model;
}

absl::StatusOr<std::vector<std::string>> GraphInputs(const compiler::Model& model) {
  pb::ModelProto proto;
  if (model.bytes.size() > INT32_MAX ||
      !proto.ParseFromArray(model.bytes.data(), static_cast<int>(model.bytes.size()))) {
    return absl::InvalidArgumentError("the bytes aren't an ONNX model");
  }
  std::set<std::string> initializers;
  for (const pb::TensorProto& tensor : proto.graph().initializer()) initializers.insert(tensor.name());
  for (const pb::SparseTensorProto& tensor : proto.graph().sparse_initializer()) {
    initializers.insert(tensor.values().name());
  }
  std::vector<std::string> names;
  for (const pb::ValueInfoProto& input : proto.graph().input()) {
    if (initializers.count(input.name()) == 0) names.push_back(input.name());
  }
  return names;
}

std::string ModelName(const std::string& path) {
  fs::path file = fs::path(path).lexically_normal();
  std::string stem = file.stem().string();
  std::string directory = file.parent_path().filename().string();
  return stem == "model" && !directory.empty() && directory != ".." ? directory : stem;
}

}  // namespace aot::clients
