#include "tests/perf/ort_session.h"

#include <dlfcn.h>

#include <cstring>

#include "absl/strings/str_cat.h"

namespace aot::tests {
namespace {

// Positions in struct OrtApi of onnxruntime_c_api.h. The header promises that members are only ever added at the end.
enum ApiIndex {
  kGetErrorMessage = 2,
  kCreateEnv = 3,
  kCreateSession = 7,
  kRun = 9,
  kCreateSessionOptions = 10,
  kSetSessionGraphOptimizationLevel = 23,
  kSetIntraOpNumThreads = 24,
  kSetInterOpNumThreads = 25,
  kSessionGetOutputCount = 31,
  kSessionGetOutputName = 37,
  kCreateTensorWithDataAsOrtValue = 49,
  kIsTensor = 50,
  kGetTensorMutableData = 51,
  kGetTensorElementType = 60,
  kGetDimensionsCount = 61,
  kGetDimensions = 62,
  kGetTensorTypeAndShape = 65,
  kCreateCpuMemoryInfo = 69,
  kAllocatorFree = 76,
  kGetAllocatorWithDefaultOptions = 78,
  kReleaseEnv = 92,
  kReleaseStatus = 93,
  kReleaseMemoryInfo = 94,
  kReleaseSession = 95,
  kReleaseValue = 96,
  kReleaseTensorTypeAndShapeInfo = 99,
  kReleaseSessionOptions = 100,
};

// Version of OrtApi that has all of these; every newer library still gives it.
constexpr uint32_t kApiVersion = 10;
constexpr int kLoggingFatal = 4;       // ORT_LOGGING_LEVEL_FATAL
constexpr int kAllOptimisations = 99;  // ORT_ENABLE_ALL
constexpr int kArenaAllocator = 1;     // OrtArenaAllocator
constexpr int kDefaultMemory = 0;      // OrtMemTypeDefault

struct ApiBase {
  void* const* (*get_api)(uint32_t version);
  const char* (*get_version)();
};

}  // namespace

absl::Status OrtSession::Check(void* status) const {
  if (status == nullptr) return absl::OkStatus();
  std::string message = Function<const char*(void*)>(kGetErrorMessage)(status);
  Function<void(void*)>(kReleaseStatus)(status);
  return absl::InternalError(absl::StrCat("ONNX Runtime: ", message));
}

absl::Status OrtSession::OpenLibrary(const std::string& library) {
  library_ = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library_ == nullptr) return absl::NotFoundError(absl::StrCat("can't load ", library, ": ", dlerror()));
  auto get_base = reinterpret_cast<const ApiBase* (*)()>(dlsym(library_, "OrtGetApiBase"));
  if (get_base == nullptr) return absl::NotFoundError(absl::StrCat(library, " isn't ONNX Runtime"));
  api_ = get_base()->get_api(kApiVersion);
  if (api_ == nullptr) return absl::NotFoundError(absl::StrCat(library, " is too old"));
  return absl::OkStatus();
}

absl::Status OrtSession::CreateSession(const std::string& model, int threads) {
  absl::Status status = Check(Function<void*(int, const char*, void**)>(kCreateEnv)(kLoggingFatal, "compare", &env_));
  if (!status.ok()) return status;
  status = Check(Function<void*(void**)>(kCreateSessionOptions)(&options_));
  if (!status.ok()) return status;
  status = Check(Function<void*(void*, int)>(kSetSessionGraphOptimizationLevel)(options_, kAllOptimisations));
  if (!status.ok()) return status;
  status = Check(Function<void*(void*, int)>(kSetIntraOpNumThreads)(options_, threads));
  if (!status.ok()) return status;
  status = Check(Function<void*(void*, int)>(kSetInterOpNumThreads)(options_, 1));
  if (!status.ok()) return status;
  return Check(
      Function<void*(void*, const char*, void*, void**)>(kCreateSession)(env_, model.c_str(), options_, &session_));
}

