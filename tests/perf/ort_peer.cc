// ONNX Runtime as a peer: its C interface, all optimisations, outputs in memory of ours.
#include <cstring>

#include "tests/perf/ort_session.h"
#include "tests/perf/peer.h"

namespace aot::perf {
namespace {

using reference::Tensor;

class OrtPeer : public Peer {
 public:
  OrtPeer(PeerOptions options, std::unique_ptr<tests::OrtSession> session)
      : model_(std::move(options.model)), threads_(options.threads), session_(std::move(session)) {
    for (Binding& input : options.inputs) {
      names_.push_back(input.name);
      Tensor tensor(reference::TensorType{static_cast<reference::ElementType>(input.dtype), input.dims});
      if (!input.bytes.empty()) std::memcpy(tensor.mutable_bytes().data(), input.bytes.data(), input.bytes.size());
      inputs_.push_back(std::move(tensor));
    }
  }

  absl::Status Load() override { return session_->LoadModel(model_, names_, inputs_, threads_); }

  // The first one tells the outputs' shapes: copying them is part of it, which is little beside a first run.
  absl::Status Run() override {
    if (!first_.empty()) return session_->Invoke();
    absl::StatusOr<std::vector<Tensor>> outputs = session_->Run();
    if (!outputs.ok()) return outputs.status();
    first_ = *outputs;
    // Copies share their bytes, and later runs write there: outputs are taken right after the first run.
    return session_->KeepOutputs(*std::move(outputs));
  }

  absl::StatusOr<std::vector<Binding>> Outputs() override {
    std::vector<Binding> bindings;
    for (const Tensor& tensor : first_) {
      Binding binding;
      binding.dtype = static_cast<int>(tensor.element());
      binding.dims = tensor.shape();
      binding.bytes.assign(tensor.bytes().begin(), tensor.bytes().end());
      bindings.push_back(std::move(binding));
    }
    return bindings;
  }

 private:
  std::string model_;
  int threads_;
  std::vector<std::string> names_;
  std::vector<Tensor> inputs_, first_;
  std::unique_ptr<tests::OrtSession> session_;
};

}  // namespace
}  // namespace aot::perf

int main(int argc, char** argv) {
  return aot::perf::PeerMain(argc, argv,
                             [](aot::perf::PeerOptions options) -> absl::StatusOr<std::unique_ptr<aot::perf::Peer>> {
                               auto session = aot::tests::OrtSession::Open(options.library);
                               if (!session.ok()) return session.status();
                               return std::make_unique<aot::perf::OrtPeer>(std::move(options), *std::move(session));
                             });
}
