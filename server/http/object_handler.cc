#include "server/http/object_handler.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "server/http/byte_range.h"
#include "server/http/entity_tag.h"

namespace aot::server {
namespace {

using registry::BlobReader;
using registry::BlobRef;
using registry::RepositoryObject;

constexpr size_t kChunk = 64 * 1024;

// Bytes that can be sent, wherever they are: metadata in memory, a blob on the disk.
class Content {
 public:
  explicit Content(std::string bytes) : bytes_(std::move(bytes)), ref_(BlobRef::Of(bytes_)) {}
  explicit Content(std::unique_ptr<BlobReader> reader) : reader_(std::move(reader)), ref_(reader_->ref()) {}

  const BlobRef& ref() const { return ref_; }

  // Sends [first, first + length). False: the disk failed, or the client did or is too slow.
  bool Send(const Transfers& transfers, Exchange& exchange, uint64_t first, uint64_t length) const {
    const Pace pace(transfers);
    if (!reader_) return pace.SendBody(exchange, absl::string_view(bytes_).substr(first, length));
    std::string buffer(std::min<uint64_t>(length, kChunk), '\0');
    while (length > 0) {
      size_t n = static_cast<size_t>(std::min<uint64_t>(length, kChunk));
      if (!reader_->ReadAt(first, buffer.data(), n).ok()) return false;
      if (!pace.SendBody(exchange, absl::string_view(buffer.data(), n))) return false;
      first += n;
      length -= n;
    }
    return true;
  }

 private:
  std::string bytes_;
  std::unique_ptr<BlobReader> reader_;
  BlobRef ref_;
};

absl::StatusOr<Content> OpenObject(registry::Registry& registry, RepositoryObject object) {
  if (object.metadata) return Content(std::move(*object.metadata));
  // Ranges of one download come close together; each device compares the digest of what it got anyway.
  absl::StatusOr<std::unique_ptr<BlobReader>> reader = registry.OpenBlob(*object.blob, registry::Verify::kRecently);
  if (!reader.ok()) return reader.status();
  return Content(std::move(*reader));
}

void SendContent(const Transfers& transfers, Exchange& exchange, const Content& content, bool json, bool immutable) {
  const uint64_t size = content.ref().size;
  std::string tag = EntityTag(content.ref().digest);
  Exchange::Headers headers = {
      {"ETag", tag},
      {"Cache-Control", immutable ? "public, max-age=31536000, immutable" : "no-cache"},
      {"Accept-Ranges", "bytes"},
  };
  if (NoneMatchHits(exchange.header("If-None-Match"), tag)) {
    exchange.SendHead(304, 0, headers);
    return;
  }
  headers.emplace_back("Content-Type", json ? "application/json" : "application/octet-stream");
  absl::string_view range_header = exchange.header("Range");
  if (!RangeAllowed(exchange.header("If-Range"), tag)) range_header = "";
  // RFC 9110 defines Range for GET alone.
  ByteRange range = ParseByteRange(exchange.is_head() ? "" : range_header, size);
  switch (range.kind) {
    case ByteRange::Kind::kUnsatisfiable:
      headers.emplace_back("Content-Range", absl::StrCat("bytes */", size));
      exchange.SendHead(416, 0, headers);
      return;
    case ByteRange::Kind::kPart:
      headers.emplace_back("Content-Range",
                           absl::StrCat("bytes ", range.first, "-", range.first + range.length - 1, "/", size));
      exchange.SendHead(206, range.length, headers);
      break;
    case ByteRange::Kind::kWhole:
      exchange.SendHead(200, size, headers);
      break;
  }
  if (exchange.is_head() || range.length == 0) return;
  if (!content.Send(transfers, exchange, range.first, range.length)) exchange.Abort();
}

}  // namespace

const char* HandleObject(registry::Registry& registry, Transfers& transfers, Exchange& exchange) {
  absl::StatusOr<RepositoryObject> object = registry.Resolve(exchange.path());
  std::optional<Transfers::Slot> slot;
  if (object.ok() && object->blob) {
    slot = transfers.TryBegin();
    if (!slot) {
      exchange.Send(503, "text/plain", "too many downloads at once\n",
                    {{"Cache-Control", "no-store"}, {"Retry-After", "1"}});
      return "blob";
    }
  }
  absl::StatusOr<Content> content = absl::NotFoundError("");
  bool json = object.ok() && object->metadata.has_value();
  bool immutable = object.ok() && object->immutable;
  if (object.ok()) {
    content = OpenObject(registry, std::move(*object));
  } else {
    content = object.status();
  }
  if (content.ok()) {
    SendContent(transfers, exchange, *content, json, immutable);
    return json ? "metadata" : "blob";
  }
  // The details are for the operator, who finds them by the registry's own checks; a client learns only the kind.
  if (absl::IsNotFound(content.status())) {
    exchange.Send(404, "text/plain", "not found\n", {{"Cache-Control", "no-cache"}});
  } else {
    exchange.Send(503, "text/plain", "the repository can't be read now\n", {{"Cache-Control", "no-store"}});
  }
  return "none";
}

}  // namespace aot::server
