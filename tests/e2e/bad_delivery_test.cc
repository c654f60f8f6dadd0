// Deliveries that are wrong, as a device meets them: it says why it doesn't update, keeps running what it has, and
// installs nothing of the rest. The server, the repository and the device program are real; the network between them
// may be an attacker's.
#include <curl/curl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <optional>

#include "runtime/ota/testing/http_server.h"
#include "tests/e2e/testing/installation.h"

namespace aot::e2e {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr char kTarget[] = "x86-64-v2";

size_t Append(char* data, size_t size, size_t count, void* out) {
  static_cast<std::string*>(out)->append(data, size * count);
  return size * count;
}

std::optional<std::string> Download(const std::string& url) {
  std::string body;
  CURL* curl = curl_easy_init();
  curl_easy_setopt(curl, CURLOPT_URL, url.c_str());
  curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
  curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, Append);
  curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body);
  const CURLcode code = curl_easy_perform(curl);
  curl_easy_cleanup(curl);
  return code == CURLE_OK ? std::optional<std::string>(body) : std::nullopt;
}

class BadDeliveryTest : public Installation {
 protected:
  void SetUp() override {
    Installation::SetUp();
    Publish(first_, kTarget);
  }

  // A device that runs the first version.
  void InstallFirst() { ExpectResult(Device(Machine::kHost, "--require-update"), first_); }

  // The device doesn't update, says this, and runs what it had; made to insist, it fails.
  void ExpectKeepsFirst(const ::testing::Matcher<const std::string&>& said, const std::string& url = "",
                        const std::string& environment = "") {
    const DeviceRun run = Device(Machine::kHost, "", url, environment);
    ExpectResult(run, first_);
    EXPECT_EQ(run.Printed("release"), "1");
    EXPECT_THAT(run.err, AllOf(HasSubstr("device: not updated: "), said));
    const DeviceRun strict = Device(Machine::kHost, "--require-update", url, environment);
    EXPECT_EQ(strict.exit_code, 1) << strict.ToString();
    EXPECT_THAT(strict.err, said);
    ExpectResult(Device(Machine::kHost, "--offline"), first_);
  }

  // A device without anything gets nothing, and nothing is installed.
  void ExpectInstallsNothing(const ::testing::Matcher<const std::string&>& said, const std::string& url = "",
                             const std::string& environment = "") {
    const DeviceRun run = Device(Machine::kHost, "", url, environment);
    EXPECT_EQ(run.exit_code, 1) << run.ToString();
    EXPECT_THAT(run.err, said);
    EXPECT_TRUE(run.y.empty());
    EXPECT_FALSE(std::filesystem::exists(State(Machine::kHost) + "/slots/stable/small_net/a"));
    EXPECT_FALSE(std::filesystem::exists(State(Machine::kHost) + "/slots/stable/small_net/b"));
    EXPECT_EQ(Device(Machine::kHost, "--offline").exit_code, 1);
  }

  // A way to the server on which every answer goes through `change`. Returns its URL.
  std::string Through(std::function<void(const std::string& path, std::string* body)> change) {
    ota::HttpServer& wire = *ota::HttpServer::Shared();
    wire.SetFallback([server = Url(), change = std::move(change)](const std::string& path) {
      std::optional<std::string> body = Download(server + path);
      if (body.has_value()) change(path, &*body);
      return body;
    });
    return wire.url();
  }

  // The stored file of a part of the newest artifact.
  std::string StoredCode(const SmallNet& net) {
    const std::string key = Compile(net, kTarget);
    EXPECT_EQ(Aotctl("artifacts get --part code --output " + Path("code") + " " + key).exit_code, 0);
    const std::string digest = RunCommand("sha256sum <" + Path("code")).out.substr(0, 64);
    return Path("data/blobs/sha256/" + digest.substr(0, 2) + "/" + digest);
  }

  const SmallNet first_{1}, second_{2};
};

void FlipInTheMiddle(std::string* bytes) { (*bytes)[bytes->size() / 2] ^= 0x10; }

TEST_F(BadDeliveryTest, AnArtifactForAnotherProcessor) {
  const std::string key = Compile(first_, "cortex-a53");
  ASSERT_EQ(Aotctl("publish --channel arm --name small_net " + key).exit_code, 0);
  const DeviceRun run = Device(Machine::kHost, "--channel arm");
  EXPECT_EQ(run.exit_code, 1) << run.ToString();
  EXPECT_THAT(run.err, AllOf(HasSubstr("AOT_WRONG_TARGET"), HasSubstr("cortex-a53")));
  EXPECT_FALSE(std::filesystem::exists(State(Machine::kHost) + "/slots/arm"));
  // Neither when asked for by name, nor from a file.
  EXPECT_EQ(Device(Machine::kHost, "--channel arm --target cortex-a53").exit_code, 1);
  ASSERT_EQ(Aotctl("artifacts get --output " + Path("arm.so") + " " + key).exit_code, 0);
  const Outcome from_file = Aotctl("run --random " + Path("arm.so"));
  EXPECT_EQ(from_file.exit_code, 7) << from_file.ToString();
  EXPECT_THAT(from_file.err, HasSubstr("aarch64"));
}

