#include "tests/conformance/conformance_case.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "absl/time/clock.h"
#include "clients/model/model_file.h"
#include "clients/model/session.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/onnx_tensor.h"
#include "tests/conformance/bindable.h"
#include "tests/conformance/closeness.h"
#include "tests/conformance/valueless.h"

namespace aot::tests {
namespace {

namespace fs = std::filesystem;
namespace pb = ::aot::onnx;
using reference::Tensor;

// The directories test_data_set_K in order of K.
std::vector<std::string> DataSetDirectories(const std::string& directory) {
  std::vector<std::pair<int, std::string>> found;
  std::error_code error;
  for (fs::directory_iterator it(directory, error), end; !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    absl::string_view number = name;
    int index = 0;
    if (absl::ConsumePrefix(&number, "test_data_set_") && absl::SimpleAtoi(number, &index)) {
      found.emplace_back(index, it->path().string());
    }
  }
  std::sort(found.begin(), found.end());
  std::vector<std::string> directories;
  for (auto& [index, path] : found) directories.push_back(std::move(path));
  return directories;
}

absl::StatusOr<Tensor> ReadTensor(const std::string& path) {
  absl::StatusOr<std::string> bytes = clients::ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<clients::NamedTensor> tensor = clients::ParseOnnxTensor(*bytes, fs::path(path).filename().string());
  if (!tensor.ok()) return tensor.status();
  return std::move(tensor->tensor);
}

// Version 1.12 of the suite keeps bfloat16 values as uint16.
Tensor AsDeclared(Tensor tensor, const pb::TypeProto& declared) {
  const int element = declared.tensor_type().elem_type();
  if (element != pb::TensorProto::BFLOAT16 || tensor.element() != reference::ElementType::kUint16) return tensor;
  auto owner = std::make_shared<Tensor>(std::move(tensor));
  const absl::Span<const uint8_t> bytes = owner->bytes();
  const reference::Shape shape = owner->shape();
  return Tensor({reference::ElementType::kBfloat16, shape}, std::move(owner), bytes);
}

// A few cases have data of another shape than their model states.
absl::Status CheckAgainstModel(const Tensor& tensor, const pb::ValueInfoProto& input) {
  if (!input.type().tensor_type().has_shape()) return absl::OkStatus();
  const auto& dims = input.type().tensor_type().shape().dim();
  bool fits = dims.size() == static_cast<int>(tensor.shape().size());
  for (int i = 0; fits && i < dims.size(); ++i) {
    fits = !dims[i].has_dim_value() || dims[i].dim_value() == tensor.shape()[static_cast<size_t>(i)];
  }
  if (fits) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("the case contradicts itself: its data for '", input.name(), "' are ",
                                               reference::ToString(tensor.shape()), ", which its model doesn't take"));
}

class Case {
 public:
  Case(const std::string& directory, const compiler::Options& options, CaseResult* result)
      : directory_(directory), options_(options), result_(*result) {}

