#include "compiler/emit/assemble.h"

#include <fstream>
#include <sstream>

#include "compiler/emit/testdata/affine_artifact.h"
#include "gtest/gtest.h"

namespace aot::emit {
namespace {

AffineArtifact Affine() {
  std::ifstream file("compiler/emit/testdata/affine.aarch64.o", std::ios::binary);
  std::stringstream object;
  object << file.rdbuf();
  absl::StatusOr<AffineArtifact> artifact = MakeAffine("cortex-a75", object.str());
  EXPECT_TRUE(artifact.ok()) << artifact.status();
  return *std::move(artifact);
}

TEST(Assemble, SameInputSameBytes) {
  const AffineArtifact one = Affine(), two = Affine();
  EXPECT_EQ(one.manifest, two.manifest);
  EXPECT_EQ(one.code, two.code);
  EXPECT_EQ(*one.File(), *two.File());
}

TEST(Assemble, TheFileStartsWithTheCode) {
  const AffineArtifact artifact = Affine();
  const std::string file = *artifact.File();
  EXPECT_EQ(file.substr(0, artifact.code.size()), artifact.code);
  EXPECT_EQ(file.substr((artifact.code.size() + 16383) / 16384 * 16384, artifact.weights.size()), artifact.weights);
}

TEST(Assemble, ManifestAndCodeMustAgree) {
  const auto message = [](auto change) {
    AffineArtifact artifact = Affine();
    change(artifact);
    const absl::Status status = artifact.Rebuild();
    EXPECT_EQ(status.code(), absl::StatusCode::kInternal);
    return std::string(status.message());
  };
  EXPECT_NE(message([](AffineArtifact& a) { a.data.key[0] = 'f'; }).find("artifact key 0001"), std::string::npos);
  EXPECT_NE(message([](AffineArtifact& a) { a.data.arena_size = 128; }).find("arena size 64, the manifest 128"),
            std::string::npos);
  EXPECT_NE(message([](AffineArtifact& a) { a.weights += "more"; }).find("weights size 32, the manifest 36"),
            std::string::npos);
  EXPECT_NE(message([](AffineArtifact& a) { a.data.page_size = 4096; }).find("was linked for 32 bytes of weights"),
            std::string::npos);
  EXPECT_NE(message([](AffineArtifact& a) { a.code = "no code"; }).find("code object"), std::string::npos);
}

TEST(Assemble, AFileIsMadeOfMatchingPartsOnly) {
  const AffineArtifact artifact = Affine();
  const auto code = [](absl::string_view manifest, absl::string_view code, absl::string_view weights) {
    return SharedObject(manifest, code, weights).status().code();
  };
  std::string other_weights = artifact.weights;
  other_weights[0] ^= 1;
  EXPECT_EQ(code(artifact.manifest, artifact.code, artifact.weights), absl::StatusCode::kOk);
  EXPECT_EQ(code("", artifact.code, artifact.weights), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(artifact.manifest, artifact.code + "x", artifact.weights), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(artifact.manifest, artifact.code, other_weights), absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace aot::emit
