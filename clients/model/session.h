// An artifact loaded by the runtime, with buffers for one caller: what run, verify, bench and the model tests do with
// the C interface.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "aot/aot.h"
#include "compiler/reference/tensor.h"

namespace aot::clients {

// An input or output of an artifact.
struct Port {
  std::string name;
  reference::TensorType type;  // where the data decides dimensions: their bounds
  // Of an output whose dimensions the data decides: the number of the output that tells them; else -1.
  int64_t dims_output = -1;
  bool tells_dims = false;  // of another output
  bool state = false;       // of an input: an output takes its place; of an output: it takes an input's
};

// The tensor that a bounded output holds: the first elements, under the dimensions that a run found. INTERNAL if those
// are beyond the bounds.
absl::StatusOr<reference::Tensor> CutTo(const reference::Tensor& dims, const reference::Tensor& output);

// Used by one thread. Each session has its own model handle, arena and buffers.
class Session {
 public:
  // Loads a `.so`, with all digests checked and everything brought into memory. The runtime's errors with their text:
  // NOT_FOUND; INVALID_ARGUMENT for what isn't an artifact or is one of another version; DATA_LOSS for a wrong digest;
  // FAILED_PRECONDITION for an artifact that this machine's processor can't run.
  static absl::StatusOr<std::unique_ptr<Session>> Load(const std::string& path);
  // The same from bytes, which are copied.
  static absl::StatusOr<std::unique_ptr<Session>> FromMemory(absl::string_view bytes);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  const std::vector<Port>& inputs() const { return inputs_; }
  const std::vector<Port>& outputs() const { return outputs_; }
  int64_t arena_bytes() const;  // of a run of the bucket in use

  // The bindings of the dimensions that the artifact holds: 1, unless it was compiled with buckets.
  uint32_t bucket_count() const { return aot_bucket_count(model_); }
  std::string bucket_name(uint32_t bucket) const;  // "batch=8"; empty without buckets
  // Makes inputs, outputs and runs those of a bucket, with new buffers. At first it is bucket 0. INVALID_ARGUMENT:
  // there is none of that number; RESOURCE_EXHAUSTED.
  absl::Status UseBucket(uint32_t bucket);
  // The same with the first bucket that has inputs of these shapes; if none has, nothing changes, and SetInput says
  // what is wrong.
  absl::Status UseBucketFor(const std::vector<reference::Tensor>& inputs);

  // Copies the values in. INVALID_ARGUMENT if the type differs from the input's.
  absl::Status SetInput(size_t index, const reference::Tensor& tensor);
  // One inference on the calling thread, with next to nothing around it: this is what a benchmark times. Where the
  // model keeps state, the input has the next state afterwards.
  absl::Status Invoke();
  // The same, calling back after each step with its number.
  absl::Status InvokeTraced(aot_trace trace, void* trace_context);
  // A copy of what the last Invoke wrote, with the dimensions that it found.
  reference::Tensor Output(size_t index) const;

 private:
  struct Free {
    void operator()(void* memory) const;
  };
  using Buffer = std::unique_ptr<void, Free>;

  Session() = default;
  // 64-byte aligned, at least one byte.
  static Buffer Allocate(size_t bytes);
  // After model_ and bucket_ are set.
  absl::Status Prepare();

  Buffer file_;  // of FromMemory; outlives the model
  aot_model* model_ = nullptr;
  uint32_t bucket_ = 0;
  std::vector<Port> inputs_, outputs_;
  std::vector<Buffer> buffers_;
  std::vector<void*> input_pointers_, output_pointers_;
  aot_run_args args_ = {};
  aot_error error_ = {};
};

// The runtime's status as one of this side.
absl::Status ToStatus(aot_status status, const aot_error& error);

}  // namespace aot::clients
