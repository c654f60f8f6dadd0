#include "compiler/emit/manifest_writer.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "compiler/emit/byte_writer.h"
#include "runtime/format/entry.h"
#include "runtime/format/manifest_layout.h"
#include "runtime/format/sha256.h"

namespace aot::emit {
namespace {

absl::Status Invalid(absl::string_view what) { return absl::InvalidArgumentError(absl::StrCat("manifest: ", what)); }

absl::StatusOr<std::string> DigestBytes(absl::string_view hex, absl::string_view what) {
  if (hex.size() != 64) return Invalid(absl::StrCat(what, " has ", hex.size(), " characters, not 64"));
  for (char c : hex) {
    if (!absl::ascii_isxdigit(c)) return Invalid(absl::StrCat(what, " is not hexadecimal"));
  }
  return absl::HexStringToBytes(hex);
}

// Texts of the manifest, each stored once.
class Strings {
 public:
  // Appends the pair (offset, size) of a text to `out`. The text must outlive this.
  absl::Status Refer(absl::string_view text, absl::string_view what, ByteWriter& out) {
    if (text.find('\0') != absl::string_view::npos) {
      return Invalid(absl::StrCat(what, " \"", absl::CHexEscape(text), "\" contains a NUL byte"));
    }
    if (text.size() > AOT_MANIFEST_MAX_SIZE || bytes_.size() > AOT_MANIFEST_MAX_SIZE) {
      return absl::ResourceExhaustedError(
          absl::StrCat("manifest: names take more than ", AOT_MANIFEST_MAX_SIZE, " bytes"));
    }
    const auto [place, added] = places_.try_emplace(text, static_cast<uint32_t>(bytes_.size()));
    if (added) {
      bytes_.append(text.data(), text.size());
      bytes_.push_back('\0');
    }
    out.U32(place->second);
    out.U32(static_cast<uint32_t>(text.size()));
    return absl::OkStatus();
  }
  const std::string& bytes() const { return bytes_; }

 private:
  absl::flat_hash_map<absl::string_view, uint32_t> places_;
  std::string bytes_;
};

// Starts an array section; `count` records of `record_size` bytes must follow.
ByteWriter Array(size_t count, uint32_t record_size) {
  ByteWriter array;
  array.U32(static_cast<uint32_t>(count));
  array.U32(record_size);
  return array;
}

class Writer {
 public:
  Writer(const ManifestData& data, const PartFacts& parts) : data_(data), parts_(parts) {}

  absl::StatusOr<std::string> Write() {
    for (absl::Status status :
         {Info(), Features(), Tensors(), States(), Bounds(), Plan(), Operators(), SelfTestVector(), Buckets()}) {
      if (!status.ok()) return status;
    }
    sections_.emplace_back(AOT_TAG_STRINGS, strings_.bytes());
    return Assemble();
  }

 private:
  absl::Status Info() {
    absl::StatusOr<std::string> key = DigestBytes(data_.key, "artifact key");
    if (!key.ok()) return key.status();
    absl::StatusOr<std::string> model = DigestBytes(data_.model_digest, "model digest");
    if (!model.ok()) return model.status();
    ByteWriter info;
    info.Bytes(*key);
    info.Bytes(*model);
    info.Bytes(parts_.code_digest);
    info.Bytes(parts_.weights_digest);
    info.U64(parts_.code_size);
    info.U64(parts_.weights_size);
    info.U64(data_.arena_size);
    info.U64(data_.scratch_size);
    info.U64(parts_.descriptor_address);
    info.U32(data_.arena_alignment);
    info.U32(data_.page_size);
    info.U32(AOT_CODE_ABI_VERSION);
    info.U32(data_.vector_bits);
    for (const auto& [text, what] :
         {std::pair(&data_.model_name, "model name"), std::pair(&data_.compiler_version, "compiler version"),
          std::pair(&data_.options, "options"), std::pair(&data_.target_name, "target name"),
          std::pair(&data_.triple, "triple")}) {
      if (absl::Status status = strings_.Refer(*text, what, info); !status.ok()) return status;
    }
    sections_.emplace_back(AOT_TAG_INFO, info.Take());
    return absl::OkStatus();
  }

