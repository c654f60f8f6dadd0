#include "clients/aotctl/compile_flags.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "clients/model/binding_flags.h"
#include "clients/model/bound_input.h"
#include "clients/model/native_target.h"

namespace aot::clients {
namespace {

absl::StatusOr<std::vector<int64_t>> ParseShape(const std::string& text) {
  std::vector<int64_t> shape;
  if (text == "scalar") return shape;
  for (absl::string_view part : absl::StrSplit(text, 'x')) {
    int64_t dim = 0;
    if (!absl::SimpleAtoi(part, &dim) || dim < 0) {
      return UsageError(absl::StrCat("--input-shape: '", text, "' isn't a shape; write 1x3x48x320, or scalar"));
    }
    shape.push_back(dim);
  }
  return shape;
}

}  // namespace

void AddArtifactFlags(CLI::App* command, CompileFlags* flags) {
  command
      ->add_option("--target,-t", flags->targets,
                   "Target (see `aotctl targets`); native: the best one for this machine")
      ->delimiter(',')
      ->default_str("native");
  command->add_option("--dim", flags->dims, "Binds a symbolic dimension: NAME=N")->allow_extra_args(false);
  command
      ->add_option("--input-shape", flags->input_shapes,
                   "Binds an input's whole shape: NAME=1x3x48x320. The tensors of a sequence NAME are inputs NAME[0], "
                   "NAME[1], ...")
      ->allow_extra_args(false);
  command
      ->add_option("--input-elements", flags->input_elements,
                   "How many tensors a sequence input has: NAME=3; whether an optional input is there: NAME=1 or "
                   "NAME=absent. Default: as many as have an --input-shape")
      ->allow_extra_args(false);
  command
      ->add_option("--bind-input", flags->bind_inputs,
                   "Makes an input a constant: NAME=@FILE (.npy or .pb). For operands that decide shapes")
      ->allow_extra_args(false);
  command->add_option("--state", flags->states, kStateFlagHelp)->allow_extra_args(false);
  command->add_option("--bucket", flags->buckets, kBucketFlagHelp)->allow_extra_args(false);
  command->add_option("--opt", flags->opt_level, "0: only what is needed, to 3: all optimisations")
      ->check(CLI::Range(0, 3))
      ->capture_default_str();
  command->add_option("--math", flags->math, "strict: no transform that changes rounding")
      ->check(CLI::IsMember({"default", "strict"}))
      ->capture_default_str();
  command
      ->add_option(
          "--optimize-for", flags->optimize_for,
          "latency: weights may grow as far as it saves time; balanced: all together by a quarter; size: not at all")
      ->check(CLI::IsMember({"latency", "balanced", "size"}))
      ->capture_default_str();
  command->add_option("--name", flags->name, "Model name in the manifest; default: the graph's name");
}

void AddCompileFlags(CLI::App* command, CompileFlags* flags) {
  command->add_option("--model,-m", flags->model, "The ONNX file")->required();
  AddArtifactFlags(command, flags);
  command->add_flag("--local", flags->local, "Compile in this process, without a server; the bytes are the same");
  command->add_option("--threads", flags->threads, "Threads of a --local compile; 0: one per core")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
}

absl::StatusOr<std::pair<std::string, std::string>> SplitAssignment(absl::string_view flag, const std::string& text) {
  size_t at = text.rfind('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    return UsageError(absl::StrCat(flag, ": '", text, "' isn't NAME=VALUE"));
  }
  return std::make_pair(text.substr(0, at), text.substr(at + 1));
}

absl::StatusOr<std::vector<compiler::Options>> ToOptions(const CompileFlags& flags) {
  compiler::Options common;
  common.opt_level = flags.opt_level;
  common.strict_math = flags.math == "strict";
  if (auto value = compiler::ParseOptimizeFor(flags.optimize_for)) common.optimize_for = *value;
  common.model_name = flags.name;
  common.threads = flags.threads;
  for (const std::string& text : flags.dims) {
    auto parts = SplitAssignment("--dim", text);
    if (!parts.ok()) return parts.status();
    int64_t size = 0;
    if (!absl::SimpleAtoi(parts->second, &size) || size < 1) {
      return UsageError(absl::StrCat("--dim: '", text, "': a dimension is a number of at least 1"));
    }
    if (!common.dims.emplace(parts->first, size).second) {
      return UsageError(absl::StrCat("--dim: ", parts->first, " is bound twice"));
    }
  }
  for (const std::string& text : flags.input_shapes) {
    auto parts = SplitAssignment("--input-shape", text);
    if (!parts.ok()) return parts.status();
    absl::StatusOr<std::vector<int64_t>> shape = ParseShape(parts->second);
    if (!shape.ok()) return shape.status();
    if (!common.input_shapes.emplace(parts->first, *std::move(shape)).second) {
      return UsageError(absl::StrCat("--input-shape: ", parts->first, " is bound twice"));
    }
  }
  for (const std::string& text : flags.input_elements) {
    auto parts = SplitAssignment("--input-elements", text);
    if (!parts.ok()) return parts.status();
    int64_t count = compiler::kAbsent;
    if (parts->second != "absent" && (!absl::SimpleAtoi(parts->second, &count) || count < 0)) {
      return UsageError(absl::StrCat("--input-elements: '", text, "': write a number, or absent"));
    }
    if (!common.input_elements.emplace(parts->first, count).second) {
      return UsageError(absl::StrCat("--input-elements: ", parts->first, " is bound twice"));
    }
  }
  for (const std::string& text : flags.bind_inputs) {
    absl::StatusOr<std::pair<std::string, reference::Tensor>> bound = ReadBoundInput(text);
    if (!bound.ok()) return bound.status();
    if (!common.bind_inputs.insert(*std::move(bound)).second) {
      return UsageError(absl::StrCat("--bind-input: ", text.substr(0, text.find("=@")), " is bound twice"));
    }
  }
  if (absl::Status status = ParseStates(flags.states, &common); !status.ok()) return UsageError(status.message());
  if (absl::Status status = ParseBuckets(flags.buckets, &common); !status.ok()) return UsageError(status.message());
  if (absl::Status status = compiler::CheckOptions(common); !status.ok()) return UsageError(status.message());
  std::vector<compiler::Options> all;
  for (const std::string& name : flags.targets) {
    absl::StatusOr<std::string> target = ResolveTarget(name);
    if (!target.ok()) return target.status();
    if (std::any_of(all.begin(), all.end(), [&](const compiler::Options& o) { return o.target == *target; })) continue;
    all.push_back(common);
    all.back().target = *target;
  }
  return all;
}

}  // namespace aot::clients
