// This product as a peer: what a device application links, aot/aot.h alone.
#include <cstdlib>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "aot/aot.h"
#include "tests/perf/peer.h"

namespace aot::perf {
namespace {

struct Free {
  void operator()(void* memory) const { free(memory); }
};
using Buffer = std::unique_ptr<void, Free>;

Buffer Allocate(size_t bytes) { return Buffer(aligned_alloc(64, (bytes / 64 + 1) * 64)); }

class AotPeer : public Peer {
 public:
  // Inputs are in the model's order.
  explicit AotPeer(PeerOptions options) : model_path_(std::move(options.model)) {
    for (Binding& input : options.inputs) {
      buffers_.push_back(Allocate(input.bytes.size()));
      if (!input.bytes.empty()) std::memcpy(buffers_.back().get(), input.bytes.data(), input.bytes.size());
      inputs_.push_back(buffers_.back().get());
      input_bytes_.push_back(input.bytes.size());
    }
  }
  ~AotPeer() override { aot_unload(model_); }

  absl::Status Load() override {
    // As an application loads what its update client has verified: everything brought into memory.
    if (aot_load_file(model_path_.c_str(), nullptr, &model_, &error_) != AOT_OK) return Failed();
    for (uint32_t i = 0; i < aot_output_count(model_); ++i) {
      aot_tensor_info info = {};
      info.size = sizeof(info);
      if (aot_output_info(model_, i, &info) != AOT_OK) return absl::InternalError("an output isn't described");
      output_bytes_.push_back(info.bytes);
      if (info.state != AOT_NO_STATE) {  // lies in the input's buffer
        outputs_.push_back(const_cast<void*>(inputs_[info.state]));
        continue;
      }
      buffers_.push_back(Allocate(info.bytes));
      outputs_.push_back(buffers_.back().get());
    }
    args_.size = sizeof(args_);
    args_.inputs = inputs_.data();
    args_.outputs = outputs_.data();
    args_.input_count = static_cast<uint32_t>(inputs_.size());
    args_.output_count = static_cast<uint32_t>(outputs_.size());
    args_.input_bytes = input_bytes_.data();
    args_.output_bytes = output_bytes_.data();
    args_.error = &error_;
    return absl::OkStatus();
  }

  absl::Status Run() override { return aot_run(model_, &args_) == AOT_OK ? absl::OkStatus() : Failed(); }

  absl::StatusOr<std::vector<Binding>> Outputs() override {
    std::vector<Binding> bindings;
    for (uint32_t i = 0; i < aot_output_count(model_); ++i) {
      aot_tensor_info info = {};
      info.size = sizeof(info);
      // Of outputs whose dimensions the data decides: those that the run found.
      if (aot_actual_output_info(model_, i, outputs_.data(), &info) != AOT_OK)
        return absl::InternalError("an output isn't described");
      Binding binding;
      binding.name = info.name;
      binding.dtype = static_cast<int>(info.dtype);
      binding.dims.assign(info.dims, info.dims + info.rank);
      const auto* data = static_cast<const uint8_t*>(outputs_[i]);
      binding.bytes.assign(data, data + info.bytes);
      bindings.push_back(std::move(binding));
    }
    return bindings;
  }

 private:
  absl::Status Failed() const { return absl::InternalError(error_.message); }

  std::string model_path_;
  aot_model* model_ = nullptr;
  std::vector<Buffer> buffers_;
  std::vector<const void*> inputs_;
  std::vector<void*> outputs_;
  std::vector<uint64_t> input_bytes_, output_bytes_;
  aot_run_args args_ = {};
  aot_error error_ = {};
};

}  // namespace
}  // namespace aot::perf

int main(int argc, char** argv) {
  return aot::perf::PeerMain(argc, argv,
                             [](aot::perf::PeerOptions options) -> absl::StatusOr<std::unique_ptr<aot::perf::Peer>> {
                               return std::make_unique<aot::perf::AotPeer>(std::move(options));
                             });
}
