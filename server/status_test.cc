#include "server/status.h"

#include <gtest/gtest.h>

#include <string>

namespace aot::server {
namespace {

TEST(ToGrpc, KeepsCodeAndMessage) {
  grpc::Status status = ToGrpc(absl::NotFoundError("no such target 'z80'"));
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "no such target 'z80'");
  EXPECT_TRUE(ToGrpc(absl::OkStatus()).ok());
}

TEST(ToGrpc, CutsLongMessagesAtALine) {
  std::string message;
  for (int i = 0; i < 1000; ++i) message += "node " + std::to_string(i) + ": no such operator\n";
  std::string cut = ToGrpc(absl::UnimplementedError(message)).error_message();
  EXPECT_LT(cut.size(), kMaxStatusMessageBytes + 100);
  EXPECT_EQ(cut.substr(0, 6), "node 0");
  EXPECT_NE(cut.find("no such operator\n(cut here: "), std::string::npos) << cut.substr(cut.size() - 100);
}

TEST(CutAtLine, KeepsWholeLines) {
  EXPECT_EQ(CutAtLine("one\ntwo\nthree", 100), "one\ntwo\nthree");
  EXPECT_EQ(CutAtLine("one\ntwo\nthree", 9), "one\ntwo\n(cut here: 6 more bytes)");
  EXPECT_EQ(CutAtLine("one\ntwo", 7), "one\ntwo");
}

TEST(ToGrpc, CountsWhatEscapingTakes) {
  std::string message;
  for (int i = 0; i < 2000; ++i) message += "\xc3\xa4";  // two bytes of UTF-8, six on the wire
  std::string cut = ToGrpc(absl::InternalError(message)).error_message();
  size_t kept = cut.find("\n(cut here: ");
  ASSERT_NE(kept, std::string::npos);
  EXPECT_LE(kept * 3, kMaxStatusMessageBytes);
  EXPECT_EQ(kept % 2, 0u) << "a character was cut in two";
}

}  // namespace
}  // namespace aot::server
