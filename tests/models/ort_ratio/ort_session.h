// A model in ONNX Runtime, through its C interface, loaded at run time: one thread, all optimisations. Declared here by
// hand, as far as it is needed, so that the product doesn't depend on it.
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
                                                            const std::vector<reference::Tensor>& inputs);
  ~OrtSession();
  OrtSession(const OrtSession&) = delete;
  OrtSession& operator=(const OrtSession&) = delete;

  // One inference with all outputs, which are dropped. ONNX Runtime allocates them: its own arena makes that cheap.
  absl::Status Invoke();
  // The same, with the values of all outputs, which must be dense tensors of numbers.
  absl::StatusOr<std::vector<reference::Tensor>> Run();

 private:
  OrtSession() = default;
  absl::Status Open(const std::string& library);
  absl::Status CreateSession(const std::string& model);
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
  std::vector<reference::Tensor> inputs_;
  std::vector<void*> values_;
  std::vector<std::string> input_names_, output_names_;
  std::vector<const char*> input_pointers_, output_pointers_;
};

}  // namespace aot::tests
