// The HTTP side over a real registry, asked by a real client (libcurl) on loopback.
#include "server/http/http_server.h"

#include <arpa/inet.h>
#include <curl/curl.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "registry/fs/temp_directory.h"
#include "server/http/entity_tag.h"

namespace aot::server {
namespace {

using registry::BlobRef;
using registry::Digest;
using registry::Registry;

struct Answer {
  long code = 0;
  std::string body;
  std::map<std::string, std::string> headers;  // names in lower case
};

size_t TakeBody(char* data, size_t, size_t size, void* to) {
  static_cast<std::string*>(to)->append(data, size);
  return size;
}
size_t TakeHeader(char* data, size_t, size_t size, void* to) {
  std::string line(data, size);
  size_t colon = line.find(':');
  if (colon != std::string::npos) {
    auto& headers = *static_cast<std::map<std::string, std::string>*>(to);
    headers[absl::AsciiStrToLower(line.substr(0, colon))] =
        std::string(absl::StripAsciiWhitespace(absl::string_view(line).substr(colon + 1)));
  }
  return size;
}

class HttpServerTest : public testing::Test {
 protected:
  explicit HttpServerTest(int code_bytes = 1000000) {
    registry_ = Registry::Open(directory_.path()).value();
    registry::ModelRecord model;
    model.blob = BlobRef::Of("model");
    model.digest = model.blob.digest;
    auto writer = registry_->OpenUpload(model.blob).value();
    EXPECT_TRUE(writer->Append("model").ok());
    EXPECT_TRUE(writer->Commit().ok());
    EXPECT_TRUE(registry_->StoreModel(model).ok());
    registry::ArtifactRecord record;
    record.key.digest = Digest::Of("key");
    record.model = model.digest;
    record.target = "cortex-a75";
    for (int i = 0; i < code_bytes; ++i) code_.push_back(static_cast<char>(i * 7 + i / 256));
    artifact_ = registry_->StoreArtifact(record, {absl::string_view("manifest"), code_, absl::string_view("")}).value();
    registry::ReleaseArtifact release;
    release.key = record.key;
    release.target = record.target;
    release.triple = "aarch64-unknown-linux-gnu";
    release.abi = 1;
    release.format = 1;
    EXPECT_TRUE(registry_->Publish({"stable", "m", {release}}).ok());
    Start({});
  }

  void Start(const HttpOptions& options) {
    server_.reset();
    auto server = HttpServer::Start(options, *registry_);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = std::move(*server);
  }

  Answer Ask(const std::string& path, const std::vector<std::string>& headers = {}, const char* method = "GET") {
    Answer answer;
    CURL* curl = curl_easy_init();
    std::string url = absl::StrCat("http://127.0.0.1:", server_->port(), path);
    curl_slist* list = nullptr;
    for (const std::string& h : headers) list = curl_slist_append(list, h.c_str());
    curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
    curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, &TakeBody);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, &answer.body);
    curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, &TakeHeader);
    curl_easy_setopt(curl, CURLOPT_HEADERDATA, &answer.headers);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, 60L);
    if (std::string(method) == "HEAD") {
      curl_easy_setopt(curl, CURLOPT_NOBODY, 1L);
    } else if (std::string(method) != "GET") {
      curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
      curl_easy_setopt(curl, CURLOPT_POSTFIELDS, "a body");
    }
    CURLcode result = curl_easy_perform(curl);
    EXPECT_EQ(result, CURLE_OK) << curl_easy_strerror(result) << " " << path;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer.code);
    curl_slist_free_all(list);
    curl_easy_cleanup(curl);
    return answer;
  }

  int Connect() {
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    int small = 4096;  // or the system would take in the whole object for us
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_port = htons(server_->port());
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
    return fd;
  }

  // Sends bytes as they are and gives all that comes back until the server closes.
  std::string Raw(const std::string& bytes) {
    int fd = Connect();
    EXPECT_GE(send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL), 0);
    std::string answer;
    char buffer[4096];
    for (ssize_t n; (n = recv(fd, buffer, sizeof(buffer), 0)) > 0;) answer.append(buffer, n);
    close(fd);
    return answer;
  }

  std::string CodePath() const { return "/blobs/sha256/" + artifact_.code.digest.Hex(); }

  registry::fs::TempDirectory directory_;
  std::string code_;
  std::unique_ptr<Registry> registry_;
  registry::ArtifactRecord artifact_;
  std::unique_ptr<HttpServer> server_;
};

