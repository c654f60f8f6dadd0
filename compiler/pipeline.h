// The compiler's one entry: an ONNX model in, a native artifact or a status out.
//
// Deterministic: the same model bytes, options and compiler build give the same bytes, whatever the host, the path, the
// time or the number of threads. Nothing about the host is detected.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "compiler/reference/tensor.h"

namespace aot::compiler {

// An uploaded model. `external` holds external data by the name that the model gives as `location`; nothing is opened
// by path.
struct Model {
  std::string bytes;
  std::map<std::string, std::string> external;
};

// In input_elements: an optional input that has no element.
constexpr int64_t kAbsent = -1;

// How many buckets an artifact may have.
constexpr int kMaxBuckets = 32;

// What algorithms that trade weight bytes for time may do.
enum class OptimizeFor {
  kLatency,   // weights may grow as far as it saves time
  kBalanced,  // all weights together may grow by a quarter
  kSize,      // no weight grows
};

absl::string_view Name(OptimizeFor optimize_for);  // "latency"
std::optional<OptimizeFor> ParseOptimizeFor(absl::string_view name);

struct Options {
  std::string target;                                        // a name of target::All()
  int opt_level = 3;                                         // 0: no optional pass; 3: all
  std::map<std::string, int64_t> dims;                       // symbolic dimension -> size
  std::map<std::string, std::vector<int64_t>> input_shapes;  // input, or "name[i]" of a sequence -> shape
  std::map<std::string, int64_t> input_elements;             // sequence -> its number of tensors; optional -> kAbsent
  std::map<std::string, reference::Tensor> bind_inputs;      // input -> its value, a constant of the artifact
  std::map<std::string, std::string> states;                 // input -> the output that takes its place
  // Several bindings of symbolic dimensions in one artifact: for each bucket the same dimensions, beside those of
  // `dims`. Empty: one program, bound by `dims` alone.
  std::vector<std::map<std::string, int64_t>> buckets;
  OptimizeFor optimize_for = OptimizeFor::kBalanced;
  bool strict_math = false;  // no transform that changes rounding
  std::string model_name;    // recorded in the manifest; empty: the graph's name
  int threads = 0;           // of this compile; 0: one per core. Does not change the result
};

// SHA-256, as 64 hexadecimal digits.
std::string ModelDigest(const Model& model);  // over the model bytes and every external blob
// INVALID_ARGUMENT: numbers out of range; more than kMaxBuckets buckets, two alike, one without dimensions or with
// others than the first has, or with one that `dims` binds too; one output given as the state of two inputs.
absl::Status CheckOptions(const Options& options);
// What a bucket is called: "batch=8,length=128", by name.
std::string BucketName(const std::map<std::string, int64_t>& bucket);
// The canonical text of the options that change the result, one `key=value` a line, sorted.
std::string CanonicalOptions(const Options& options);
// The artifact key: model digest, target description digest, canonical options, compiler build digest.
absl::StatusOr<std::string> ArtifactKey(absl::string_view model_digest, const Options& options);
// Version and digest of this build of the compiler.
std::string CompilerVersion();

// The three parts of an artifact (docs/formats/artifact.md) and their SHA-256 digests (hex).
struct Artifact {
  std::string key;
  std::string manifest, code, weights;
  std::string manifest_digest, code_digest, weights_digest;
};

enum class Stage { kImport, kOptimize, kSchedule, kGenerate, kEmit };
absl::string_view Name(Stage stage);
// Called from the compiling threads, one call at a time. done of total units of the stage.
using Progress = std::function<void(Stage stage, int done, int total)>;

// INVALID_ARGUMENT: the model or an option is wrong. UNIMPLEMENTED: valid ONNX that is not supported; the message lists
// every unsupported node, one a line. FAILED_PRECONDITION: a dimension is not bound. NOT_FOUND: no such target.
// RESOURCE_EXHAUSTED: a limit.
absl::StatusOr<Artifact> Compile(const Model& model, const Options& options, const Progress& progress = nullptr);

// What stage 1 finds out about a model without compiling it.
struct ValueInfo {
  std::string name;
  reference::TensorType type;  // of an output whose dimensions the data decides: their bounds
  // Of such an output: the number of the int64 output, behind the model's own, that tells its dimensions; else -1.
  int64_t dims_output = -1;
};
struct ModelInfo {
  std::string graph_name;
  std::vector<ValueInfo> inputs, outputs;
  std::map<std::string, int> operators;  // "Conv" -> count
};
// Imports only: the same errors as Compile would give for the model and the options.
absl::StatusOr<ModelInfo> Check(const Model& model, const Options& options);

// Runs a model through reference/ (slow). One tensor for each input in the model's order; gives the outputs, those
// whose dimensions the data decides cut to them, and then what tells those dimensions.
absl::StatusOr<std::vector<reference::Tensor>> RunReference(const Model& model, const Options& options,
                                                            const std::vector<reference::Tensor>& inputs);

// The `.so` form: all parts in one file.
absl::StatusOr<std::string> SharedObject(const Artifact& artifact);

}  // namespace aot::compiler
