// aotctl inspect: what an artifact says about itself. Needs no server and runs nothing: the target may be any.
#include <optional>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "clients/aotctl/compile_flags.h"
#include "clients/aotctl/schedule.h"
#include "clients/aotctl/verbs.h"
#include "clients/model/artifact_file.h"
#include "clients/tensor_io/file.h"
#include "compiler/reference/tensor.h"

namespace aot::clients {
namespace {

struct InspectArgs {
  std::string file;
  bool plan = false;
  // Of --schedule, which reads a model.
  bool schedule = false;
  CompileFlags flags;
  double clock = 2.5;
};

std::string Text(const aot_text& text) { return std::string(text.data, text.size); }

std::string Hex(const uint8_t (&digest)[32]) {
  return absl::BytesToHexString(absl::string_view(reinterpret_cast<const char*>(digest), sizeof(digest)));
}

// The output that tells the dimensions of this one, if the data decides them.
std::optional<std::string> DimsOutput(const aot_manifest& manifest, uint32_t output) {
  aot_manifest_bound bound;
  aot_manifest_tensor dims;
  for (uint32_t i = 0; aot_manifest_bound_at(&manifest, i, &bound); ++i) {
    if (bound.output == output && aot_manifest_output(&manifest, bound.dims, &dims)) return Text(dims.name);
  }
  return std::nullopt;
}

void ReportTensor(const std::string& role, const aot_manifest& manifest, const aot_manifest_tensor& tensor,
                  const std::optional<std::string>& dims_output, Context& context) {
  std::vector<int64_t> shape(tensor.dims, tensor.dims + tensor.rank);
  std::string line = absl::StrCat("  ", role, " ", Text(tensor.name), ": ", aot_dtype_name(tensor.dtype), " ",
                                  reference::ToString(shape), ", ", FormatBytes(static_cast<int64_t>(tensor.bytes)));
  nlohmann::json entry = {
      {"name", Text(tensor.name)}, {"type", aot_dtype_name(tensor.dtype)}, {"shape", shape}, {"bytes", tensor.bytes}};
  if (dims_output) {
    absl::StrAppend(&line, " at most, dimensions in ", *dims_output);
    entry["dims_output"] = *dims_output;
  }
  aot_manifest_quantization quantization;
  if (aot_manifest_quantization_at(&manifest, tensor.quantization, &quantization)) {
    nlohmann::json scales = nlohmann::json::array(), zero_points = nlohmann::json::array();
    for (uint32_t i = 0; i < quantization.count; ++i) {
      double scale = 0;
      int64_t zero_point = 0;
      aot_manifest_quantization_value(&manifest, quantization.first + i, &scale, &zero_point);
      scales.push_back(scale);
      zero_points.push_back(zero_point);
      if (i == 0) absl::StrAppend(&line, ", scale ", scale, ", zero point ", zero_point);
    }
    if (quantization.count > 1) absl::StrAppend(&line, " and more along axis ", quantization.axis);
    entry["quantization"] = {{"axis", quantization.axis}, {"scales", scales}, {"zero_points", zero_points}};
  }
  context.output.Line(line);
  context.output.json()[role + "s"].push_back(std::move(entry));
}

void ReportInterface(const aot_manifest& manifest, Context& context) {
  aot_manifest_tensor tensor;
  std::vector<std::string> inputs, outputs;
  for (uint32_t i = 0; aot_manifest_input(&manifest, i, &tensor); ++i) {
    ReportTensor("input", manifest, tensor, std::nullopt, context);
    inputs.push_back(Text(tensor.name));
  }
  for (uint32_t i = 0; aot_manifest_output(&manifest, i, &tensor); ++i) {
    ReportTensor("output", manifest, tensor, DimsOutput(manifest, i), context);
    outputs.push_back(Text(tensor.name));
  }
  aot_manifest_state state;
  for (uint32_t i = 0; aot_manifest_state_at(&manifest, i, &state); ++i) {
    if (state.input >= inputs.size() || state.output >= outputs.size()) continue;
    context.output.Line(absl::StrCat("  state ", inputs[state.input], " = ", outputs[state.output]));
    context.output.json()["states"].push_back({{"input", inputs[state.input]}, {"output", outputs[state.output]}});
  }
}

void ReportProvenance(const aot_manifest_info& info, const aot_manifest& manifest, Context& context) {
  nlohmann::json& json = context.output.json();
  std::vector<std::string> features;
  aot_text feature;
  for (uint32_t i = 0; aot_manifest_feature(&manifest, i, &feature); ++i) features.push_back(Text(feature));
  json["artifact"] = Hex(info.key);
  json["model"] = {{"name", Text(info.model_name)}, {"sha256", Hex(info.model_sha256)}};
  json["target"] = {{"name", Text(info.target_name)},
                    {"triple", Text(info.triple)},
                    {"cpu_features", features},
                    {"vector_bits", info.vector_bits}};
  json["compiler"] = Text(info.compiler_version);
  json["format_version"] = manifest.version;
  json["code_abi_version"] = info.code_abi_version;
  json["code_sha256"] = Hex(info.code_sha256);
  json["weights_sha256"] = Hex(info.weights_sha256);
  context.output.Line(absl::StrCat("model     ", Text(info.model_name), "  ", Hex(info.model_sha256)));
  context.output.Line(absl::StrCat("artifact  ", Hex(info.key)));
  context.output.Line(absl::StrCat("target    ", Text(info.target_name), " (", Text(info.triple), ") with ",
                                   absl::StrJoin(features, " ")));
  context.output.Line(absl::StrCat("compiler  ", Text(info.compiler_version), ", format ", manifest.version,
                                   ", code ABI ", info.code_abi_version));
  for (absl::string_view option : absl::StrSplit(Text(info.options), '\n', absl::SkipWhitespace())) {
    context.output.Line(absl::StrCat("option    ", option));
    json["options"].push_back(std::string(option));
  }
}

void ReportPlan(const aot_manifest& manifest, bool details, Context& context) {
  uint64_t sum = 0;
  std::vector<std::vector<std::string>> rows = {{"OFFSET", "BYTES", "STEPS", "VALUE"}};
  aot_manifest_plan_entry entry;
  nlohmann::json plan = nlohmann::json::array();
  for (uint32_t i = 0; aot_manifest_plan_at(&manifest, i, &entry); ++i) {
    sum += entry.size;
    rows.push_back({absl::StrCat(entry.offset), absl::StrCat(entry.size),
                    absl::StrCat(entry.first_step, "-", entry.last_step), Text(entry.name)});
    plan.push_back({{"name", Text(entry.name)},
                    {"offset", entry.offset},
                    {"bytes", entry.size},
                    {"first_step", entry.first_step},
                    {"last_step", entry.last_step}});
  }
  const aot_manifest_info& info = manifest.info;
  context.output.Line(absl::StrCat("arena     ", info.arena_size, " bytes, aligned to ", info.arena_alignment, "; ",
                                   rows.size() - 1, " buffers of ", sum, " bytes in all, scratch ", info.scratch_size));
  context.output.json()["arena"] = {{"bytes", info.arena_size},
                                    {"alignment", info.arena_alignment},
                                    {"scratch_bytes", info.scratch_size},
                                    {"plan", std::move(plan)}};
  if (details) context.output.Table(rows);
}

// The bindings of the dimensions, each with the shapes and the memory of its runs.
void ReportBuckets(const aot_manifest& manifest, bool details, Context& context) {
  aot_text name;
  aot_manifest bucket;
  for (uint32_t i = 0; aot_manifest_bucket(&manifest, i, &name, &bucket); ++i) {
    aot_manifest_tensor tensor;
    std::vector<std::string> shapes;
    nlohmann::json inputs = nlohmann::json::array(), outputs = nlohmann::json::array();
    const auto shape_of = [&tensor] { return std::vector<int64_t>(tensor.dims, tensor.dims + tensor.rank); };
    for (uint32_t k = 0; aot_manifest_input(&bucket, k, &tensor); ++k) {
      shapes.push_back(absl::StrCat(Text(tensor.name), " ", reference::ToString(shape_of())));
      inputs.push_back(shape_of());
    }
    for (uint32_t k = 0; aot_manifest_output(&bucket, k, &tensor); ++k) outputs.push_back(shape_of());
    context.output.Line(absl::StrCat("bucket ", i, "  ", Text(name), ": ", absl::StrJoin(shapes, ", ")));
    nlohmann::json& json = context.output.json();
    nlohmann::json whole_plan = std::move(json["arena"]);
    ReportPlan(bucket, details, context);
    json["buckets"].push_back({{"name", Text(name)},
                               {"input_shapes", std::move(inputs)},
                               {"output_shapes", std::move(outputs)},
                               {"arena", std::move(json["arena"])},
                               {"self_test_bytes", bucket.self_test.size}});
    json["arena"] = std::move(whole_plan);
  }
}

void ReportOperators(const aot_manifest& manifest, Context& context) {
  std::string line = "operators";
  aot_manifest_operator op;
  for (uint32_t i = 0; aot_manifest_operator_at(&manifest, i, &op); ++i) {
    absl::StrAppend(&line, i == 0 ? " " : ", ", op.count, " x ", Text(op.name));
    context.output.json()["operators"][Text(op.name)] = op.count;
  }
  context.output.Line(line);
}

absl::Status Run(const InspectArgs& args, Context& context) {
  if (args.schedule) {
    CompileFlags flags = args.flags;
    flags.model = args.file;
    return ShowSchedule(flags, args.clock, context);
  }
  const std::string path = UserPath(args.file);
  absl::StatusOr<std::string> bytes = ReadFile(path);
  if (!bytes.ok()) return bytes.status();
  absl::StatusOr<ArtifactFile> file = OpenArtifact(*bytes, path);
  if (!file.ok()) return file.status();
  const aot_container& container = file->container;
  const aot_manifest& manifest = file->manifest;
  ReportProvenance(manifest.info, manifest, context);
  ReportInterface(manifest, context);
  context.output.Line(absl::StrCat("sizes     file ", bytes->size(), ", code ", container.code_size, ", weights ",
                                   container.weights_size, ", manifest ", container.manifest_size, " bytes"));
  context.output.json()["sizes"] = {{"file", bytes->size()},
                                    {"code", container.code_size},
                                    {"weights", container.weights_size},
                                    {"manifest", container.manifest_size}};
  ReportPlan(manifest, args.plan, context);
  ReportBuckets(manifest, args.plan, context);
  ReportOperators(manifest, context);
  uint64_t self_test = manifest.self_test.size;
  aot_text name;
  aot_manifest bucket;
  for (uint32_t i = 0; aot_manifest_bucket(&manifest, i, &name, &bucket); ++i) self_test += bucket.self_test.size;
  context.output.Line(absl::StrCat("self-test ", self_test > 0 ? absl::StrCat(self_test, " bytes") : "none"));
  context.output.json()["self_test_bytes"] = self_test;
  return absl::OkStatus();
}

}  // namespace

void AddInspect(CLI::App& app, Context& context) {
  auto args = std::make_shared<InspectArgs>();
  CLI::App* command =
      AddCommand(app, context, "inspect",
                 "Shows an artifact's inputs, outputs, arena plan, sizes, operators and provenance", args, &Run);
  command->footer(
      "With --schedule the file is an ONNX model: what the compiler decides for each step (algorithm, tile, packing, "
      "why), what the step has to do, and the time that the cost model gives it. Options are those of compile; the "
      "same "
      "ones give the schedule of the artifact that compile makes.");
  command->add_option("file", args->file, "The .so file; with --schedule the ONNX file")->required();
  CLI::Option* plan = command->add_flag("--plan", args->plan, "List every buffer of the arena (--json always does)");
  CLI::Option* schedule = command->add_flag("--schedule", args->schedule, "Show the schedule of a model");
  schedule->excludes(plan);
  const size_t before = command->get_options().size();
  AddArtifactFlags(command, &args->flags);
  command
      ->add_option("--clock", args->clock,
                   "GHz that predicted times assume, of a core that multiplies and adds one native vector a cycle")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  const std::vector<CLI::Option*> options = command->get_options();
  for (size_t i = before; i < options.size(); ++i) options[i]->needs(schedule);
}

}  // namespace aot::clients