TEST_F(HttpServerTest, ServesBlobsForEver) {
  Answer a = Ask(CodePath());
  EXPECT_EQ(a.code, 200);
  EXPECT_EQ(a.body, code_);
  EXPECT_EQ(a.headers["etag"], EntityTag(artifact_.code.digest));
  EXPECT_EQ(a.headers["accept-ranges"], "bytes");
  EXPECT_EQ(a.headers["content-length"], "1000000");
  EXPECT_NE(a.headers["cache-control"].find("immutable"), std::string::npos);
  Answer empty = Ask("/blobs/sha256/" + artifact_.weights.digest.Hex());
  EXPECT_EQ(empty.code, 200);
  EXPECT_EQ(empty.headers["content-length"], "0");
}

TEST_F(HttpServerTest, ServesMetadataAndManifests) {
  Answer timestamp = Ask("/tuf/timestamp.json");
  EXPECT_EQ(timestamp.code, 200);
  EXPECT_EQ(timestamp.headers["cache-control"], "no-cache");
  EXPECT_EQ(timestamp.headers["content-type"], "application/json");
  EXPECT_EQ(timestamp.headers["etag"], EntityTag(Digest::Of(timestamp.body)));
  Answer root = Ask("/tuf/1.root.json");
  EXPECT_EQ(root.code, 200);
  EXPECT_NE(root.headers["cache-control"].find("immutable"), std::string::npos);
  EXPECT_EQ(root.body, registry_->TrustedRoot().value());
  Answer manifest = Ask("/tuf/targets/stable/m/" + artifact_.manifest.digest.Hex() + ".cortex-a75.manifest");
  EXPECT_EQ(manifest.body, "manifest");
  EXPECT_EQ(Ask("/tuf/2.root.json").code, 404);
}

TEST_F(HttpServerTest, ServesRanges) {
  Answer a = Ask(CodePath(), {"Range: bytes=100-199"});
  EXPECT_EQ(a.code, 206);
  EXPECT_EQ(a.body, code_.substr(100, 100));
  EXPECT_EQ(a.headers["content-range"], "bytes 100-199/1000000");
  EXPECT_EQ(Ask(CodePath(), {"Range: bytes=600000-"}).body, code_.substr(600000));
  EXPECT_EQ(Ask(CodePath(), {"Range: bytes=-5"}).body, code_.substr(999995));
  a = Ask(CodePath(), {"Range: bytes=1000000-"});
  EXPECT_EQ(a.code, 416);
  EXPECT_EQ(a.headers["content-range"], "bytes */1000000");
  EXPECT_EQ(a.body, "");
  EXPECT_EQ(Ask(CodePath(), {"Range: bytes=0-1,5-6"}).code, 200);
  // Metadata too.
  std::string timestamp = Ask("/tuf/timestamp.json").body;
  EXPECT_EQ(Ask("/tuf/timestamp.json", {"Range: bytes=1-3"}).body, timestamp.substr(1, 3));
}

TEST_F(HttpServerTest, ARangeOfAnotherObjectIsTheWholeObject) {
  std::string tag = EntityTag(artifact_.code.digest);
  EXPECT_EQ(Ask(CodePath(), {"Range: bytes=0-9", "If-Range: " + tag}).code, 206);
  Answer a = Ask(CodePath(), {"Range: bytes=0-9", "If-Range: \"sha256-another\""});
  EXPECT_EQ(a.code, 200);
  EXPECT_EQ(a.body.size(), code_.size());
}

