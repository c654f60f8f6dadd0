#include <stdlib.h>
#include <string.h>

#include <filesystem>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "clients/model/artifact_file.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/tensor_file.h"
#include "tests/models/command.h"
#include "tests/models/executor.h"

namespace aot::tests {
namespace {

// Owns its directory, which goes with it.
class RunnerExecutor : public Executor {
 public:
  RunnerExecutor(std::vector<std::string> command, std::string directory, std::vector<clients::Port> outputs)
      : command_(std::move(command)), directory_(std::move(directory)), outputs_(std::move(outputs)) {}
  ~RunnerExecutor() override {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }

  absl::StatusOr<Execution> Run(const std::vector<reference::Tensor>& inputs, bool timed) override {
    std::vector<std::string> command = command_;
    for (size_t i = 0; i < inputs.size(); ++i) {
      command.push_back(absl::StrCat(directory_, "/input_", i, ".raw"));
      absl::Status status = clients::WriteTensorFile(command.back(), {"", inputs[i]});
      if (!status.ok()) return status;
    }
    command.push_back("--");
    std::vector<std::string> files;
    for (size_t i = 0; i < outputs_.size(); ++i) files.push_back(absl::StrCat(directory_, "/output_", i, ".raw"));
    command.insert(command.end(), files.begin(), files.end());
    absl::StatusOr<std::string> text = RunCommand(command);
    if (!text.ok()) return text.status();
    Execution execution;
    for (absl::string_view line : absl::StrSplit(*text, '\n')) {
      if (absl::ConsumePrefix(&line, "arena ")) (void)absl::SimpleAtoi(line, &execution.arena_bytes);
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      absl::StatusOr<clients::NamedTensor> output = clients::ReadTensorFile(files[i], outputs_[i].type);
      if (!output.ok()) return output.status();
      execution.outputs.push_back(std::move(output->tensor));
    }
    for (size_t i = 0; i < outputs_.size(); ++i) {
      if (outputs_[i].dims_output < 0) continue;
      reference::Tensor& output = execution.outputs[i];
      absl::StatusOr<reference::Tensor> cut =
          clients::CutTo(execution.outputs[static_cast<size_t>(outputs_[i].dims_output)], output);
      if (!cut.ok()) return cut.status();
      output = *std::move(cut);
    }
    return execution;
  }

 private:
  std::vector<std::string> command_;  // emulator, runner, artifact
  std::string directory_;
  std::vector<clients::Port> outputs_;
};

absl::StatusOr<std::string> NewDirectory() {
  const char* base = getenv("TMPDIR");
  std::string path = absl::StrCat(base != nullptr && *base != '\0' ? base : "/tmp", "/aot-runner-XXXXXX");
  if (mkdtemp(&path[0]) == nullptr) return absl::UnknownError(absl::StrCat("mkdtemp ", path, ": ", strerror(errno)));
  return path;
}

}  // namespace

ExecutorFactory Emulated(const std::string& command, const std::string& runner) {
  return [command, runner](const std::string& shared_object) -> absl::StatusOr<std::unique_ptr<Executor>> {
    absl::StatusOr<clients::ArtifactFile> artifact = clients::OpenArtifact(shared_object, "the artifact");
    if (!artifact.ok()) return artifact.status();
    absl::StatusOr<std::string> directory = NewDirectory();
    if (!directory.ok()) return directory.status();
    std::vector<std::string> words = absl::StrSplit(command, ' ', absl::SkipEmpty());
    words.push_back(runner);
    words.push_back(absl::StrCat(*directory, "/model.so"));
    auto executor = std::make_unique<RunnerExecutor>(words, *directory, clients::Outputs(artifact->manifest));
    if (absl::Status status = clients::WriteFile(words.back(), shared_object); !status.ok()) return status;
    return executor;
  };
}

}  // namespace aot::tests