absl::Status OrtSession::BindInputs(const std::vector<reference::Tensor>& inputs) {
  absl::Status status =
      Check(Function<void*(int, int, void**)>(kCreateCpuMemoryInfo)(kArenaAllocator, kDefaultMemory, &memory_));
  if (!status.ok()) return status;
  inputs_ = inputs;
  for (const reference::Tensor& tensor : inputs_) {
    absl::StatusOr<void*> value = Wrap(tensor.type(), tensor.bytes().data(), tensor.bytes().size());
    if (!value.ok()) return value.status();
    values_.push_back(*value);
  }
  return absl::OkStatus();
}

absl::StatusOr<void*> OrtSession::Wrap(const reference::TensorType& type, const void* data, size_t bytes) const {
  void* value = nullptr;
  // ONNX Runtime only reads inputs; its signature lacks the const.
  absl::Status status = Check(Function<void*(void*, void*, size_t, const int64_t*, size_t, int, void**)>(
      kCreateTensorWithDataAsOrtValue)(memory_, const_cast<void*>(data), bytes, type.shape.data(), type.shape.size(),
                                       static_cast<int>(type.element), &value));
  if (!status.ok()) return status;
  return value;
}

absl::Status OrtSession::NameOutputs() {
  void* allocator = nullptr;
  absl::Status status = Check(Function<void*(void**)>(kGetAllocatorWithDefaultOptions)(&allocator));
  if (!status.ok()) return status;
  size_t count = 0;
  status = Check(Function<void*(void*, size_t*)>(kSessionGetOutputCount)(session_, &count));
  if (!status.ok()) return status;
  for (size_t i = 0; i < count; ++i) {
    char* name = nullptr;
    status = Check(Function<void*(void*, size_t, void*, char**)>(kSessionGetOutputName)(session_, i, allocator, &name));
    if (!status.ok()) return status;
    output_names_.push_back(name);
    status = Check(Function<void*(void*, void*)>(kAllocatorFree)(allocator, name));
    if (!status.ok()) return status;
  }
  for (const std::string& name : input_names_) input_pointers_.push_back(name.c_str());
  for (const std::string& name : output_names_) output_pointers_.push_back(name.c_str());
  return absl::OkStatus();
}

absl::StatusOr<std::unique_ptr<OrtSession>> OrtSession::Open(const std::string& library) {
  std::unique_ptr<OrtSession> session(new OrtSession);
  if (absl::Status status = session->OpenLibrary(library); !status.ok()) return status;
  return session;
}

absl::Status OrtSession::LoadModel(const std::string& model, const std::vector<std::string>& names,
                                   const std::vector<reference::Tensor>& inputs, int threads) {
  input_names_ = names;
  if (absl::Status status = CreateSession(model, threads); !status.ok()) return status;
  if (absl::Status status = BindInputs(inputs); !status.ok()) return status;
  return NameOutputs();
}

absl::StatusOr<std::unique_ptr<OrtSession>> OrtSession::Create(const std::string& library, const std::string& model,
                                                               const std::vector<std::string>& names,
                                                               const std::vector<reference::Tensor>& inputs,
                                                               int threads) {
  absl::StatusOr<std::unique_ptr<OrtSession>> session = Open(library);
  if (!session.ok()) return session;
  if (absl::Status status = (*session)->LoadModel(model, names, inputs, threads); !status.ok()) return status;
  return session;
}

OrtSession::~OrtSession() {
  if (api_ == nullptr) return;
  auto release = [&](int index, void* object) {
    if (object != nullptr) Function<void(void*)>(index)(object);
  };
  for (void* value : values_) release(kReleaseValue, value);
  for (void* value : kept_) release(kReleaseValue, value);
  release(kReleaseMemoryInfo, memory_);
  release(kReleaseSession, session_);
  release(kReleaseSessionOptions, options_);
  release(kReleaseEnv, env_);
  // The library stays loaded: it doesn't support being unloaded.
}