TEST_F(HttpServerTest, AnswersNotModified) {
  std::string tag = EntityTag(artifact_.code.digest);
  Answer a = Ask(CodePath(), {"If-None-Match: " + tag});
  EXPECT_EQ(a.code, 304);
  EXPECT_EQ(a.body, "");
  EXPECT_EQ(a.headers["etag"], tag);
  EXPECT_EQ(Ask(CodePath(), {"If-None-Match: \"x\", W/" + tag}).code, 304);
  EXPECT_EQ(Ask(CodePath(), {"If-None-Match: \"x\""}).code, 200);
}

TEST_F(HttpServerTest, HeadIsGetWithoutTheBody) {
  Answer a = Ask(CodePath(), {}, "HEAD");
  EXPECT_EQ(a.code, 200);
  EXPECT_EQ(a.headers["content-length"], "1000000");
  EXPECT_EQ(a.headers["etag"], EntityTag(artifact_.code.digest));
  EXPECT_EQ(Ask("/nothing", {}, "HEAD").code, 404);
}

TEST_F(HttpServerTest, RefusesOtherMethods) {
  for (const char* method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH"}) {
    Answer a = Ask(CodePath(), {}, method);
    EXPECT_EQ(a.code, 405) << method;
    EXPECT_EQ(a.headers["allow"], "GET, HEAD") << method;
  }
  std::string unknown = Raw("BREW /tuf/timestamp.json HTTP/1.1\r\nHost: x\r\n\r\n");
  EXPECT_TRUE(unknown.empty() || unknown.find("HTTP/1.1 4") == 0 || unknown.find("HTTP/1.1 5") == 0) << unknown;
}

TEST_F(HttpServerTest, RevealsNothingElse) {
  for (const std::string& path :
       {std::string("/"), std::string("/index.db"), std::string("/tuf"), std::string("/tuf/"),
        std::string("/tuf/../index.db"), std::string("/tuf/..%2findex.db"), std::string("/tuf/%2e%2e/keys"),
        std::string("/../../etc/passwd"), std::string("//etc/passwd"), std::string("/tuf/timestamp.json/"),
        std::string("/tuf/timestamp%2ejson"), "/blobs/sha256/" + Digest::Of("model").Hex(), CodePath() + "/..",
        absl::AsciiStrToUpper(CodePath())}) {
    Answer a = Ask(path);
    EXPECT_EQ(a.code, 404) << path;
    EXPECT_EQ(a.body, "not found\n") << path;
  }
}

TEST_F(HttpServerTest, ADamagedBlobIsNotServed) {
  std::string hex = artifact_.code.digest.Hex();
  std::string path = directory_.path() + "/blobs/sha256/" + hex.substr(0, 2) + "/" + hex;
  int fd = open(path.c_str(), O_WRONLY);
  ASSERT_EQ(pwrite(fd, "!", 1, 500000), 1);
  close(fd);
  EXPECT_EQ(Ask(CodePath(), {"Range: bytes=0-9"}).code, 404);
}

TEST_F(HttpServerTest, HealthAndMetrics) {
  EXPECT_EQ(Ask("/healthz").body, "ok\n");
  Ask(CodePath(), {"Range: bytes=0-99"});
  // The counters move when the answer is out: the client can be a moment ahead of them.
  std::string line = "aot_http_requests_total{code=\"206\",object=\"blob\"} 1";
  Answer metrics;
  for (int i = 0; i < 100 && metrics.body.find(line) == std::string::npos; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    metrics = Ask("/metrics");
  }
  EXPECT_EQ(metrics.headers["content-type"], "text/plain; version=0.0.4");
  EXPECT_NE(metrics.body.find(line), std::string::npos) << metrics.body;
  EXPECT_NE(metrics.body.find("aot_http_sent_bytes_total{object=\"blob\"} 100"), std::string::npos) << metrics.body;
}

