#include "absl/strings/str_cat.h"
#include "clients/aotctl/backend.h"

namespace aot::clients {
namespace {

class Local : public Backend {
 public:
  explicit Local(Context& context) : context_(context) {}

  absl::Status SetModel(compiler::Model model, const std::string& name) override {
    model_ = std::move(model);
    artifacts_.clear();
    return absl::OkStatus();
  }

  absl::StatusOr<Compiled> Compile(const compiler::Options& options) override {
    compiler::Progress progress = [&](compiler::Stage stage, int done, int total) {
      context_.progress.Update(absl::StrCat(options.target, ": ", compiler::Name(stage)), done, total);
    };
    absl::StatusOr<compiler::Artifact> artifact = compiler::Compile(model_, options, progress);
    context_.progress.Clear();
    if (!artifact.ok()) return artifact.status();
    Compiled compiled;
    compiled.key = artifact->key;
    compiled.target = options.target;
    compiled.manifest_bytes = static_cast<int64_t>(artifact->manifest.size());
    compiled.code_bytes = static_cast<int64_t>(artifact->code.size());
    compiled.weight_bytes = static_cast<int64_t>(artifact->weights.size());
    compiled.compiler_version = compiler::CompilerVersion();
    artifacts_[compiled.key] = *std::move(artifact);
    return compiled;
  }

  absl::StatusOr<Checked> Check(const compiler::Options& options) override {
    absl::StatusOr<compiler::ModelInfo> info = compiler::Check(model_, options);
    if (!info.ok()) return info.status();
    auto convert = [](const std::vector<compiler::ValueInfo>& values) {
      std::vector<TypedValue> out;
      for (const compiler::ValueInfo& value : values) {
        out.push_back(
            {value.name, std::string(reference::Name(value.type.element)), value.type.shape, value.dims_output >= 0});
      }
      return out;
    };
    return Checked{info->graph_name, convert(info->inputs), convert(info->outputs), info->operators};
  }

  absl::StatusOr<std::string> SharedObject(const Compiled& compiled) override {
    auto found = artifacts_.find(compiled.key);
    if (found == artifacts_.end()) return absl::NotFoundError(absl::StrCat("no artifact ", compiled.key));
    return compiler::SharedObject(found->second);
  }

 private:
  Context& context_;
  compiler::Model model_;
  std::map<std::string, compiler::Artifact> artifacts_;  // by key
};

}  // namespace

std::unique_ptr<Backend> LocalBackend(Context& context) { return std::make_unique<Local>(context); }

}  // namespace aot::clients
