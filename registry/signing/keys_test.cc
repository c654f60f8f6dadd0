#include "registry/signing/keys.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <string>

#include "registry/digest.h"
#include "registry/fs/durable.h"
#include "registry/fs/temp_directory.h"
#include "registry/signing/key_store.h"

namespace aot::registry {
namespace {

// RFC 8032, section 7.1, test 1.
constexpr char kSeed[] = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
constexpr char kPublic[] = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
constexpr char kSignature[] =
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe246"
    "55141438e7a100b";

std::string KeyFile(const std::string& seed, const std::string& pub) {
  return R"({"keytype":"ed25519","scheme":"ed25519","keyval":{"public":")" + pub + R"(","private":")" + seed + "\"}}";
}

TEST(KeysTest, AgreesWithTheStandard) {
  SigningKey key = SigningKey::FromFileText(KeyFile(kSeed, kPublic)).value();
  EXPECT_EQ(key.Sign(""), kSignature);
  EXPECT_TRUE(key.public_key().Verify("", kSignature));
  EXPECT_FALSE(key.public_key().Verify("x", kSignature));
  EXPECT_FALSE(key.public_key().Verify("", std::string(kSignature).substr(2)));
  EXPECT_FALSE(key.public_key().Verify("", "not hexadecimal"));
}

TEST(KeysTest, KeyIdIsTheDigestOfTheCanonicalKey) {
  SigningKey key = SigningKey::FromFileText(KeyFile(kSeed, kPublic)).value();
  std::string canonical =
      std::string(R"({"keytype":"ed25519","keyval":{"public":")") + kPublic + R"("},"scheme":"ed25519"})";
  EXPECT_EQ(key.public_key().KeyId(), Digest::Of(canonical).Hex());
}

TEST(KeysTest, RefusesMalformedFiles) {
  for (const std::string& text :
       {std::string(), std::string("{}"), std::string("[]"), std::string("{\"keytype\":1}"), KeyFile("00", kPublic),
        KeyFile(kSeed, std::string(64, '0')), KeyFile(std::string(64, 'x'), kPublic)}) {
    EXPECT_EQ(SigningKey::FromFileText(text).status().code(), absl::StatusCode::kInvalidArgument) << text;
  }
}

TEST(KeysTest, SurvivesTheFile) {
  SigningKey key = SigningKey::Generate().value();
  SigningKey again = SigningKey::FromFileText(key.ToFileText()).value();
  EXPECT_EQ(again.Sign("message"), key.Sign("message"));
}

class KeyStoreTest : public testing::Test {
 protected:
  fs::TempDirectory directory_;
  std::string keys_ = directory_.path() + "/keys";
  std::string medium_ = directory_.path() + "/medium";
  KeyStore store_{keys_, medium_};
};

TEST_F(KeyStoreTest, WritesPrivateFilesAndFindsThemAgain) {
  SigningKey key = store_.Create(Role::kTargets).value();
  std::string id = key.public_key().KeyId();
  std::string path = keys_ + "/targets." + id.substr(0, 16) + ".json";
  struct stat info;
  ASSERT_EQ(stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(keys_.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0700u);
  EXPECT_EQ(store_.Load(Role::kTargets, id)->Sign("m"), key.Sign("m"));
  EXPECT_EQ(store_.LoadOrCreate(Role::kTargets)->Sign("m"), key.Sign("m"));
}

TEST_F(KeyStoreTest, RefusesAKeyThatOthersCanRead) {
  SigningKey key = store_.Create(Role::kTargets).value();
  std::string id = key.public_key().KeyId();
  std::string path = keys_ + "/targets." + id.substr(0, 16) + ".json";
  ASSERT_EQ(chmod(path.c_str(), 0640), 0);
  absl::Status status = store_.Load(Role::kTargets, id).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("chmod 600"), absl::string_view::npos);
}

TEST_F(KeyStoreTest, RootLivesWhereItIsTold) {
  SigningKey key = store_.Create(Role::kRoot).value();
  std::string id = key.public_key().KeyId();
  EXPECT_TRUE(store_.Load(Role::kRoot, id).ok());
  KeyStore without(keys_, directory_.path() + "/elsewhere");
  absl::Status status = without.Load(Role::kRoot, id).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_NE(status.message().find("elsewhere"), absl::string_view::npos);
}

}  // namespace
}  // namespace aot::registry