TEST_F(HttpServerTest, LimitsHeadersAndTime) {
  HttpOptions options;
  options.max_header_bytes = 2048;
  options.request_timeout = absl::Milliseconds(500);
  Start(options);
  std::string huge = "GET /healthz HTTP/1.1\r\nHost: x\r\nX-Filler: " + std::string(8000, 'x') + "\r\n\r\n";
  EXPECT_EQ(Raw(huge).find("HTTP/1.1 200"), std::string::npos);
  // A client that never finishes its request is let go.
  auto begin = std::chrono::steady_clock::now();
  Raw("GET /healthz HTTP/1.1\r\nHost: x\r\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(20));
  EXPECT_EQ(Ask("/healthz").code, 200);
}

TEST_F(HttpServerTest, ManyClientsAtOnce) {
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int c = 0; c < 8; ++c) {
    clients.emplace_back([&, c] {
      for (int i = 0; i < 10; ++i) {
        uint64_t first = (c * 10 + i) * 1000;
        Answer a = Ask(CodePath(), {absl::StrCat("Range: bytes=", first, "-", first + 4999)});
        good += a.code == 206 && a.body == code_.substr(first, 5000);
      }
    });
  }
  for (std::thread& t : clients) t.join();
  EXPECT_EQ(good, 80);
}

// With an object that the system's socket buffers don't take in.
class SlowReaderTest : public HttpServerTest {
 protected:
  SlowReaderTest() : HttpServerTest(8000000) {}
};

TEST_F(SlowReaderTest, IsCutOffAndKeepsNobodyFromTheRest) {
  HttpOptions options;
  options.threads = 3;  // one for blobs
  options.request_timeout = absl::Seconds(1);
  options.min_bytes_per_second = 64 << 20;
  Start(options);
  int fd = Connect();
  std::string request = absl::StrCat("GET ", CodePath(), " HTTP/1.1\r\nHost: x\r\n\r\n");
  ASSERT_GE(send(fd, request.data(), request.size(), MSG_NOSIGNAL), 0);
  char byte[512];
  ASSERT_GT(recv(fd, byte, sizeof(byte), 0), 0);  // under way
  Answer busy = Ask(CodePath());
  EXPECT_EQ(busy.code, 503);
  EXPECT_EQ(busy.headers["retry-after"], "1");
  EXPECT_EQ(Ask("/tuf/timestamp.json").code, 200);
  EXPECT_EQ(Ask("/healthz").code, 200);
  // Trickles until the server has had enough, then takes what is still on the way.
  size_t got = 0;
  auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::seconds(3)) {
    ssize_t n = recv(fd, byte, sizeof(byte), 0);
    if (n <= 0) break;
    got += static_cast<size_t>(n);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    EXPECT_EQ(Ask("/healthz").code, 200);
  }
  std::string rest(1 << 16, '\0');
  for (ssize_t n; (n = recv(fd, rest.data(), rest.size(), 0)) > 0;) got += static_cast<size_t>(n);
  close(fd);
  EXPECT_LT(got, code_.size());
  Answer again = Ask(CodePath());
  for (int i = 0; again.code == 503 && i < 100; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    again = Ask(CodePath());
  }
  EXPECT_EQ(again.code, 200);
  EXPECT_EQ(again.body, code_);
}

TEST_F(HttpServerTest, SaysWhyItCannotStart) {
  HttpOptions options;
  options.port = server_->port();
  absl::Status status = HttpServer::Start(options, *registry_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable);
  EXPECT_NE(status.message().find(absl::StrCat(options.port)), absl::string_view::npos) << status;
  options.address = "localhost";
  EXPECT_EQ(HttpServer::Start(options, *registry_).status().code(), absl::StatusCode::kInvalidArgument);
  options = {};
  options.threads = 2;
  EXPECT_EQ(HttpServer::Start(options, *registry_).status().code(), absl::StatusCode::kInvalidArgument);
  server_->Stop();
  server_->Stop();
}

}  // namespace
}  // namespace aot::server
