#include "clients/model/session.h"

#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "clients/tensor_io/tensor_file.h"

namespace aot::clients {
namespace {

constexpr size_t kAlignment = 64;

aot_load_options LoadOptions() {
  aot_load_options options = {};
  options.size = sizeof(options);
  options.flags = AOT_LOAD_VERIFY | AOT_LOAD_PREFAULT;
  return options;
}

using InfoAt = aot_status (*)(const aot_model*, uint32_t, uint32_t, aot_tensor_info*);

absl::StatusOr<std::vector<aot_tensor_info>> Infos(const aot_model* model, uint32_t bucket, uint32_t count, InfoAt at) {
  std::vector<aot_tensor_info> infos(count);
  for (uint32_t i = 0; i < count; ++i) {
    infos[i].size = sizeof(aot_tensor_info);
    if (at(model, bucket, i, &infos[i]) != AOT_OK) return absl::InternalError("the runtime doesn't describe a tensor");
  }
  return infos;
}

Port ToPort(const aot_tensor_info& info) {
  // Both enumerations are that of onnx.TensorProto.DataType.
  Port port;
  port.name = info.name;
  port.type = {static_cast<reference::ElementType>(info.dtype), {info.dims, info.dims + info.rank}};
  port.state = info.state != AOT_NO_STATE;
  if (info.dims_output != AOT_NO_DIMS) port.dims_output = info.dims_output;
  return port;
}

}  // namespace

absl::StatusOr<reference::Tensor> CutTo(const reference::Tensor& dims, const reference::Tensor& output) {
  reference::TensorType type = output.type();
  bool fits = dims.size() == static_cast<int64_t>(type.shape.size());
  for (size_t i = 0; fits && i < type.shape.size(); ++i) {
    const int64_t size = dims.GetInt(static_cast<int64_t>(i));
    fits = size >= 0 && size <= type.shape[i];
    type.shape[i] = size;
  }
  if (!fits) {
    return absl::InternalError(absl::StrCat("an output of at most ", reference::ToString(output.shape()),
                                            " claims other dimensions: ", reference::ToString(type.shape)));
  }
  reference::Tensor tensor(type);
  absl::Span<uint8_t> bytes = tensor.mutable_bytes();
  if (!bytes.empty()) memcpy(bytes.data(), output.bytes().data(), bytes.size());
  return tensor;
}

absl::Status ToStatus(aot_status status, const aot_error& error) {
  if (status == AOT_OK) return absl::OkStatus();
  std::string message = error.message[0] != '\0' ? error.message : aot_status_text(status);
  if (error.path[0] != '\0' && message.find(error.path) == std::string::npos) {
    message = absl::StrCat(error.path, ": ", message);
  }
  switch (status) {
    case AOT_NOT_FOUND:
      return absl::NotFoundError(message);
    case AOT_INVALID_ARGUMENT:
    case AOT_MALFORMED:
    case AOT_VERSION_MISMATCH:
      return absl::InvalidArgumentError(message);
    case AOT_WRONG_TARGET:
    case AOT_MISSING_CPU_FEATURE:
    case AOT_UNSUPPORTED:
      return absl::FailedPreconditionError(message);
    case AOT_DIGEST_MISMATCH:
    case AOT_SELF_TEST_FAILED:
      return absl::DataLossError(message);
    case AOT_OUT_OF_MEMORY:
      return absl::ResourceExhaustedError(message);
    case AOT_IO_ERROR:
      return absl::UnknownError(message);
    default:
      return absl::InternalError(message);
  }
}

void Session::Free::operator()(void* memory) const { free(memory); }

Session::Buffer Session::Allocate(size_t bytes) {
  // aligned_alloc wants a multiple of the alignment.
  size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  return Buffer(aligned_alloc(kAlignment, rounded));
}

absl::StatusOr<std::unique_ptr<Session>> Session::Load(const std::string& path) {
  std::unique_ptr<Session> session(new Session);
  aot_load_options options = LoadOptions();
  aot_status status = aot_load_file(path.c_str(), &options, &session->model_, &session->error_);
  if (status != AOT_OK) return ToStatus(status, session->error_);
  if (absl::Status prepared = session->Prepare(); !prepared.ok()) return prepared;
  return session;
}

absl::StatusOr<std::unique_ptr<Session>> Session::FromMemory(absl::string_view bytes) {
  std::unique_ptr<Session> session(new Session);
  session->file_ = Allocate(bytes.size());
  if (session->file_ == nullptr) return absl::ResourceExhaustedError("no memory for the artifact");
  if (!bytes.empty()) memcpy(session->file_.get(), bytes.data(), bytes.size());
  aot_load_options options = LoadOptions();
  aot_status status = aot_load_memory(session->file_.get(), bytes.size(), &options, &session->model_, &session->error_);
  if (status != AOT_OK) return ToStatus(status, session->error_);
  if (absl::Status prepared = session->Prepare(); !prepared.ok()) return prepared;
  return session;
}

Session::~Session() { aot_unload(model_); }

absl::Status Session::Prepare() {
  absl::StatusOr<std::vector<aot_tensor_info>> inputs =
      Infos(model_, bucket_, aot_input_count(model_), aot_bucket_input_info);
  if (!inputs.ok()) return inputs.status();
  absl::StatusOr<std::vector<aot_tensor_info>> outputs =
      Infos(model_, bucket_, aot_output_count(model_), aot_bucket_output_info);
  if (!outputs.ok()) return outputs.status();
  inputs_.clear();
  outputs_.clear();
  buffers_.clear();
  input_pointers_.clear();
  output_pointers_.clear();
  for (const aot_tensor_info& info : *inputs) {
    inputs_.push_back(ToPort(info));
    buffers_.push_back(Allocate(info.bytes));
    input_pointers_.push_back(buffers_.back().get());
  }
  for (const aot_tensor_info& info : *outputs) {
    outputs_.push_back(ToPort(info));
    if (info.state != AOT_NO_STATE) {  // the two of a state pair share one buffer, zero at first
      if (void* state = input_pointers_[info.state]) memset(state, 0, info.bytes);
      output_pointers_.push_back(input_pointers_[info.state]);
      continue;
    }
    buffers_.push_back(Allocate(info.bytes));
    output_pointers_.push_back(buffers_.back().get());
  }
  for (const aot_tensor_info& info : *outputs) {
    if (info.dims_output != AOT_NO_DIMS) outputs_[info.dims_output].tells_dims = true;
  }
  for (const Buffer& buffer : buffers_) {
    if (buffer == nullptr) return absl::ResourceExhaustedError("no memory for the inputs and outputs");
  }
  args_.size = sizeof(args_);
  args_.inputs = input_pointers_.data();
  args_.outputs = output_pointers_.data();
  args_.input_count = static_cast<uint32_t>(input_pointers_.size());
  args_.output_count = static_cast<uint32_t>(output_pointers_.size());
  args_.error = &error_;
  args_.bucket = bucket_;
  return absl::OkStatus();
}

int64_t Session::arena_bytes() const {
  aot_bucket_info info = {};
  info.size = sizeof(info);
  aot_get_bucket_info(model_, bucket_, &info);
  return static_cast<int64_t>(info.arena_bytes);
}

std::string Session::bucket_name(uint32_t bucket) const {
  aot_bucket_info info = {};
  info.size = sizeof(info);
  return aot_get_bucket_info(model_, bucket, &info) == AOT_OK ? info.name : "";
}

absl::Status Session::UseBucket(uint32_t bucket) {
  if (bucket >= bucket_count()) {
    return absl::InvalidArgumentError(absl::StrCat("bucket ", bucket, " of an artifact with ", bucket_count()));
  }
  if (bucket == bucket_) return absl::OkStatus();
  bucket_ = bucket;
  return Prepare();
}

absl::Status Session::UseBucketFor(const std::vector<reference::Tensor>& inputs) {
  std::vector<const int64_t*> dims;
  for (size_t i = 0; i < inputs.size() && i < inputs_.size(); ++i) {
    if (inputs[i].shape().size() != inputs_[i].type.shape.size()) return absl::OkStatus();
    dims.push_back(inputs[i].shape().data());
  }
  uint32_t bucket = 0;
  if (aot_find_bucket(model_, dims.data(), static_cast<uint32_t>(dims.size()), &bucket) != AOT_OK) {
    return absl::OkStatus();
  }
  return UseBucket(bucket);
}

absl::Status Session::SetInput(size_t index, const reference::Tensor& tensor) {
  const Port& port = inputs_[index];
  absl::Status status = CheckType(tensor, port.type, absl::StrCat("input ", port.name));
  if (!status.ok()) return status;
  if (!tensor.bytes().empty()) memcpy(input_pointers_[index], tensor.bytes().data(), tensor.bytes().size());
  return absl::OkStatus();
}

absl::Status Session::Invoke() {
  aot_status status = aot_run(model_, &args_);
  return status == AOT_OK ? absl::OkStatus() : ToStatus(status, error_);
}

absl::Status Session::InvokeTraced(aot_trace trace, void* trace_context) {
  aot_run_args args = args_;
  args.trace = trace;
  args.trace_context = trace_context;
  aot_status status = aot_run(model_, &args);
  return status == AOT_OK ? absl::OkStatus() : ToStatus(status, error_);
}

reference::Tensor Session::Output(size_t index) const {
  reference::TensorType type = outputs_[index].type;
  if (outputs_[index].dims_output >= 0) {
    aot_tensor_info info = {};
    info.size = sizeof(info);
    // Before the first run, when nothing told the dimensions: the bounds.
    if (aot_actual_output_info(model_, static_cast<uint32_t>(index), output_pointers_.data(), &info) == AOT_OK) {
      type.shape.assign(info.dims, info.dims + info.rank);
    }
  }
  reference::Tensor tensor(type);
  absl::Span<uint8_t> bytes = tensor.mutable_bytes();
  if (!bytes.empty()) memcpy(bytes.data(), output_pointers_[index], bytes.size());
  return tensor;
}

}  // namespace aot::clients
