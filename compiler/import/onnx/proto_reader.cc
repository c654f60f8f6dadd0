#include "compiler/import/onnx/proto_reader.h"

#include <limits>

#include "absl/strings/str_cat.h"
#include "compiler/import/onnx/wire_scan.h"
#include "google/protobuf/io/coded_stream.h"

namespace aot::import::onnx {
namespace {

absl::Status NotAModel(size_t size, absl::string_view why) {
  return absl::InvalidArgumentError(absl::StrCat("not an ONNX model: ", why, " (", size, " bytes)"));
}

}  // namespace

absl::StatusOr<std::shared_ptr<ModelProto>> ParseModel(const std::string& bytes) {
  if (bytes.empty()) return NotAModel(0, "no data");
  if (bytes.size() > static_cast<size_t>(std::numeric_limits<int32_t>::max())) {
    return NotAModel(bytes.size(),
                     "a serialised model holds less than 2 GiB; larger ones keep their weights as external data");
  }
  if (absl::Status scan = ScanModel(bytes); !scan.ok()) return scan;
  auto model = std::make_shared<ModelProto>();
  google::protobuf::io::CodedInputStream stream(reinterpret_cast<const uint8_t*>(bytes.data()),
                                                static_cast<int>(bytes.size()));
  stream.SetRecursionLimit(kDeepestMessage);
  if (!model->ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    return NotAModel(bytes.size(), "the data are truncated or corrupt");
  }
  if (!model->has_graph()) return NotAModel(bytes.size(), "it has no graph");
  return model;
}

}  // namespace aot::import::onnx