TEST_F(BadDeliveryTest, ADamagedFileInTheServersStore) {
  InstallFirst();
  Publish(second_, kTarget);
  const std::string file = StoredCode(second_);
  std::string bytes = ReadFile(file);
  ASSERT_FALSE(bytes.empty()) << file;
  FlipInTheMiddle(&bytes);
  std::filesystem::permissions(file, std::filesystem::perms::owner_write, std::filesystem::perm_options::add);
  WriteFile(file, bytes);
  // A server that trusted the file a moment ago may send it; the device does not take it.
  ExpectKeepsFirst(HasSubstr("AOT_"));
  StopServer();
  StartServer();
  ExpectKeepsFirst(HasSubstr("AOT_NOT_FOUND"));
  EXPECT_FALSE(std::filesystem::exists(file)) << "the damaged file was not set aside";
  // The next compile makes it again, and the release is whole again.
  Compile(second_, kTarget);
  EXPECT_EQ(Counter("workers_started"), 1);
  ExpectResult(Device(Machine::kHost, "--require-update"), second_);
}

TEST_F(BadDeliveryTest, BytesChangedOnTheWire) {
  const auto damage_blobs = [](const std::string& path, std::string* body) {
    if (path.rfind("/blobs/", 0) == 0) FlipInTheMiddle(body);
  };
  const auto damage_manifest = [](const std::string& path, std::string* body) {
    if (path.rfind("/tuf/targets/", 0) == 0) FlipInTheMiddle(body);
  };
  // The manifest first: a device keeps the parts of a failed update that were right.
  ExpectInstallsNothing(HasSubstr("AOT_DIGEST_MISMATCH"), Through(damage_manifest));
  ExpectInstallsNothing(HasSubstr("AOT_DIGEST_MISMATCH"), Through(damage_blobs));
  InstallFirst();
  Publish(second_, kTarget);
  ExpectKeepsFirst(HasSubstr("AOT_DIGEST_MISMATCH"), Through(damage_manifest));
  ExpectKeepsFirst(HasSubstr("AOT_DIGEST_MISMATCH"), Through(damage_blobs));
  ExpectResult(Device(Machine::kHost, "--require-update"), second_);
}

TEST_F(BadDeliveryTest, MetadataChangedOnTheWire) {
  // Each is a signed file; one digit of one version in it is another.
  for (const char* file : {"timestamp.json", "snapshot.json", "targets.json"}) {
    const auto change = [file](const std::string& path, std::string* body) {
      const size_t at = body->find("\"version\":");
      if (path.find(file) != std::string::npos && at != std::string::npos) (*body)[at + 10] = '9';
    };
    // The timestamp by its signature, the others already by the digest that is signed above them.
    const std::string code = std::string(file) == "timestamp.json" ? "AOT_BAD_SIGNATURE" : "AOT_DIGEST_MISMATCH";
    ExpectInstallsNothing(AllOf(HasSubstr(code), HasSubstr(file)), Through(change));
  }
}

TEST_F(BadDeliveryTest, MetadataSignedByAnotherKey) {
  InstallFirst();
  // Another server, with keys of its own, publishes under the same name.
  const std::string root = ReadFile(Path("root.json"));
  StopServer();
  StartServer("impostor");
  Publish(second_, kTarget);
  WriteFile(Path("root.json"), root);
  ExpectKeepsFirst(AllOf(HasSubstr("AOT_BAD_SIGNATURE"), HasSubstr("timestamp.json")));
  std::filesystem::remove_all(State(Machine::kHost));
  ExpectInstallsNothing(AllOf(HasSubstr("AOT_BAD_SIGNATURE"), HasSubstr("timestamp.json")));
}

TEST_F(BadDeliveryTest, AnExpiredTimestamp) {
  // Two days from now the timestamp of today is no news.
  const std::string later =
      "AOT_CLOCK_AHEAD=172800 LD_PRELOAD=" + std::filesystem::absolute("tests/e2e/testing/later_clock.so").string();
  ExpectInstallsNothing(AllOf(HasSubstr("AOT_EXPIRED"), HasSubstr("timestamp.json")), "", later);
  InstallFirst();
  Publish(second_, kTarget);
  ExpectKeepsFirst(AllOf(HasSubstr("AOT_EXPIRED"), HasSubstr("timestamp.json")), "", later);
  ExpectResult(Device(Machine::kHost, "--require-update"), second_);
}

TEST_F(BadDeliveryTest, ARollback) {
  // The device saw the second release; then the server's disk is replaced by an older copy.
  const auto copy = std::filesystem::copy_options::recursive;
  StopServer();
  std::filesystem::copy(Path("data"), Path("old"), copy);
  StartServer();
  Publish(second_, kTarget);
  ExpectResult(Device(Machine::kHost, "--require-update"), second_);
  StopServer();
  StartServer("old");
  const DeviceRun run = Device(Machine::kHost);
  ExpectResult(run, second_);
  EXPECT_EQ(run.Printed("release"), "2");
  EXPECT_THAT(run.err, AllOf(HasSubstr("not updated: AOT_ROLLBACK"), HasSubstr("timestamp.json")));
  EXPECT_EQ(Device(Machine::kHost, "--require-update").exit_code, 1);
}

}  // namespace
}  // namespace aot::e2e