  absl::Status Run() {
    absl::StatusOr<compiler::Model> model = clients::ReadModel(absl::StrCat(directory_, "/model.onnx"));
    if (!model.ok()) return model.status();
    model_ = *std::move(model);
    if (!proto_.ParseFromString(model_.bytes)) return absl::InvalidArgumentError("model.onnx isn't an ONNX model");
    CollectOperators();
    if (!TakesAndGivesTensors()) {
      absl::Status status = compiler::Check(model_, options_).status();
      return status.ok() ? absl::UnimplementedError("unsupported: sequences or optionals as inputs or outputs")
                         : status;
    }
    FindInputs();
    const std::vector<std::string> sets = DataSetDirectories(directory_);
    if (sets.empty()) return absl::NotFoundError("no test_data_set_* directory");
    for (const std::string& set : sets) {
      if (absl::Status status = RunSet(set); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

 private:
  const pb::GraphProto& graph() const { return proto_.graph(); }

  void CollectOperators() {
    std::set<std::string> operators;
    for (const pb::NodeProto& node : graph().node()) {
      const bool own = node.domain().empty() || node.domain() == "ai.onnx";
      operators.insert(own ? node.op_type() : absl::StrCat(node.domain(), ".", node.op_type()));
    }
    result_.operators.assign(operators.begin(), operators.end());
  }

  bool TakesAndGivesTensors() const {
    for (const auto* values : {&graph().input(), &graph().output()}) {
      for (const pb::ValueInfoProto& value : *values) {
        if (!value.type().has_tensor_type()) return false;
      }
    }
    return true;
  }

  // Data files number the inputs that no initializer backs.
  void FindInputs() {
    std::set<std::string> initializers;
    for (const pb::TensorProto& tensor : graph().initializer()) initializers.insert(tensor.name());
    for (const pb::SparseTensorProto& tensor : graph().sparse_initializer()) {
      initializers.insert(tensor.values().name());
    }
    for (int i = 0; i < graph().input_size(); ++i) {
      if (initializers.count(graph().input(i).name()) == 0) inputs_.push_back(&graph().input(i));
    }
    for (int position : FindBindableInputs(graph())) result_.bound.push_back(graph().input(position).name());
  }

  bool IsBound(const std::string& input) const {
    return std::find(result_.bound.begin(), result_.bound.end(), input) != result_.bound.end();
  }

  absl::Status RunSet(const std::string& set) {
    compiler::Options options = options_;
    pb::ModelProto bound = proto_;
    std::vector<Tensor> data;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::string path = absl::StrCat(set, "/input_", i, ".pb");
      absl::StatusOr<Tensor> tensor = ReadTensor(path);
      if (!tensor.ok()) return tensor.status();
      const std::string& name = inputs_[i]->name();
      if (IsBound(name)) {
        if (absl::Status status = Bind(name, path, bound.mutable_graph()); !status.ok()) return status;
        continue;
      }
      if (absl::Status status = CheckAgainstModel(*tensor, *inputs_[i]); !status.ok()) return status;
      options.input_shapes[name] = tensor->shape();
      data.push_back(AsDeclared(*std::move(tensor), inputs_[i]->type()));
    }
    compiler::Model model{bound.SerializeAsString(), model_.external};
    if (absl::Status status = Compile(model, options); !status.ok()) return status;
    return RunAndCompare(set, data);
  }

  // Makes the input an initialiser with the file's values.
  static absl::Status Bind(const std::string& input, const std::string& path, pb::GraphProto* graph) {
    absl::StatusOr<std::string> bytes = clients::ReadFile(path);
    if (!bytes.ok()) return bytes.status();
    pb::TensorProto* tensor = graph->add_initializer();
    if (!tensor->ParseFromString(*bytes)) return absl::InvalidArgumentError(absl::StrCat(path, " isn't a tensor"));
    tensor->set_name(input);
    auto* inputs = graph->mutable_input();
    inputs->erase(std::remove_if(inputs->begin(), inputs->end(),
                                 [&](const pb::ValueInfoProto& value) { return value.name() == input; }),
                  inputs->end());
    return absl::OkStatus();
  }

  // Loads the artifact, unless the last data set wanted the same.
  absl::Status Compile(const compiler::Model& model, const compiler::Options& options) {
    absl::StatusOr<std::string> key = compiler::ArtifactKey(compiler::ModelDigest(model), options);
    if (!key.ok()) return key.status();
    if (session_ != nullptr && *key == key_) return absl::OkStatus();
    absl::StatusOr<compiler::Artifact> artifact = compiler::Compile(model, options);
    if (!artifact.ok()) return artifact.status();
    absl::StatusOr<std::string> shared_object = compiler::SharedObject(*artifact);
    if (!shared_object.ok()) return shared_object.status();
    absl::StatusOr<std::unique_ptr<clients::Session>> session = clients::Session::FromMemory(*shared_object);
    if (!session.ok()) return session.status();
    session_ = *std::move(session);
    key_ = *std::move(key);
    return absl::OkStatus();
  }

  absl::Status RunAndCompare(const std::string& set, const std::vector<Tensor>& data) {
    if (data.size() != session_->inputs().size()) {
      return absl::InternalError(
          absl::StrCat("the artifact has ", session_->inputs().size(), " inputs, the model ", data.size()));
    }
    for (size_t i = 0; i < data.size(); ++i) {
      if (absl::Status status = session_->SetInput(i, data[i]); !status.ok()) return status;
    }
    if (absl::Status status = session_->Invoke(); !status.ok()) return status;
    if (session_->outputs().size() != static_cast<size_t>(graph().output_size())) {
      return absl::InternalError(
          absl::StrCat("the artifact has ", session_->outputs().size(), " outputs, the model ", graph().output_size()));
    }
    for (int i = 0; i < graph().output_size(); ++i) {
      absl::StatusOr<Tensor> want = ReadTensor(absl::StrCat(set, "/output_", i, ".pb"));
      if (!want.ok()) return want.status();
      *want = AsDeclared(*std::move(want), graph().output(i).type());
      Tensor computed = session_->Output(static_cast<size_t>(i));
      std::string difference = Difference(computed, *want);
      if (difference.empty()) continue;
      std::string valueless = computed.type() == want->type() ? ValuelessOperator(graph()) : "";
      if (!valueless.empty()) {
        return absl::UnimplementedError(
            absl::StrCat("the values of ", valueless, " are random: checked by shape and type alone"));
      }
      return absl::InternalError(absl::StrCat("wrong value: output ", i, ": ", difference));
    }
    return absl::OkStatus();
  }

  const std::string& directory_;
  const compiler::Options& options_;
  CaseResult& result_;
  compiler::Model model_;
  pb::ModelProto proto_;
  std::vector<const pb::ValueInfoProto*> inputs_;
  std::string key_;  // of the artifact in session_
  std::unique_ptr<clients::Session> session_;
};

// The operator in "unsupported: node 'n' (Op, opset 17): ...", or the only one that there is.
std::string Culprit(const std::string& message, const std::vector<std::string>& operators) {
  const size_t end = message.find(", opset ");
  const size_t begin = end == std::string::npos ? end : message.rfind('(', end);
  if (begin != std::string::npos) return message.substr(begin + 1, end - begin - 1);
  return operators.size() == 1 ? operators.front() : "";
}

}  // namespace

CaseResult RunCase(const std::string& directory, const compiler::Options& options) {
  CaseResult result;
  const absl::Time start = absl::Now();
  absl::Status status = Case(directory, options, &result).Run();
  result.seconds = absl::ToDoubleSeconds(absl::Now() - start);
  result.outcome = status.ok()                     ? Outcome::kPass
                   : absl::IsUnimplemented(status) ? Outcome::kUnsupported
                                                   : Outcome::kFail;
  if (!status.ok()) {
    result.message = std::string(status.message());
    result.culprit = Culprit(result.message, result.operators);
  }
  if (result.outcome == Outcome::kFail) {
    result.message = absl::StrCat(absl::StatusCodeToString(status.code()), ": ", result.message);
  }
  return result;
}

}  // namespace aot::tests