absl::Status OrtSession::RunInto(std::vector<void*>& outputs) {
  outputs.resize(output_pointers_.size(), nullptr);
  using Run =
      void*(void*, const void*, const char* const*, const void* const*, size_t, const char* const*, size_t, void**);
  return Check(Function<Run>(kRun)(session_, nullptr, input_pointers_.data(), values_.data(), values_.size(),
                                   output_pointers_.data(), output_pointers_.size(), outputs.data()));
}

void OrtSession::Release(const std::vector<void*>& values) {
  for (void* value : values) {
    if (value != nullptr) Function<void(void*)>(kReleaseValue)(value);
  }
}

absl::StatusOr<reference::Tensor> OrtSession::CopyOf(void* value) const {
  if (value == nullptr) return reference::Tensor();  // an optional output that isn't there
  int is_tensor = 0;
  absl::Status status = Check(Function<void*(void*, int*)>(kIsTensor)(value, &is_tensor));
  if (!status.ok()) return status;
  if (is_tensor == 0) return reference::Tensor();
  void *info = nullptr, *data = nullptr;
  status = Check(Function<void*(void*, void**)>(kGetTensorTypeAndShape)(value, &info));
  if (!status.ok()) return status;
  int element = 0;
  size_t rank = 0;
  status.Update(Check(Function<void*(void*, int*)>(kGetTensorElementType)(info, &element)));
  status.Update(Check(Function<void*(void*, size_t*)>(kGetDimensionsCount)(info, &rank)));
  reference::Shape shape(rank);
  status.Update(Check(Function<void*(void*, int64_t*, size_t)>(kGetDimensions)(info, shape.data(), rank)));
  const bool has_numbers = element != static_cast<int>(reference::ElementType::kString);
  if (has_numbers) status.Update(Check(Function<void*(void*, void**)>(kGetTensorMutableData)(value, &data)));
  Function<void(void*)>(kReleaseTensorTypeAndShapeInfo)(info);
  if (!status.ok() || !has_numbers)
    return status.ok() ? absl::StatusOr<reference::Tensor>(reference::Tensor()) : status;
  reference::Tensor tensor(reference::TensorType{static_cast<reference::ElementType>(element), std::move(shape)});
  std::memcpy(tensor.mutable_bytes().data(), data, tensor.bytes().size());
  return tensor;
}

absl::Status OrtSession::KeepOutputs(std::vector<reference::Tensor> outputs) {
  outputs_ = std::move(outputs);
  kept_.assign(outputs_.size(), nullptr);
  for (size_t i = 0; i < outputs_.size(); ++i) {
    if (outputs_[i].bytes().empty()) continue;
    absl::StatusOr<void*> value = Wrap(outputs_[i].type(), outputs_[i].bytes().data(), outputs_[i].bytes().size());
    if (!value.ok()) return value.status();
    kept_[i] = *value;
  }
  return absl::OkStatus();
}

absl::Status OrtSession::Invoke() {
  std::vector<void*> outputs = kept_;
  absl::Status status = RunInto(outputs);
  // What ONNX Runtime allocated.
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (i < kept_.size() && outputs[i] == kept_[i]) outputs[i] = nullptr;
  }
  Release(outputs);
  return status;
}

absl::StatusOr<std::vector<reference::Tensor>> OrtSession::Run() {
  std::vector<void*> outputs;
  absl::Status status = RunInto(outputs);
  std::vector<reference::Tensor> tensors;
  for (size_t i = 0; status.ok() && i < outputs.size(); ++i) {
    absl::StatusOr<reference::Tensor> tensor = CopyOf(outputs[i]);
    status = tensor.status();
    if (status.ok()) tensors.push_back(*std::move(tensor));
  }
  Release(outputs);
  if (!status.ok()) return status;
  return tensors;
}

}  // namespace aot::tests
