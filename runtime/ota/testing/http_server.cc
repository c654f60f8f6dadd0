#include "runtime/ota/testing/http_server.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <thread>
#include <utility>

#include <civetweb.h>

#include "runtime/ota/digest.h"

namespace aot::ota {

HttpServer::HttpServer() {
  const char* options[] = {"listening_ports", "127.0.0.1:0", "num_threads", "4", nullptr};
  context_ = mg_start(nullptr, nullptr, options);
  if (context_ == nullptr) abort();
  mg_server_port port;
  if (mg_get_server_ports(context_, 1, &port) != 1) abort();
  port_ = port.port;
  mg_set_request_handler(context_, "/", &HttpServer::Handle, this);
}

HttpServer::~HttpServer() {
  {
    std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  mg_stop(context_);
}

HttpServer* HttpServer::Shared() {
  static HttpServer* const server = new HttpServer;
  std::lock_guard<std::mutex> lock(server->mutex_);
  server->objects_.clear();
  server->misbehaviour_.clear();
  server->requests_.clear();
  server->fallback_ = nullptr;
  return server;
}

std::string HttpServer::url() const { return "http://127.0.0.1:" + std::to_string(port_); }

void HttpServer::Put(const std::string& path, const std::string& bytes) {
  std::lock_guard<std::mutex> lock(mutex_);
  objects_[path] = bytes;
}

void HttpServer::Remove(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  objects_.erase(path);
}

bool HttpServer::Has(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  return objects_.count(path) != 0;
}

std::string HttpServer::Get(const std::string& path) {
  std::lock_guard<std::mutex> lock(mutex_);
  return objects_[path];
}

std::map<std::string, std::string> HttpServer::Objects() {
  std::lock_guard<std::mutex> lock(mutex_);
  return objects_;
}

void HttpServer::SetObjects(std::map<std::string, std::string> objects) {
  std::lock_guard<std::mutex> lock(mutex_);
  objects_ = std::move(objects);
}

void HttpServer::SetFallback(std::function<std::optional<std::string>(const std::string& path)> fallback) {
  std::lock_guard<std::mutex> lock(mutex_);
  fallback_ = std::move(fallback);
}

void HttpServer::Misbehave(const std::string& path, const Misbehaviour& how) {
  std::lock_guard<std::mutex> lock(mutex_);
  misbehaviour_[path] = how;
}

std::vector<HttpServer::Request> HttpServer::TakeRequests() {
  std::lock_guard<std::mutex> lock(mutex_);
  return std::exchange(requests_, {});
}

int HttpServer::Handle(mg_connection* connection, void* context) {
  return static_cast<HttpServer*>(context)->Serve(connection);
}

int HttpServer::Serve(mg_connection* connection) {
  const std::string path = mg_get_request_info(connection)->local_uri;
  const char* range = mg_get_header(connection, "Range");
  const char* if_range = mg_get_header(connection, "If-Range");
  std::string body;
  Misbehaviour how;
  bool found = false;
  {
    std::lock_guard<std::mutex> lock(mutex_);
    requests_.push_back({path, range != nullptr ? range : ""});
    const auto object = objects_.find(path);
    found = object != objects_.end();
    if (found) body = object->second;
    if (!found && fallback_) {
      const std::optional<std::string> other = fallback_(path);
      found = other.has_value();
      body = other.value_or("");
    }
    const auto bad = misbehaviour_.find(path);
    if (bad != misbehaviour_.end()) {
      how = bad->second;
      if (how.cut_after >= 0 && bad->second.cuts-- <= 0) how.cut_after = -1;
    }
  }
  if (!how.redirect_to.empty()) {
    mg_printf(connection, "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", how.redirect_to.c_str());
    return 302;
  }
  if (how.error_status != 0) {
    mg_printf(connection, "HTTP/1.1 %d Error\r\nContent-Length: %zu\r\n\r\n", how.error_status, body.size());
    mg_write(connection, body.data(), body.size());
    return how.error_status;
  }
  if (!found) {
    mg_printf(connection, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n");
    return 404;
  }
  if (how.chunked_endless) {
    mg_printf(connection, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const std::string chunk(8192, 'x');
    while (mg_send_chunk(connection, chunk.data(), static_cast<unsigned>(chunk.size())) > 0) {
      std::lock_guard<std::mutex> lock(mutex_);
      if (stopping_) break;
    }
    return 200;
  }
  const std::string etag = "\"sha256-" + Sha256Of(body).Hex() + "\"";
  size_t start = 0;
  if (range != nullptr && (if_range == nullptr || if_range == etag || how.ignore_if_range))
    start = static_cast<size_t>(strtoull(range + 6, nullptr, 10));
  if (start > body.size() || (start == body.size() && start > 0)) {
    mg_printf(connection,
              "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Range: bytes */%zu\r\nContent-Length: 0\r\n\r\n",
              body.size());
    return 416;
  }
  const std::string total = std::to_string(body.size());
  std::string part = body.substr(start) + std::string(static_cast<size_t>(how.extra_bytes), 'x');
  mg_printf(connection, "HTTP/1.1 %s\r\nContent-Length: %zu\r\nAccept-Ranges: bytes\r\n",
            start > 0 ? "206 Partial Content" : "200 OK", part.size());
  if (!how.without_etag) mg_printf(connection, "ETag: %s\r\n", etag.c_str());
  if (start > 0) mg_printf(connection, "Content-Range: bytes %zu-%zu/%s\r\n", start, body.size() - 1, total.c_str());
  const bool cut = how.cut_after >= 0 && static_cast<size_t>(how.cut_after) < part.size();
  mg_printf(connection, "Connection: %s\r\n\r\n", cut || how.stall ? "close" : "keep-alive");
  for (bool stopped = false; how.stall && !stopped;) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::lock_guard<std::mutex> lock(mutex_);
    stopped = stopping_;
  }
  if (how.stall) return 200;
  if (cut) part.resize(static_cast<size_t>(how.cut_after));
  for (size_t at = 0; how.drip_ms > 0 && at < part.size(); at += 64) {
    if (mg_write(connection, part.data() + at, std::min<size_t>(64, part.size() - at)) <= 0) return 200;
    std::this_thread::sleep_for(std::chrono::milliseconds(how.drip_ms));
  }
  if (how.drip_ms == 0) mg_write(connection, part.data(), part.size());
  if (cut) mg_close_connection(connection);
  return 200;
}

}  // namespace aot::ota
