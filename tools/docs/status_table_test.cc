#include "tools/docs/status_table.h"

#include <gtest/gtest.h>

namespace aot::docs {
namespace {

std::string Header(const std::string& lines) { return "typedef enum aot_status {\n" + lines + "} aot_status;\n"; }

std::string Message(const std::string& lines) { return std::string(ReadStatusCodes(Header(lines)).status().message()); }

TEST(StatusTable, NamesTheLineThatIsWrittenOtherwise) {
  EXPECT_EQ(Message("  AOT_OK = 0,\n"), "line 2: '  AOT_OK = 0,' isn't `NAME = NUMBER, /* meaning */`");
  EXPECT_EQ(Message("  AOT_OK = 0, /* done */\n  rubbish\n"), "line 3: '  rubbish' is neither a code nor a comment");
}

TEST(StatusTable, HoldsNamesAgainstTheLibrary) {
  EXPECT_EQ(Message("  AOT_FINE = 0, /* done */\n"), "line 2: aot_status_text calls 0 AOT_OK, the header AOT_FINE");
  EXPECT_EQ(Message("  AOT_NEW = 999, /* done */\n"),
            "line 2: aot_status_text calls 999 AOT_UNKNOWN_STATUS, the header AOT_NEW");
}

TEST(StatusTable, MissesACodeOfTheLibrary) {
  EXPECT_EQ(Message("  AOT_OK = 0, /* done */\n"), "aot_status_text knows AOT_INVALID_ARGUMENT, the header doesn't");
}

TEST(StatusTable, WantsAnEnumeration) {
  EXPECT_FALSE(ReadStatusCodes("").ok());
  EXPECT_FALSE(ReadStatusCodes("typedef enum aot_status {\n  AOT_OK = 0, /* done */\n").ok());
}

}  // namespace
}  // namespace aot::docs
