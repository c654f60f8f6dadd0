// aotctl verify: does the artifact compute what the model says.
#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "clients/aotctl/backend.h"
#include "clients/aotctl/compile_flags.h"
#include "clients/aotctl/verbs.h"
#include "clients/model/model_file.h"
#include "clients/model/native_target.h"
#include "clients/model/session.h"
#include "clients/model/shape_groups.h"
#include "clients/tensor_io/compare.h"
#include "clients/tensor_io/file.h"
#include "clients/tensor_io/random_tensor.h"

namespace aot::clients {
namespace {

struct VerifyArgs {
  CompileFlags flags;
  std::string artifact;
  bool reference = false;
  uint64_t seed = 0;
  int vectors = 3;
  Tolerance tolerance;
};

// A pair of inputs and what must come out.
struct Vector {
  std::string name;
  std::vector<reference::Tensor> inputs;
  std::map<size_t, reference::Tensor> outputs;  // by position
};

class Verification {
 public:
  Verification(const VerifyArgs& args, Context& context) : args_(args), context_(context) {}

  absl::Status Run() {
    const std::string path = UserPath(args_.flags.model);
    absl::StatusOr<std::vector<compiler::Options>> options = ToOptions(args_.flags);
    if (!options.ok()) return options.status();
    if (options->size() != 1) return UsageError("--target: one at a time can be verified");
    options_ = options->front();
    if (!RunsHere(options_.target)) {
      return UsageError(absl::StrCat("--target: code for ", options_.target, " doesn't run on this machine"));
    }
    absl::StatusOr<compiler::Model> model = ReadModel(path);
    if (!model.ok()) return model.status();
    model_ = *std::move(model);
    if (args_.artifact.empty()) {
      backend_ = args_.flags.local ? LocalBackend(context_) : ServerBackend(context_);
      if (absl::Status status = backend_->SetModel(model_, ModelName(path)); !status.ok()) return status;
    }
    std::string directory = std::filesystem::path(path).parent_path().string();
    absl::StatusOr<std::vector<DataSet>> sets = std::vector<DataSet>();
    // Files that aren't asked for may hold anything.
    if (!args_.reference) sets = ReadDataSets(directory.empty() ? "." : directory);
    if (!sets.ok()) return sets.status();
    absl::Status status = args_.reference || sets->empty() ? AgainstReference() : AgainstDataSets(*sets);
    if (!status.ok()) return status;
    context_.output.json()["vectors"] = vectors_;
    context_.output.json()["failed"] = failed_;
    context_.output.Line(absl::StrCat(vectors_ - failed_, " of ", vectors_, " test vectors right, largest error ",
                                      absl::StrFormat("%.2g", largest_error_)));
    if (failed_ == 0) return absl::OkStatus();
    return WithExitCode(absl::InternalError(absl::StrCat(failed_, " of ", vectors_, " test vectors are wrong")),
                        ExitCode::kVerificationFailed);
  }

 private:
  absl::StatusOr<std::unique_ptr<Session>> MakeSession(const compiler::Options& options) {
    if (!args_.artifact.empty()) return Session::Load(UserPath(args_.artifact));
    absl::StatusOr<Compiled> compiled = backend_->Compile(options);
    if (!compiled.ok()) return compiled.status();
    absl::StatusOr<std::string> bytes = backend_->SharedObject(*compiled);
    if (!bytes.ok()) return bytes.status();
    return Session::FromMemory(*bytes);
  }

  absl::Status AgainstDataSets(const std::vector<DataSet>& sets) {
    absl::StatusOr<std::vector<std::string>> names = GraphInputs(model_);
    if (!names.ok()) return names.status();
    absl::StatusOr<std::vector<ShapeGroup>> groups = GroupByShape(sets, *names);
    if (!groups.ok()) return groups.status();
    for (const ShapeGroup& group : *groups) {
      compiler::Options options = options_;
      for (const auto& [name, shape] : group.input_shapes) {
        // The shapes choose among buckets; without, they are what the model is bound to.
        if (options.bind_inputs.count(name) == 0 && options.buckets.empty()) options.input_shapes[name] = shape;
      }
      absl::StatusOr<std::unique_ptr<Session>> session = MakeSession(options);
      if (!session.ok()) return session.status();
      for (const DataSet* set : group.sets) {
        Vector vector;
        vector.name = absl::StrCat("data set ", set->index);
        for (size_t i = 0; i < names->size(); ++i) {
          auto found = set->inputs.find(static_cast<int>(i));
          if (found == set->inputs.end()) {
            return absl::NotFoundError(absl::StrCat(set->directory, " has no input_", i, ".pb"));
          }
          if (options.bind_inputs.count((*names)[i]) == 0) vector.inputs.push_back(found->second.tensor);
        }
        if (!HasBoundValues(*set, *names)) {
          context_.output.Note(absl::StrCat(vector.name, ": left out, its values of the bound inputs are others"));
          continue;
        }
        if (set->outputs.empty()) {
          return absl::NotFoundError(absl::StrCat(set->directory, " has no output_0.pb with a tensor, nor any other: ",
                                                  "nothing to compare with (--reference compares with the reference)"));
        }
        for (const auto& [index, output] : set->outputs) vector.outputs.emplace(index, output.tensor);
        for (const std::string& name : set->not_tensors) {
          context_.output.Note(absl::StrCat(set->directory, "/", name, ": left out, not a tensor"));
        }
        if (absl::Status status = Check(vector, **session); !status.ok()) return status;
      }
    }
    return absl::OkStatus();
  }

