#include "server/services/upload_session.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "server/model_digest.h"
#include "server/services/conversions.h"

namespace aot::server {

absl::Status UploadSession::Receive(const aot::v1::UploadModelRequest& request) {
  switch (request.message_case()) {
    case aot::v1::UploadModelRequest::kHeader:
      if (model_.has_value()) return absl::InvalidArgumentError("a second header: only the first message is a header");
      return ReceiveHeader(request.header());
    case aot::v1::UploadModelRequest::kChunk:
      if (!model_.has_value()) return absl::InvalidArgumentError("the first message is a chunk: it must be the header");
      return ReceiveChunk(request.chunk());
    case aot::v1::UploadModelRequest::MESSAGE_NOT_SET:
      break;
  }
  return absl::InvalidArgumentError("a message that is neither a header nor a chunk");
}

absl::Status UploadSession::ReceiveHeader(const aot::v1::UploadHeader& header) {
  absl::StatusOr<registry::ModelRecord> model =
      ParseHeader(header, {limits_.max_model_bytes, limits_.max_external_blobs});
  if (!model.ok()) return model.status();
  absl::StatusOr<registry::ModelRecord> stored = registry_.FindModel(model->digest);
  if (stored.ok()) {
    known_ = *std::move(stored);
  } else if (!absl::IsNotFound(stored.status())) {
    return stored.status();
  }
  model_ = *std::move(model);
  announced_[model_->blob.digest.Hex()] = model_->blob;
  for (const registry::ExternalBlob& external : model_->external) {
    auto [it, fresh] = announced_.emplace(external.blob.digest.Hex(), external.blob);
    if (it->second != external.blob) {
      return absl::InvalidArgumentError(absl::StrCat("the header announces file ", it->first, " with ", it->second.size,
                                                     " and with ", external.blob.size, " bytes"));
    }
  }
  for (const auto& [hash, file] : announced_) pins_.push_back(registry_.PinBlob(file.digest));
  return absl::OkStatus();
}

absl::Status UploadSession::ReceiveChunk(const aot::v1::UploadChunk& chunk) {
  auto file = announced_.find(chunk.file_hash());
  if (file == announced_.end()) {
    return absl::InvalidArgumentError("a chunk is for a file that the header doesn't announce");
  }
  if (chunk.data().empty() || chunk.data().size() > static_cast<size_t>(limits_.max_chunk_bytes)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a chunk of ", chunk.data().size(), " bytes; 1 to ", limits_.max_chunk_bytes, " are allowed"));
  }
  if (current_ != nullptr && current_file_ != file->second) {
    return absl::InvalidArgumentError(absl::StrCat("a chunk of file ", file->first, " comes before file ",
                                                   current_file_.digest.Hex(), " is complete (", current_->offset(),
                                                   " of ", current_file_.size, " bytes)"));
  }
  if (current_ == nullptr) {
    if (registry_.HasBlob(file->second)) {
      return absl::OutOfRangeError(
          absl::StrCat("file ", file->first, " is stored already; FindMissing tells which files to send"));
    }
    if (absl::Status status = OpenFile(file->second); !status.ok()) return status;
  }
  uint64_t committed = current_->offset();
  if (chunk.offset() < 0 || static_cast<uint64_t>(chunk.offset()) != committed) {
    return absl::OutOfRangeError(absl::StrCat("a chunk of file ", file->first, " at offset ", chunk.offset(),
                                              "; the next one must be at ", committed, " (see QueryUpload)"));
  }
  if (chunk.data().size() > current_file_.size - committed) {
    return absl::OutOfRangeError(absl::StrCat("a chunk of ", chunk.data().size(), " bytes at offset ", committed,
                                              " goes past the end of file ", file->first, ", announced with ",
                                              current_file_.size, " bytes"));
  }
  if (absl::Status status = current_->Append(chunk.data()); !status.ok()) {
    current_.reset();
    return status;
  }
  return current_->offset() == current_file_.size ? CommitFile() : absl::OkStatus();
}

absl::Status UploadSession::OpenFile(const registry::BlobRef& file) {
  absl::StatusOr<std::unique_ptr<registry::BlobWriter>> writer = registry_.OpenUpload(file);
  if (!writer.ok()) return writer.status();
  current_ = *std::move(writer);
  current_file_ = file;
  return absl::OkStatus();
}

absl::Status UploadSession::CommitFile() {
  std::unique_ptr<registry::BlobWriter> writer = std::move(current_);
  return writer->Commit().status();
}

std::vector<registry::BlobRef> UploadSession::Missing() {
  std::vector<registry::BlobRef> missing;
  for (const auto& [hash, file] : announced_) {
    if (!registry_.HasBlob(file)) missing.push_back(file);
  }
  return missing;
}

absl::Status UploadSession::Finish(aot::v1::UploadModelResponse* response) {
  if (!model_.has_value()) return absl::InvalidArgumentError("the stream ended before a header came");
  if (known_.has_value()) {
    Describe(response);
    return absl::OkStatus();
  }
  std::vector<std::string> incomplete;
  for (const registry::BlobRef& file : Missing()) {
    bool in_hand = current_ != nullptr && current_file_ == file;
    if (file.size == 0) {  // no chunk can bring it
      Suspend();
      absl::Status status = OpenFile(file);
      if (status.ok()) status = CommitFile();
      if (!status.ok()) return status;
      continue;
    }
    incomplete.push_back(absl::StrCat(file.digest.Hex(), " (", file.size, " bytes",
                                      in_hand ? absl::StrCat(", ", current_->offset(), " of them here") : "", ")"));
  }
  if (!incomplete.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("the stream ended before these files were complete: ", absl::StrJoin(incomplete, ", "),
                     "; resume at the offset that QueryUpload gives"));
  }
  if (absl::Status status = registry_.StoreModel(*model_); !status.ok()) return status;
  absl::StatusOr<registry::ModelRecord> stored = registry_.FindModel(model_->digest);
  if (!stored.ok()) return stored.status();
  *response->mutable_model() = ToProto(*stored);
  return absl::OkStatus();
}

void UploadSession::Describe(aot::v1::UploadModelResponse* response) const {
  *response->mutable_model() = ToProto(*known_);
  response->set_already_known(true);
}

void UploadSession::Suspend() {
  if (current_ == nullptr) return;
  // If it can't be kept, it's as if nothing had been sent: QueryUpload says so.
  absl::Status kept = current_->Suspend();
  current_.reset();
}

}  // namespace aot::server
