// OpenCV's DNN module as a peer: its own CPU backend, float inputs.
#include <opencv2/dnn.hpp>

#include "absl/strings/str_cat.h"
#include "tests/perf/peer.h"

namespace aot::perf {
namespace {

constexpr int kFloat = 1;  // onnx.TensorProto.DataType

class OpenCvPeer : public Peer {
 public:
  explicit OpenCvPeer(PeerOptions options) : options_(std::move(options)) {
    cv::setNumThreads(options_.threads);
    for (Binding& input : options_.inputs) {
      std::vector<int> sizes(input.dims.begin(), input.dims.end());
      inputs_.emplace_back(sizes, CV_32F, input.bytes.data());
    }
  }

  // The module reports every mistake as an exception; here they become a status.
  absl::Status Load() override {
    try {
      net_ = cv::dnn::readNetFromONNX(options_.model);
      net_.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
      net_.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
      names_ = net_.getUnconnectedOutLayersNames();
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return Failed(error);
    }
  }

  absl::Status Run() override {
    try {
      for (size_t i = 0; i < inputs_.size(); ++i) net_.setInput(inputs_[i], options_.inputs[i].name);
      net_.forward(outputs_, names_);
      return absl::OkStatus();
    } catch (const std::exception& error) {
      return Failed(error);
    }
  }

  absl::StatusOr<std::vector<Binding>> Outputs() override {
    std::vector<Binding> bindings;
    for (const cv::Mat& output : outputs_) {
      if (output.type() != CV_32F || !output.isContinuous()) continue;
      Binding binding;
      binding.dtype = kFloat;
      binding.dims.assign(output.size.p, output.size.p + output.dims);
      binding.bytes.assign(output.data, output.data + output.total() * output.elemSize());
      bindings.push_back(std::move(binding));
    }
    return bindings;
  }

 private:
  static absl::Status Failed(const std::exception& error) {
    return absl::UnimplementedError(absl::StrCat("OpenCV: ", error.what()));
  }

  PeerOptions options_;
  std::vector<cv::Mat> inputs_, outputs_;
  std::vector<cv::String> names_;
  cv::dnn::Net net_;
};

}  // namespace
}  // namespace aot::perf

int main(int argc, char** argv) {
  return aot::perf::PeerMain(
      argc, argv, [](aot::perf::PeerOptions options) -> absl::StatusOr<std::unique_ptr<aot::perf::Peer>> {
        for (const aot::perf::Binding& input : options.inputs) {
          if (input.dtype != aot::perf::kFloat)
            return absl::UnimplementedError(
                absl::StrCat("OpenCV takes float32 inputs only; ", input.name, " has another type"));
        }
        return std::make_unique<aot::perf::OpenCvPeer>(std::move(options));
      });
}