  // Whether the inputs that the options bind have the bound values in the data set too.
  bool HasBoundValues(const DataSet& set, const std::vector<std::string>& names) const {
    for (size_t i = 0; i < names.size(); ++i) {
      auto bound = options_.bind_inputs.find(names[i]);
      if (bound == options_.bind_inputs.end()) continue;
      const reference::Tensor& value = set.inputs.find(static_cast<int>(i))->second.tensor;
      if (!(value.type() == bound->second.type()) || value.bytes() != bound->second.bytes()) return false;
    }
    return true;
  }

  absl::Status AgainstReference() {
    absl::StatusOr<std::unique_ptr<Session>> session = MakeSession(options_);
    if (!session.ok()) return session.status();
    const int buckets = static_cast<int>((*session)->bucket_count());
    for (int n = 0; n < args_.vectors * buckets; ++n) {
      const int bucket = n / args_.vectors, i = n % args_.vectors;
      if (absl::Status status = (*session)->UseBucket(static_cast<uint32_t>(bucket)); !status.ok()) return status;
      Vector vector;
      vector.name = absl::StrCat("random vector ", i);
      if (buckets > 1) absl::StrAppend(&vector.name, " of ", (*session)->bucket_name(static_cast<uint32_t>(bucket)));
      for (size_t k = 0; k < (*session)->inputs().size(); ++k) {
        uint64_t seed = args_.seed + static_cast<uint64_t>(i) * 1000 + k;
        vector.inputs.push_back(RandomTensor((*session)->inputs()[k].type, seed));
      }
      context_.progress.Update("computing the reference", n, args_.vectors * buckets);
      absl::StatusOr<std::vector<reference::Tensor>> outputs = compiler::RunReference(model_, options_, vector.inputs);
      context_.progress.Clear();
      if (!outputs.ok()) return outputs.status();
      for (size_t k = 0; k < outputs->size(); ++k) vector.outputs.emplace(k, std::move((*outputs)[k]));
      if (absl::Status status = Check(vector, **session); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  // An error only if the vector couldn't be run; a wrong result is counted.
  absl::Status Check(const Vector& vector, Session& session) {
    if (vector.inputs.size() != session.inputs().size()) {
      return absl::InvalidArgumentError(absl::StrCat("the artifact takes ", session.inputs().size(),
                                                     " inputs, the model ", vector.inputs.size(),
                                                     ": it was made from another model"));
    }
    if (absl::Status status = session.UseBucketFor(vector.inputs); !status.ok()) return status;
    for (size_t i = 0; i < vector.inputs.size(); ++i) {
      if (absl::Status status = session.SetInput(i, vector.inputs[i]); !status.ok()) return status;
    }
    if (absl::Status status = session.Invoke(); !status.ok()) return status;
    ++vectors_;
    bool right = true;
    for (const auto& [index, want] : vector.outputs) {
      if (index >= session.outputs().size()) {
        return absl::InvalidArgumentError(
            absl::StrCat("the artifact has no output ", index, ": it was made from another model"));
      }
      Comparison comparison = Compare(session.Output(index), want, args_.tolerance);
      largest_error_ = std::max(largest_error_, comparison.relative);
      right = right && comparison.equal;
      Report(vector.name, session.outputs()[index].name, comparison);
    }
    for (size_t index = 0; index < session.outputs().size(); ++index) {
      if (vector.outputs.count(index) > 0) continue;
      const std::string& name = session.outputs()[index].name;
      context_.output.Note(absl::StrCat(vector.name, ", ", name, ": NOT COMPARED, there is no output_", index, ".pb"));
      context_.output.json()["not_compared"].push_back({{"vector", vector.name}, {"output", name}});
    }
    failed_ += right ? 0 : 1;
    return absl::OkStatus();
  }

  void Report(const std::string& vector, const std::string& output, const Comparison& comparison) {
    context_.output.Line(absl::StrCat(vector, ", ", output, ": ", comparison.equal ? "right" : "WRONG", ", error ",
                                      absl::StrFormat("%.2g", comparison.relative),
                                      comparison.equal ? "" : absl::StrCat("; ", comparison.difference)));
    context_.output.json()["outputs"].push_back({{"vector", vector},
                                                 {"output", output},
                                                 {"right", comparison.equal},
                                                 {"error", comparison.relative},
                                                 {"difference", comparison.difference}});
  }

  const VerifyArgs& args_;
  Context& context_;
  compiler::Options options_;
  compiler::Model model_;
  std::unique_ptr<Backend> backend_;
  int vectors_ = 0, failed_ = 0;
  double largest_error_ = 0;
};

absl::Status Run(const VerifyArgs& args, Context& context) { return Verification(args, context).Run(); }

}  // namespace

void AddVerify(CLI::App& app, Context& context) {
  auto args = std::make_shared<VerifyArgs>();
  CLI::App* command = AddCommand(app, context, "verify",
                                 "Checks that an artifact computes what the model says, on this machine", args, &Run);
  command->footer(
      "Uses the test_data_set_K directories beside the model (input_I.pb, output_I.pb), whose shapes also bind the "
      "model's dimensions. "
      "Without them, or with --reference, random inputs are run through the slow reference operators. Exit status 6: "
      "something is wrong.");
  AddCompileFlags(command, &args->flags);
  command->add_option("--artifact,-a", args->artifact, "Check this .so instead of compiling");
  command->add_flag("--reference", args->reference,
                    "Random inputs and the reference operators, even if there are data sets");
  command->add_option("--seed", args->seed, "Of the random inputs")->capture_default_str();
  command->add_option("--vectors", args->vectors, "How many random inputs")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  command
      ->add_option("--tolerance", args->tolerance.relative_to_max,
                   "Floats: allowed difference, relative to the largest value")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  command->add_option("--steps", args->tolerance.integer_steps, "Integers: allowed difference")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
}

}  // namespace aot::clients