  absl::Status Features() {
    ByteWriter out = Array(data_.cpu_features.size(), AOT_FEATURE_SIZE);
    for (const std::string& feature : data_.cpu_features) {
      if (absl::Status status = strings_.Refer(feature, "CPU feature", out); !status.ok()) return status;
    }
    sections_.emplace_back(AOT_TAG_CPU_FEATURES, out.Take());
    return absl::OkStatus();
  }

  absl::Status Tensors() {
    ByteWriter dims, quantizations, values;
    size_t dim_count = 0, quantization_count = 0, value_count = 0;
    for (const auto& [tag, tensors] :
         {std::pair(AOT_TAG_INPUTS, &data_.inputs), std::pair(AOT_TAG_OUTPUTS, &data_.outputs)}) {
      ByteWriter out = Array(tensors->size(), AOT_TENSOR_SIZE);
      for (const Tensor& tensor : *tensors) {
        if (absl::Status status = strings_.Refer(tensor.name, "tensor name", out); !status.ok()) return status;
        absl::StatusOr<uint64_t> bytes = ByteSize(tensor);
        if (!bytes.ok()) return bytes.status();
        out.U32(tensor.dtype);
        out.U32(static_cast<uint32_t>(tensor.dims.size()));
        out.U32(static_cast<uint32_t>(dim_count));
        out.U32(tensor.quantization ? static_cast<uint32_t>(quantization_count++) : AOT_NO_INDEX);
        out.U64(*bytes);
        for (int64_t dim : tensor.dims) dims.I64(dim);
        dim_count += tensor.dims.size();
        if (!tensor.quantization) continue;
        const Quantization& q = *tensor.quantization;
        if (q.scales.empty() || q.scales.size() != q.zero_points.size()) {
          return Invalid(absl::StrCat("tensor ", tensor.name, " has ", q.scales.size(), " scales and ",
                                      q.zero_points.size(), " zero points"));
        }
        quantizations.U32(static_cast<uint32_t>(q.axis));
        quantizations.U32(static_cast<uint32_t>(value_count));
        quantizations.U32(static_cast<uint32_t>(q.scales.size()));
        quantizations.U32(0);
        for (size_t i = 0; i < q.scales.size(); ++i) {
          values.F64(q.scales[i]);
          values.I64(q.zero_points[i]);
        }
        value_count += q.scales.size();
      }
      sections_.emplace_back(tag, out.Take());
    }
    AddArray(AOT_TAG_DIMS, dim_count, AOT_DIM_SIZE, dims);
    AddArray(AOT_TAG_QUANTIZATIONS, quantization_count, AOT_QUANTIZATION_SIZE, quantizations);
    AddArray(AOT_TAG_QUANTIZATION_VALUES, value_count, AOT_QUANTIZATION_VALUE_SIZE, values);
    return absl::OkStatus();
  }

  static absl::StatusOr<uint64_t> ByteSize(const Tensor& tensor) {
    uint64_t bytes = aot_dtype_bytes(tensor.dtype);
    if (bytes == 0)
      return Invalid(absl::StrCat("tensor ", tensor.name, " has type ", tensor.dtype, ", which artifacts can't hold"));
    if (tensor.dims.size() > AOT_MAX_RANK) {
      return Invalid(absl::StrCat("tensor ", tensor.name, " has rank ", tensor.dims.size(), ", the limit is ",
                                  static_cast<int>(AOT_MAX_RANK)));
    }
    for (int64_t dim : tensor.dims) {
      if (dim < 0 || !aot_multiply_u64(bytes, static_cast<uint64_t>(dim), &bytes) || bytes > INT64_MAX) {
        return Invalid(absl::StrCat("tensor ", tensor.name, ": dimension ", dim, " is negative or makes it too large"));
      }
    }
    return bytes;
  }

  absl::Status States() {
    ByteWriter records;
    for (const State& state : data_.states) {
      records.U32(state.input);
      records.U32(state.output);
    }
    AddArray(AOT_TAG_STATES, data_.states.size(), AOT_STATE_SIZE, records);
    return absl::OkStatus();
  }

  absl::Status Bounds() {
    ByteWriter records;
    for (const Bound& bound : data_.bounds) {
      records.U32(bound.output);
      records.U32(bound.dims);
    }
    AddArray(AOT_TAG_BOUNDS, data_.bounds.size(), AOT_BOUND_SIZE, records);
    return absl::OkStatus();
  }

