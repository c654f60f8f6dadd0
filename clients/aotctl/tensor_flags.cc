#include "clients/aotctl/tensor_flags.h"

#include <algorithm>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "clients/aotctl/exit_codes.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/random_tensor.h"
#include "clients/tensor_io/tensor_file.h"

namespace aot::clients {
namespace {

// The input that "NAME=FILE" names, and its file. Names may contain '=' and so may paths, so the names decide. -1:
// none.
int NamedInput(const std::vector<Port>& inputs, const std::string& text, std::string* file) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!absl::StartsWith(text, absl::StrCat(inputs[i].name, "="))) continue;
    *file = text.substr(inputs[i].name.size() + 1);
    return static_cast<int>(i);
  }
  return -1;
}

std::string Names(const std::vector<Port>& inputs) {
  return absl::StrJoin(inputs, ", ", [](std::string* out, const Port& port) {
    absl::StrAppend(out, port.name, " (", ToString(port.type), ")");
  });
}

absl::Status ChooseBucket(const std::string& wanted, Session& session) {
  if (wanted.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (uint32_t b = 0; b < session.bucket_count(); ++b) {
    names.push_back(session.bucket_name(b));
    if (wanted == names.back() || wanted == absl::StrCat(b)) return session.UseBucket(b);
  }
  return UsageError(absl::StrCat("--bucket ", wanted, ": the artifact has no such bucket; it has ",
                                 names == std::vector<std::string>{""} ? "none" : absl::StrJoin(names, ", ")));
}

}  // namespace

void AddTensorFlags(CLI::App* command, TensorFlags* flags) {
  command
      ->add_option(
          "--input,-i", flags->inputs,
          "NAME=FILE, or FILE for the next input in order; .npy, .pb (ONNX) or raw values. States are zero without")
      ->allow_extra_args(false);
  command->add_flag("--random", flags->random, "Seeded random values for inputs without a file");
  command->add_option("--bucket", flags->bucket,
                      "Of an artifact with buckets: which one runs, by name (batch=8) or number. Default: the first");
  command->add_option("--seed", flags->seed, "Seed of --random")->capture_default_str();
}

absl::Status SetInputs(const TensorFlags& flags, Session& session) {
  if (absl::Status status = ChooseBucket(flags.bucket, session); !status.ok()) return status;
  const std::vector<Port>& inputs = session.inputs();
  std::vector<std::string> files(inputs.size());
  for (const std::string& text : flags.inputs) {
    std::string file = text;
    int index = NamedInput(inputs, text, &file);
    if (index < 0) {
      index = static_cast<int>(std::find(files.begin(), files.end(), "") - files.begin());
      if (index == static_cast<int>(inputs.size())) {
        return UsageError(absl::StrCat("--input ", text, ": the artifact has no such input; it takes ", Names(inputs)));
      }
    }
    if (!files[static_cast<size_t>(index)].empty()) {
      return UsageError(
          absl::StrCat("--input ", text, ": ", inputs[static_cast<size_t>(index)].name, " is given twice"));
    }
    files[static_cast<size_t>(index)] = UserPath(file);
  }
  for (size_t i = 0; i < inputs.size(); ++i) {
    reference::Tensor tensor;
    if (!files[i].empty()) {
      absl::StatusOr<NamedTensor> read = ReadTensorFile(files[i], inputs[i].type);
      if (!read.ok()) return read.status();
      tensor = std::move(read->tensor);
    } else if (inputs[i].state) {
      continue;  // zero, as in a device's first run
    } else if (flags.random) {
      tensor = RandomTensor(inputs[i].type, flags.seed + i);
    } else {
      return UsageError(absl::StrCat("input ", inputs[i].name, " has no file; the artifact takes ", Names(inputs),
                                     "; --random fills what is missing"));
    }
    if (absl::Status status = session.SetInput(i, tensor); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace aot::clients
