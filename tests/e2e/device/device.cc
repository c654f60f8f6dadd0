// The smallest application of a device: fetches a model over the air, verifies, loads and runs it, and prints what it
// cost.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "aot/aot.h"
#include "aot/ota.h"
#include "tests/e2e/device/ocr.h"
#include "tests/e2e/device/options.h"
#include "tests/e2e/device/tensor_file.h"

namespace aot::device {
namespace {

int Fail(const std::string& message) {
  fprintf(stderr, "device: %s\n", message.c_str());
  return 1;
}

void PrintLog(void*, const char* message) { fprintf(stderr, "ota: %s\n", message); }

struct Tensor {
  aot_tensor_info info = {};
  std::vector<uint8_t> bytes;
};

class Session {
 public:
  explicit Session(const Options& options) : options_(options) {}
  ~Session() { aot_unload(model_); }

  // Each prints its own error and returns false on failure.
  bool FetchModel();
  bool PrepareTensors();
  bool RunModel();
  bool WriteResults();

 private:
  bool Failed(const std::string& message) {
    Fail(message);
    return false;
  }
  bool FillInput(size_t index);

  const Options& options_;
  aot_model* model_ = nullptr;
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;
};

bool Session::FetchModel() {
  aot_fetch_report report = {};
  report.size = sizeof(report);
  aot_fetch_config config = {};
  config.size = sizeof(config);
  config.url = options_.url.empty() ? nullptr : options_.url.c_str();
  config.channel = options_.channel.c_str();
  config.state_dir = options_.state.c_str();
  config.root_path = options_.root.empty() ? nullptr : options_.root.c_str();
  config.target = options_.target.empty() ? nullptr : options_.target.c_str();
  config.flags = (options_.offline ? AOT_FETCH_OFFLINE : 0) | (options_.require_update ? AOT_FETCH_REQUIRE_UPDATE : 0);
  config.log = options_.verbose ? PrintLog : nullptr;
  config.report = &report;
  aot_error error = {};
  const aot_status status = aot_fetch_and_load(&config, options_.model.c_str(), &model_, &error);
  if (status != AOT_OK) return Failed(std::string(aot_status_text(status)) + ": " + error.message);
  if (report.update_status != AOT_OK)
    fprintf(stderr, "device: not updated: %s: %s\n", aot_status_text(report.update_status), report.update_message);
  static constexpr const char* kSources[] = {"nothing", "downloaded", "installed", "previous version"};
  printf("model: %s\ntarget: %s\nrelease: %llu\nsource: %s\n", options_.model.c_str(), report.target,
         static_cast<unsigned long long>(report.release), kSources[report.source]);
  printf("artifact bytes: %llu\ndownloaded bytes: %llu\narena bytes: %llu\n",
         static_cast<unsigned long long>(report.artifact_bytes),
         static_cast<unsigned long long>(report.downloaded_bytes),
         static_cast<unsigned long long>(aot_arena_bytes(model_)));
  return true;
}

bool Session::FillInput(size_t index) {
  Tensor& tensor = inputs_[index];
  std::string message;
  if (index == 0 && !options_.image.empty())
    return ImageToInput(options_.image, tensor.info, &tensor.bytes, &message) || Failed(message);
  if (index >= options_.inputs.size()) {
    tensor.bytes.assign(tensor.info.bytes, 0);
    return true;
  }
  return ReadTensor(options_.inputs[index], tensor.info, &tensor.bytes, &message) || Failed(message);
}

bool Session::PrepareTensors() {
  inputs_.resize(aot_input_count(model_));
  outputs_.resize(aot_output_count(model_));
  if (options_.inputs.size() > inputs_.size() || options_.outputs.size() > outputs_.size())
    return Failed("the model has " + std::to_string(inputs_.size()) + " inputs and " + std::to_string(outputs_.size()) +
                  " outputs");
  for (size_t i = 0; i < inputs_.size(); ++i) {
    inputs_[i].info.size = sizeof(aot_tensor_info);
    if (aot_input_info(model_, static_cast<uint32_t>(i), &inputs_[i].info) != AOT_OK)
      return Failed("no input information");
    if (!FillInput(i)) return false;
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    outputs_[i].info.size = sizeof(aot_tensor_info);
    if (aot_output_info(model_, static_cast<uint32_t>(i), &outputs_[i].info) != AOT_OK)
      return Failed("no output information");
    outputs_[i].bytes.resize(outputs_[i].info.bytes);
  }
  return true;
}

bool Session::RunModel() {
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (const Tensor& tensor : inputs_) inputs.push_back(tensor.bytes.data());
  for (Tensor& tensor : outputs_) {
    // The two of a state pair are one buffer.
    const bool state = tensor.info.state != AOT_NO_STATE;
    outputs.push_back(state ? inputs_[tensor.info.state].bytes.data() : tensor.bytes.data());
  }
  aot_error error = {};
  aot_run_args args = {};
  args.size = sizeof(args);
  args.inputs = inputs.data();
  args.outputs = outputs.data();
  args.input_count = static_cast<uint32_t>(inputs.size());
  args.output_count = static_cast<uint32_t>(outputs.size());
  args.error = &error;
  std::vector<double> milliseconds;
  for (int i = 0; i < options_.runs; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const aot_status status = aot_run(model_, &args);
    const std::chrono::duration<double, std::milli> taken = std::chrono::steady_clock::now() - start;
    if (status != AOT_OK) return Failed(std::string(aot_status_text(status)) + ": " + error.message);
    milliseconds.push_back(taken.count());
  }
  printf("first latency: %.3f ms\n", milliseconds[0]);
  std::sort(milliseconds.begin(), milliseconds.end());
  printf("median latency: %.3f ms of %d runs\n", milliseconds[milliseconds.size() / 2], options_.runs);
  for (Tensor& tensor : outputs_)
    if (tensor.info.state != AOT_NO_STATE) tensor.bytes = inputs_[tensor.info.state].bytes;
  return true;
}

bool Session::WriteResults() {
  std::string message;
  for (size_t i = 0; i < options_.outputs.size(); ++i)
    if (!WriteTensor(options_.outputs[i], outputs_[i].info, outputs_[i].bytes, &message)) return Failed(message);
  if (options_.ocr_keys.empty()) return true;
  std::string text;
  if (outputs_.empty() || !OutputToText(options_.ocr_keys, outputs_[0].info, outputs_[0].bytes, &text, &message))
    return Failed(message);
  printf("text: %s\n", text.c_str());
  return true;
}

}  // namespace
}  // namespace aot::device

int main(int argc, char** argv) {
  aot::device::Options options;
  std::string message;
  if (!aot::device::ParseOptions(argc, argv, &options, &message)) {
    fprintf(stderr, "device: %s\n%s", message.c_str(), aot::device::Usage());
    return 2;
  }
  aot::device::Session session(options);
  return session.FetchModel() && session.PrepareTensors() && session.RunModel() && session.WriteResults() ? 0 : 1;
}
