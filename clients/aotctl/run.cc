// aotctl run: one inference on this machine.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/clock.h"
#include "clients/aotctl/tensor_flags.h"
#include "clients/aotctl/verbs.h"
#include "clients/model/session.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/tensor_file.h"

namespace aot::clients {
namespace {

struct RunArgs {
  std::string artifact, output_directory, format = "npy";
  TensorFlags tensors;
};

// How many values of an output are shown.
constexpr int64_t kShown = 8;

struct Summary {
  double low = 0, high = 0, mean = 0;
  int64_t largest_at = 0;  // argmax: what a classifier says
  std::vector<std::string> first;
};

Summary Summarize(const reference::Tensor& tensor) {
  Summary summary;
  const bool is_float = reference::IsFloat(tensor.element());
  double sum = 0;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double value = is_float ? tensor.GetFloat(i) : static_cast<double>(tensor.GetInt(i));
    sum += value;
    if (i == 0 || value < summary.low) summary.low = value;
    if (i == 0 || value > summary.high) {
      summary.high = value;
      summary.largest_at = i;
    }
    if (i < kShown) {
      summary.first.push_back(is_float ? absl::StrFormat("%.6g", value) : absl::StrCat(tensor.GetInt(i)));
    }
  }
  if (tensor.size() > 0) summary.mean = sum / static_cast<double>(tensor.size());
  return summary;
}

// A file name for an output: names may hold anything, files can't.
std::string FileName(size_t index, const std::string& name, const std::string& format) {
  std::string safe;
  for (char c : name.substr(0, 64)) safe.push_back(isalnum(static_cast<unsigned char>(c)) || c == '-' ? c : '_');
  return absl::StrCat("output_", index, safe.empty() ? "" : "_", safe, ".", format);
}

absl::Status Report(size_t index, const Port& port, const reference::Tensor& tensor, const RunArgs& args,
                    Context& context) {
  Summary summary = Summarize(tensor);
  context.output.Line(
      absl::StrCat(port.name, ": ", ToString(tensor.type()),
                   port.dims_output >= 0 ? absl::StrCat(" (at most ", reference::ToString(port.type.shape), ")") : "",
                   ", min ", summary.low, ", max ", summary.high, " at ", summary.largest_at, ", mean ",
                   absl::StrFormat("%.6g", summary.mean)));
  context.output.Line(absl::StrCat("  ", absl::StrJoin(summary.first, " "), tensor.size() > kShown ? " ..." : ""));
  nlohmann::json entry = {{"name", port.name},
                          {"type", std::string(reference::Name(port.type.element))},
                          {"shape", tensor.type().shape},
                          {"min", summary.low},
                          {"max", summary.high},
                          {"argmax", summary.largest_at},
                          {"mean", summary.mean}};
  if (!args.output_directory.empty()) {
    std::string path = absl::StrCat(UserPath(args.output_directory), "/", FileName(index, port.name, args.format));
    if (absl::Status status = WriteTensorFile(path, NamedTensor{port.name, tensor}); !status.ok()) return status;
    context.output.Line(absl::StrCat("  written to ", path));
    entry["file"] = path;
  }
  context.output.json()["outputs"].push_back(std::move(entry));
  return absl::OkStatus();
}

absl::Status Run(const RunArgs& args, Context& context) {
  absl::StatusOr<std::unique_ptr<Session>> session = Session::Load(UserPath(args.artifact));
  if (!session.ok()) return session.status();
  if (absl::Status status = SetInputs(args.tensors, **session); !status.ok()) return status;
  if (!args.output_directory.empty()) {
    std::error_code error;
    std::filesystem::create_directories(UserPath(args.output_directory), error);
    if (error) {
      return absl::UnknownError(
          absl::StrCat("can't make the directory ", args.output_directory, ": ", error.message()));
    }
  }
  absl::Time start = absl::Now();
  if (absl::Status status = (*session)->Invoke(); !status.ok()) return status;
  double seconds = absl::ToDoubleSeconds(absl::Now() - start);
  for (size_t i = 0; i < (*session)->outputs().size(); ++i) {
    absl::Status status = Report(i, (*session)->outputs()[i], (*session)->Output(i), args, context);
    if (!status.ok()) return status;
  }
  context.output.Note(
      absl::StrCat("ran in ", FormatSeconds(seconds), ", arena ", FormatBytes((*session)->arena_bytes())));
  context.output.json()["seconds"] = seconds;
  return absl::OkStatus();
}

}  // namespace

void AddRun(CLI::App& app, Context& context) {
  auto args = std::make_shared<RunArgs>();
  CLI::App* command = AddCommand(app, context, "run", "Runs an artifact once on this machine", args, &Run);
  command->add_option("artifact", args->artifact, "The .so file")->required();
  AddTensorFlags(command, &args->tensors);
  command->add_option("--output-dir,-o", args->output_directory, "Write each output to a file here");
  command->add_option("--format", args->format, "Of the output files: npy, pb (ONNX) or raw")
      ->check(CLI::IsMember({"npy", "pb", "raw"}))
      ->capture_default_str();
}

}  // namespace aot::clients
