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
#include "clients/tensor_io/onnx_value.h"
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

// Version 1.12 of the suite keeps bfloat16 values as uint16.
Tensor AsDeclared(Tensor tensor, const pb::TypeProto::Tensor& declared) {
  const int element = declared.elem_type();
  if (element != pb::TensorProto::BFLOAT16 || tensor.element() != reference::ElementType::kUint16) return tensor;
  auto owner = std::make_shared<Tensor>(std::move(tensor));
  const absl::Span<const uint8_t> bytes = owner->bytes();
  const reference::Shape shape = owner->shape();
  return Tensor({reference::ElementType::kBfloat16, shape}, std::move(owner), bytes);
}

// A few cases have data of another shape than their model states.
absl::Status CheckAgainstModel(const Tensor& tensor, const pb::ValueInfoProto& input) {
  const pb::TypeProto::Tensor& declared = *clients::TensorTypeWithin(input.type());
  if (!declared.has_shape()) return absl::OkStatus();
  const auto& dims = declared.shape().dim();
  bool fits = dims.size() == static_cast<int>(tensor.shape().size());
  for (int i = 0; fits && i < dims.size(); ++i) {
    fits = !dims[i].has_dim_value() || dims[i].dim_value() == tensor.shape()[static_cast<size_t>(i)];
  }
  if (fits) return absl::OkStatus();
  return absl::UnimplementedError(absl::StrCat("the case contradicts itself: its data for '", input.name(), "' are ",
                                               reference::ToString(tensor.shape()), ", which its model doesn't take"));
}

// The value of an input or output, with the element type that the model states.
absl::StatusOr<clients::OnnxValue> ReadValue(const std::string& path, const pb::TypeProto& type) {
  absl::StatusOr<std::string> bytes = clients::ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<clients::OnnxValue> value = clients::ParseOnnxValue(*bytes, type, fs::path(path).filename().string());
  if (!value.ok()) return value.status();
  for (Tensor& tensor : value->tensors) tensor = AsDeclared(std::move(tensor), *clients::TensorTypeWithin(type));
  return value;
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
    if (!ConsistsOfTensors()) {
      absl::Status status = compiler::Check(model_, options_).status();
      return status.ok() ? absl::UnimplementedError("unsupported: inputs or outputs that don't consist of tensors")
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

  bool ConsistsOfTensors() const {
    for (const auto* values : {&graph().input(), &graph().output()}) {
      for (const pb::ValueInfoProto& value : *values) {
        if (clients::TensorTypeWithin(value.type()) == nullptr) return false;
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
    std::vector<Tensor> data;
    for (size_t i = 0; i < inputs_.size(); ++i) {
      const std::string path = absl::StrCat(set, "/input_", i, ".pb");
      const std::string& name = inputs_[i]->name();
      absl::StatusOr<clients::OnnxValue> value = ReadValue(path, inputs_[i]->type());
      if (!value.ok()) return value.status();
      if (!inputs_[i]->type().has_tensor_type()) {
        options.input_elements[name] = value->present ? static_cast<int64_t>(value->tensors.size()) : compiler::kAbsent;
      }
      const std::vector<std::string> names = clients::TensorNames(name, inputs_[i]->type(), value->tensors.size());
      for (size_t t = 0; t < names.size(); ++t) {
        if (absl::Status status = CheckAgainstModel(value->tensors[t], *inputs_[i]); !status.ok()) return status;
        if (IsBound(name)) {
          options.bind_inputs[names[t]] = std::move(value->tensors[t]);
          continue;
        }
        options.input_shapes[names[t]] = value->tensors[t].shape();
        data.push_back(std::move(value->tensors[t]));
      }
    }
    if (absl::Status status = Compile(model_, options); !status.ok()) return status;
    return RunAndCompare(set, data);
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
    size_t next = 0;  // of the artifact's outputs
    for (int i = 0; i < graph().output_size(); ++i) {
      absl::StatusOr<clients::OnnxValue> want =
          ReadValue(absl::StrCat(set, "/output_", i, ".pb"), graph().output(i).type());
      if (!want.ok()) return want.status();
      for (const Tensor& tensor : want->tensors) {
        if (next >= session_->outputs().size()) return WrongOutputs("more");
        if (absl::Status status = Compare(i, session_->Output(next++), tensor); !status.ok()) return status;
      }
    }
    // Behind the model's outputs come those that tell the dimensions of others.
    while (next < session_->outputs().size() && session_->outputs()[next].tells_dims) ++next;
    return next == session_->outputs().size() ? absl::OkStatus() : WrongOutputs("fewer");
  }

  absl::Status WrongOutputs(absl::string_view expected) const {
    return absl::InternalError(absl::StrCat("wrong value: the artifact has ", session_->outputs().size(),
                                            " outputs, the case's data ", expected));
  }

  absl::Status Compare(int output, const Tensor& computed, const Tensor& want) const {
    const std::string difference = Difference(computed, want);
    if (difference.empty()) return absl::OkStatus();
    const std::string valueless = computed.type() == want.type() ? ValuelessOperator(graph()) : "";
    if (!valueless.empty()) {
      return absl::UnimplementedError(
          absl::StrCat("the values of ", valueless, " are random: checked by shape and type alone"));
    }
    return absl::InternalError(absl::StrCat("wrong value: output ", output, ": ", difference));
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
