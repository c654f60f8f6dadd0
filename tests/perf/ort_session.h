// A model in ONNX Runtime, through its C interface, loaded at run time: all optimisations. Declared here by hand, as
// far as it is needed, so that the product doesn't depend on it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "compiler/reference/tensor.h"

namespace aot::tests {

// Used by one thread.
class OrtSession {
 public:
  // `library` is libonnxruntime.so, `model` an ONNX file. `inputs` are kept: every run reads them. `names` are the
  // inputs' names, in the same order. NOT_FOUND: the library can't be loaded. INTERNAL: ONNX Runtime's own message.
  static absl::StatusOr<std::unique_ptr<OrtSession>> Create(const std::string& library, const std::string& model,
                                                            const std::vector<std::string>& names,
                                                            const std::vector<reference::Tensor>& inputs,
                                                            int threads = 1);
  // The same in two steps: only the library, then, once, the model.
  static absl::StatusOr<std::unique_ptr<OrtSession>> Open(const std::string& library);
  absl::Status LoadModel(const std::string& model, const std::vector<std::string>& names,
                         const std::vector<reference::Tensor>& inputs, int threads);
  ~OrtSession();
  OrtSession(const OrtSession&) = delete;
  OrtSession& operator=(const OrtSession&) = delete;

  // One inference with all outputs. Before KeepOutputs ONNX Runtime allocates them, and they are dropped.
  absl::Status Invoke();
  // From now on Invoke writes outputs where these, which Run gave, lie. Outputs that are no tensors stay allocated.
  absl::Status KeepOutputs(std::vector<reference::Tensor> outputs);
  // The same, with copies of all outputs; those that are no dense tensors of numbers are empty.
  absl::StatusOr<std::vector<reference::Tensor>> Run();

 private:
  OrtSession() = default;
  absl::Status OpenLibrary(const std::string& library);
  absl::Status CreateSession(const std::string& model, int threads);
  // A value over memory of the caller's.
  absl::StatusOr<void*> Wrap(const reference::TensorType& type, const void* data, size_t bytes) const;
  absl::Status BindInputs(const std::vector<reference::Tensor>& inputs);
  absl::Status NameOutputs();
  // One inference; the caller releases what it gives, also with an error.
  absl::Status RunInto(std::vector<void*>& outputs);
  absl::StatusOr<reference::Tensor> CopyOf(void* value) const;
  void Release(const std::vector<void*>& values);
  // Takes ownership of an OrtStatus.
  absl::Status Check(void* status) const;
  template <typename Signature>
  Signature* Function(int index) const {
    return reinterpret_cast<Signature*>(api_[index]);
  }

  void* library_ = nullptr;
  void* const* api_ = nullptr;  // struct OrtApi: an array of function pointers whose order never changes
  void *env_ = nullptr, *options_ = nullptr, *session_ = nullptr, *memory_ = nullptr;
  std::vector<reference::Tensor> inputs_, outputs_;
  std::vector<void*> values_, kept_;
  std::vector<std::string> input_names_, output_names_;
  std::vector<const char*> input_pointers_, output_pointers_;
};

}  // namespace aot::tests
