// transformers: three generated transformers (MiniLM-L6, whisper-tiny's encoder, one step of its decoder) compiled and
// held against ONNX Runtime; README.md says how. By hand: no test depends on it.
//
// Passes for a model whose compile takes at most --seconds and whose outputs differ by at most --tolerance of the
// largest element.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <random>

#include "absl/strings/str_cat.h"
#include "clients/aotctl/output.h"
#include "clients/model/model_file.h"
#include "clients/model/native_target.h"
#include "clients/model/session.h"
#include "clients/tensor_io/file.h"
#include "compiler/pipeline.h"
#include "tests/models/isolated.h"
#include "tests/perf/ort_session.h"

namespace aot::tests {
namespace {

using reference::ElementType;
using reference::Shape;
using reference::Tensor;

struct Transformer {
  const char* file;
  std::map<std::string, int64_t> dims;
  int64_t most_token;  // integer inputs are below this
};

// Sequences of usual lengths: a sentence, half a minute of speech, a decoder in the middle of one.
const Transformer kTransformers[] = {
    {"minilm_l6_random.onnx", {{"batch", 1}, {"sequence", 128}}, 30522},
    {"whisper_tiny_encoder_random.onnx", {{"batch", 1}}, 1},
    {"whisper_tiny_decoder_random.onnx", {{"batch", 1}, {"n", 1}, {"past", 64}}, 51865},
};

struct Arguments {
  std::string models, library, target = "native";
  double seconds = 60, tolerance = 1e-4;
  int threads = 2;
};

Tensor RandomInput(const std::string& name, const reference::TensorType& type, int64_t most_token, uint32_t seed) {
  Tensor tensor(type);
  std::mt19937 random(seed);
  std::normal_distribution<double> real;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    if (reference::IsFloat(type.element)) {
      tensor.SetFloat(i, real(random));
    } else if (name.find("mask") != std::string::npos) {
      tensor.SetInt(i, i < tensor.size() * 3 / 4);  // the rest is padding
    } else if (name.find("type") != std::string::npos) {
      tensor.SetInt(i, i % 2);
    } else {
      tensor.SetInt(i, static_cast<int64_t>(random()) % most_token);
    }
  }
  return tensor;
}

double RelativeError(const Tensor& got, const Tensor& want) {
  if (!(got.type() == want.type())) return HUGE_VAL;
  double largest = 1e-30, error = 0;
  for (int64_t i = 0; i < want.size(); ++i) {
    const double difference = std::fabs(got.GetFloat(i) - want.GetFloat(i));
    if (!(difference <= error)) error = difference;
    largest = std::max(largest, std::fabs(want.GetFloat(i)));
  }
  return error / largest;
}

// A line for the terminal; starts with "ok" or "FAIL".
absl::StatusOr<std::string> CheckOne(const Transformer& transformer, const Arguments& arguments) {
  const std::string path = absl::StrCat(arguments.models, "/", transformer.file);
  auto model = clients::ReadModel(path);
  if (!model.ok()) return model.status();
  compiler::Options options;
  options.target = arguments.target;
  options.threads = arguments.threads;
  options.dims = transformer.dims;
  const auto start = std::chrono::steady_clock::now();
  auto artifact = compiler::Compile(*model, options);
  if (!artifact.ok()) return artifact.status();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  auto file = compiler::SharedObject(*artifact);
  if (!file.ok()) return file.status();
  auto ours = clients::Session::FromMemory(*file);
  if (!ours.ok()) return ours.status();
  std::vector<std::string> names;
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < (*ours)->inputs().size(); ++i) {
    const clients::Port& port = (*ours)->inputs()[i];
    names.push_back(port.name);
    inputs.push_back(RandomInput(port.name, port.type, transformer.most_token, static_cast<uint32_t>(i + 1)));
    if (absl::Status status = (*ours)->SetInput(i, inputs.back()); !status.ok()) return status;
  }
  if (absl::Status status = (*ours)->Invoke(); !status.ok()) return status;
  auto theirs = OrtSession::Create(arguments.library, path, names, inputs);
  if (!theirs.ok()) return theirs.status();
  auto want = (*theirs)->Run();
  if (!want.ok()) return want.status();
  double error = 0;
  for (size_t i = 0; i < want->size(); ++i) error = std::max(error, RelativeError((*ours)->Output(i), (*want)[i]));
  const bool passes = seconds <= arguments.seconds && error <= arguments.tolerance;
  char line[160];
  snprintf(line, sizeof line, "%-4s %-34s compiled in %5.1f s, relative error %.2g", passes ? "ok" : "FAIL",
           transformer.file, seconds, error);
  return std::string(line);
}

absl::StatusOr<int> Run(Arguments arguments) {
  auto target = clients::ResolveTarget(arguments.target);
  if (!target.ok()) return target.status();
  arguments.target = *target;
  arguments.library = clients::UserPath(arguments.library);
  arguments.models = clients::UserPath(arguments.models);
  size_t right = 0;
  const size_t count = std::size(kTransformers);
  RunIsolated(
      count, 1, absl::Minutes(20),
      [&](size_t i) {
        auto line = CheckOne(kTransformers[i], arguments);
        return line.ok() ? *line : absl::StrCat("FAIL ", kTransformers[i].file, ": ", line.status().ToString());
      },
      [&](size_t i, const IsolatedResult& result) {
        const std::string line =
            result.failure.empty() ? result.value : absl::StrCat("FAIL ", kTransformers[i].file, ": ", result.failure);
        right += line.rfind("ok", 0) == 0 ? 1 : 0;
        printf("%s\n", clients::Printable(line).c_str());
        fflush(stdout);
      });
  printf("transformers: %zu right, of %zu\n", right, count);
  return right == count ? 0 : 1;
}

}  // namespace
}  // namespace aot::tests

int main(int argc, char** argv) {
  aot::tests::Arguments arguments;
  CLI::App app("Generated transformers against ONNX Runtime", "transformers");
  app.add_option("--models", arguments.models, "Directory with the three files")->required();
  app.add_option("--ort", arguments.library, "libonnxruntime.so, as tools/fetch_onnxruntime.sh prints it")->required();
  app.add_option("--target", arguments.target, "Target; native: the best for this machine")->capture_default_str();
  app.add_option("--seconds", arguments.seconds, "Most seconds of a compile")->capture_default_str();
  app.add_option("--tolerance", arguments.tolerance, "Largest error, relative to the largest element")
      ->capture_default_str();
  app.add_option("--threads", arguments.threads, "Threads of a compile")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  absl::StatusOr<int> code = aot::tests::Run(std::move(arguments));
  if (code.ok()) return *code;
  fprintf(stderr, "transformers: %s\n", std::string(code.status().message()).c_str());
  return 2;
}
