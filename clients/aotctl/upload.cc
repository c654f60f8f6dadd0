#include "clients/aotctl/upload.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"

namespace aot::clients {
namespace {

using v1::CompileService;

constexpr int kAttempts = 3;
constexpr size_t kMaxNameBytes = 256;
constexpr int64_t kDefaultChunk = 1 << 20;

// The bytes to send, by hash: external files may be equal to each other.
std::map<std::string, absl::string_view> FilesByHash(const compiler::Model& model, const ModelDigests& digests) {
  std::map<std::string, absl::string_view> files = {{digests.file.hash, model.bytes}};
  for (const auto& [location, digest] : digests.external) files.emplace(digest.hash, model.external.at(location));
  return files;
}

v1::UploadHeader Header(const ModelDigests& digests, const std::string& name) {
  v1::UploadHeader header;
  // Names are UTF-8 in the API; a file's name need not be.
  std::string printable;
  for (char c : name.substr(0, kMaxNameBytes)) printable.push_back(c >= 0x20 && c < 0x7f ? c : '_');
  header.set_name(printable);
  *header.mutable_model() = ToProto(digests.model);
  *header.mutable_file() = ToProto(digests.file);
  for (const auto& [location, digest] : digests.external) {
    v1::ExternalBlob* blob = header.add_external();
    blob->set_location(location);
    *blob->mutable_digest() = ToProto(digest);
  }
  return header;
}

// One attempt. The stream's own status is what counts: a failed write only says that the server ended it.
absl::Status Upload(const Connection& connection, const v1::UploadHeader& header,
                    const std::map<std::string, absl::string_view>& files, int64_t chunk_bytes, Progress& progress) {
  v1::FindMissingRequest find;
  int64_t total = 0;
  for (const auto& [hash, bytes] : files) {
    *find.add_digests() = ToProto({hash, static_cast<int64_t>(bytes.size())});
  }
  v1::FindMissingResponse missing;
  absl::Status status = connection.Call(connection.compile(), &CompileService::Stub::FindMissing, find, &missing);
  if (!status.ok()) return status;

  std::map<std::string, int64_t> offsets;
  for (const v1::Digest& digest : missing.missing()) {
    v1::QueryUploadRequest query;
    *query.mutable_file() = digest;
    v1::QueryUploadResponse state;
    status = connection.Call(connection.compile(), &CompileService::Stub::QueryUpload, query, &state);
    if (!status.ok()) return status;
    auto file = files.find(digest.hash());
    if (file == files.end() || state.complete()) continue;
    offsets[digest.hash()] = std::clamp<int64_t>(state.committed_bytes(), 0, static_cast<int64_t>(file->second.size()));
    total += static_cast<int64_t>(file->second.size()) - offsets[digest.hash()];
  }

  grpc::ClientContext context;
  v1::UploadModelResponse response;
  auto writer = connection.compile().UploadModel(&context, &response);
  v1::UploadModelRequest request;
  *request.mutable_header() = header;
  bool open = writer->Write(request);
  int64_t sent = 0;
  for (const auto& [hash, start] : offsets) {
    absl::string_view bytes = files.at(hash);
    for (int64_t offset = start; open && offset < static_cast<int64_t>(bytes.size()); offset += chunk_bytes) {
      absl::string_view piece = bytes.substr(static_cast<size_t>(offset), static_cast<size_t>(chunk_bytes));
      v1::UploadChunk* chunk = request.mutable_chunk();
      chunk->set_file_hash(hash);
      chunk->set_offset(offset);
      chunk->set_data(piece.data(), piece.size());
      open = writer->Write(request);
      sent += static_cast<int64_t>(piece.size());
      progress.Update("uploading", sent, total);
    }
  }
  writer->WritesDone();
  status = connection.ToStatus(writer->Finish());
  progress.Clear();
  return status;
}

}  // namespace

v1::Digest ToProto(const Digest& digest) {
  v1::Digest proto;
  proto.set_hash(digest.hash);
  proto.set_size_bytes(digest.size);
  return proto;
}

absl::Status UploadIfNeeded(const Connection& connection, const compiler::Model& model, const ModelDigests& digests,
                            const std::string& name, Progress& progress) {
  v1::FindModelRequest find;
  *find.mutable_digest() = ToProto(digests.model);
  v1::FindModelResponse found;
  absl::Status status = connection.Call(connection.compile(), &CompileService::Stub::FindModel, find, &found);
  if (!absl::IsNotFound(status)) return status;

  v1::GetCapabilitiesResponse capabilities;
  status = connection.Call(connection.compile(), &CompileService::Stub::GetCapabilities, v1::GetCapabilitiesRequest(),
                           &capabilities);
  if (!status.ok()) return status;
  if (capabilities.max_model_bytes() > 0 && digests.model.size > capabilities.max_model_bytes()) {
    return absl::ResourceExhaustedError(absl::StrCat("the model has ", digests.model.size, " bytes; the server takes ",
                                                     capabilities.max_model_bytes(), " at most"));
  }
  const int64_t chunk_bytes = capabilities.max_chunk_bytes() > 0
                                  ? std::min<int64_t>(capabilities.max_chunk_bytes(), kDefaultChunk)
                                  : kDefaultChunk;
  const v1::UploadHeader header = Header(digests, name);
  const std::map<std::string, absl::string_view> files = FilesByHash(model, digests);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    status = Upload(connection, header, files, chunk_bytes, progress);
    // ABORTED: someone else sends the same file. FAILED_PRECONDITION: the stream ended early. UNAVAILABLE: the
    // connection broke. All three can succeed when tried again from the committed offset.
    if (!absl::IsAborted(status) && !absl::IsFailedPrecondition(status) && !absl::IsUnavailable(status)) break;
    absl::SleepFor(absl::Milliseconds(200) * (attempt + 1));
  }
  return status;
}

}  // namespace aot::clients
