// A real HTTP server on loopback for tests, which can misbehave.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

struct mg_context;
struct mg_connection;

namespace aot::ota {

// How the server treats one path.
struct Misbehaviour {
  int64_t cut_after = -1;        // announces the whole length, closes the connection after so many bytes of the body
  int cuts = 1 << 30;            // how many times it does so
  int64_t extra_bytes = 0;       // sends so many bytes more than the object has, announced
  bool chunked_endless = false;  // sends data for as long as the client takes it
  bool stall = false;            // sends the header and then nothing
  int drip_ms = 0;               // sends 64 bytes at a time with so long a pause between
  std::string redirect_to;       // 302
  int error_status = 0;          // answers with this status, and the object as the error page's text
  bool ignore_if_range = false;  // answers a range of the present object whatever the tag says
  bool without_etag = false;
};

class HttpServer {
 public:
  struct Request {
    std::string path;
    std::string range;
  };

  HttpServer();
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // One server for all tests of a process (starting is quick, stopping takes civetweb two seconds), emptied.
  static HttpServer* Shared();

  std::string url() const;

  void Put(const std::string& path, const std::string& bytes);
  void Remove(const std::string& path);
  bool Has(const std::string& path);
  std::string Get(const std::string& path);
  // Replaces all objects of which the path starts with "/tuf/" (an attacker's replay of an earlier state).
  std::map<std::string, std::string> Objects();
  void SetObjects(std::map<std::string, std::string> objects);
  // Answers paths that no object was put under; to be set before the first request.
  void SetFallback(std::function<std::optional<std::string>(const std::string& path)> fallback);
  void Misbehave(const std::string& path, const Misbehaviour& how);
  // Requests since the last call.
  std::vector<Request> TakeRequests();

 private:
  static int Handle(mg_connection* connection, void* context);
  int Serve(mg_connection* connection);

  mg_context* context_ = nullptr;
  int port_ = 0;
  std::mutex mutex_;
  bool stopping_ = false;
  std::map<std::string, std::string> objects_;
  std::map<std::string, Misbehaviour> misbehaviour_;
  std::vector<Request> requests_;
  std::function<std::optional<std::string>(const std::string& path)> fallback_;
};

}  // namespace aot::ota