  absl::Status Plan() {
    ByteWriter records;
    for (const PlanEntry& entry : data_.plan) {
      if (absl::Status status = strings_.Refer(entry.name, "value name", records); !status.ok()) return status;
      records.U64(entry.offset);
      records.U64(entry.size);
      records.U32(entry.first_step);
      records.U32(entry.last_step);
    }
    AddArray(AOT_TAG_PLAN, data_.plan.size(), AOT_PLAN_SIZE, records);
    return absl::OkStatus();
  }

  absl::Status Operators() {
    ByteWriter records;
    for (const Operator& op : data_.operators) {
      if (absl::Status status = strings_.Refer(op.name, "operator", records); !status.ok()) return status;
      records.U32(op.count);
      records.U32(0);
    }
    AddArray(AOT_TAG_OPERATORS, data_.operators.size(), AOT_OPERATOR_SIZE, records);
    return absl::OkStatus();
  }

  absl::Status SelfTestVector() {
    if (!data_.self_test) return absl::OkStatus();
    const SelfTest& test = *data_.self_test;
    if (test.inputs.size() != data_.inputs.size() || test.outputs.size() != data_.outputs.size()) {
      return Invalid(absl::StrCat("the self-test has ", test.inputs.size(), " inputs and ", test.outputs.size(),
                                  " outputs, the model ", data_.inputs.size(), " and ", data_.outputs.size()));
    }
    ByteWriter inputs, outputs, samples, bytes;
    size_t sample_count = 0;
    for (const SelfTestInput& input : test.inputs) {
      inputs.U32(input.kind);
      inputs.U32(input.fraction_bits);
      inputs.I64(input.low);
      inputs.I64(input.high);
      inputs.U32(static_cast<uint32_t>(bytes.size()));
      inputs.U32(static_cast<uint32_t>(input.data.size()));
      bytes.Bytes(input.data);
    }
    for (size_t i = 0; i < test.outputs.size(); ++i) {
      const SelfTestOutput& output = test.outputs[i];
      outputs.U32(output.tolerance);
      outputs.U32(static_cast<uint32_t>(sample_count));
      outputs.U32(static_cast<uint32_t>(output.samples.size()));
      outputs.U32(0);
      outputs.F64(output.relative);
      outputs.F64(output.absolute);
      sample_count += output.samples.size();
      for (const SelfTestSample& sample : output.samples) {
        samples.U64(sample.index);
        if (aot_dtype_is_float(data_.outputs[i].dtype)) {
          samples.F64(sample.float_value);
        } else {
          samples.I64(sample.int_value);
        }
      }
    }
    ByteWriter out;
    out.U64(test.seed);
    out.U32(static_cast<uint32_t>(test.inputs.size()));
    out.U32(static_cast<uint32_t>(test.outputs.size()));
    out.U32(static_cast<uint32_t>(sample_count));
    out.U32(static_cast<uint32_t>(bytes.size()));
    for (const ByteWriter* part : {&inputs, &outputs, &samples, &bytes}) out.Bytes(part->bytes());
    if (out.size() > AOT_MAX_SELF_TEST_SIZE) {
      return absl::ResourceExhaustedError(absl::StrCat("manifest: a self-test vector of ", out.size(),
                                                       " bytes; the limit is ",
                                                       static_cast<int>(AOT_MAX_SELF_TEST_SIZE)));
    }
    sections_.emplace_back(AOT_TAG_SELF_TEST, out.Take());
    return absl::OkStatus();
  }

  absl::Status Buckets() {
    if (data_.buckets.empty()) return absl::OkStatus();
    ByteWriter out = Array(data_.buckets.size(), AOT_BUCKET_SIZE);
    ByteWriter manifests;
    const size_t start = AOT_ARRAY_HEADER_SIZE + data_.buckets.size() * AOT_BUCKET_SIZE;  // a multiple of 8
    for (const Bucket& bucket : data_.buckets) {
      ManifestData data = bucket.data;
      data.key = data_.key;
      data.model_digest = data_.model_digest;
      data.arena_alignment = data_.arena_alignment;
      data.page_size = data_.page_size;
      data.vector_bits = data_.vector_bits;
      absl::StatusOr<std::string> bytes = WriteManifest(data, parts_);
      if (!bytes.ok()) {
        return absl::Status(bytes.status().code(),
                            absl::StrCat("bucket ", bucket.name, ": ", bytes.status().message()));
      }
      if (absl::Status status = strings_.Refer(bucket.name, "bucket name", out); !status.ok()) return status;
      manifests.PadTo(8);
      out.U32(static_cast<uint32_t>(start + manifests.size()));
      out.U32(static_cast<uint32_t>(bytes->size()));
      manifests.Bytes(*bytes);
      if (manifests.size() > AOT_MANIFEST_MAX_SIZE) {
        return absl::ResourceExhaustedError(
            absl::StrCat("manifest: buckets of more than ", static_cast<int>(AOT_MANIFEST_MAX_SIZE), " bytes"));
      }
    }
    out.Bytes(manifests.bytes());
    sections_.emplace_back(AOT_TAG_BUCKETS, out.Take());
    return absl::OkStatus();
  }

  void AddArray(uint32_t tag, size_t count, uint32_t record_size, const ByteWriter& records) {
    if (count == 0) return;  // absent and empty mean the same; one of them is written
    ByteWriter out = Array(count, record_size);
    out.Bytes(records.bytes());
    sections_.emplace_back(tag, out.Take());
  }

  absl::StatusOr<std::string> Assemble() {
    // Sizes first: each section starts at a multiple of 8.
    uint64_t offset = AOT_HEADER_SIZE + sections_.size() * AOT_SECTION_ENTRY_SIZE;
    std::vector<uint64_t> offsets;
    for (const auto& section : sections_) {
      offset = (offset + 7) / 8 * 8;
      offsets.push_back(offset);
      offset += section.second.size();
    }
    const uint64_t total = (offset + 7) / 8 * 8 + AOT_MANIFEST_DIGEST_SIZE;
    if (total > AOT_MANIFEST_MAX_SIZE) {
      return absl::ResourceExhaustedError(
          absl::StrCat("manifest: ", total, " bytes; the limit is ", static_cast<int>(AOT_MANIFEST_MAX_SIZE)));
    }
    ByteWriter out;
    for (uint32_t word :
         {AOT_MANIFEST_MAGIC, AOT_FORMAT_VERSION, static_cast<uint32_t>(total), static_cast<uint32_t>(AOT_HEADER_SIZE),
          static_cast<uint32_t>(sections_.size()), static_cast<uint32_t>(AOT_SECTION_ENTRY_SIZE), 0u, 0u}) {
      out.U32(word);
    }
    for (size_t i = 0; i < sections_.size(); ++i) {
      out.U32(sections_[i].first);
      // What running doesn't need can be skipped.
      const uint32_t tag = sections_[i].first;
      out.U32(tag <= AOT_TAG_STATES || tag == AOT_TAG_BOUNDS || tag == AOT_TAG_BUCKETS ? AOT_SECTION_REQUIRED : 0);
      out.U32(static_cast<uint32_t>(offsets[i]));
      out.U32(static_cast<uint32_t>(sections_[i].second.size()));
    }
    for (const auto& section : sections_) {
      out.PadTo(8);
      out.Bytes(section.second);
    }
    out.PadTo(8);
    uint8_t digest[AOT_SHA256_SIZE];
    aot_sha256(out.bytes().data(), out.size(), digest);
    out.Bytes({reinterpret_cast<const char*>(digest), sizeof digest});
    return out.Take();
  }

  const ManifestData& data_;
  const PartFacts& parts_;
  Strings strings_;
  std::vector<std::pair<uint32_t, std::string>> sections_;
};

}  // namespace

void ManifestData::SetTarget(const target::Description& target) {
  target_name = target.name;
  triple = target.triple;
  cpu_features = target.required_features;
  vector_bits = static_cast<uint32_t>(target.vector_bits);
  page_size = static_cast<uint32_t>(target.max_page_size);
}

absl::StatusOr<std::string> WriteManifest(const ManifestData& data, const PartFacts& parts) {
  absl::StatusOr<std::string> bytes = Writer(data, parts).Write();
  if (!bytes.ok()) return bytes;
  // The reader's checks are the format's limits: whatever it refuses must not leave here.
  aot_manifest manifest;
  aot_fault fault;
  if (!aot_manifest_open(bytes->data(), bytes->size(), &manifest, &fault)) {
    char text[256];
    aot_fault_text(&fault, text, sizeof text);
    return Invalid(text);
  }
  return bytes;
}

}  // namespace aot::emit
