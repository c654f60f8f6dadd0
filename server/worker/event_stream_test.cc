#include "server/worker/event_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace aot::server {
namespace {

std::string TwoEvents() {
  std::string bytes;
  WorkerEvent progress, failure;
  progress.mutable_progress()->set_done(7);
  failure.mutable_failure()->set_message("no");
  EXPECT_TRUE(AppendEvent(progress, bytes).ok());
  EXPECT_TRUE(AppendEvent(failure, bytes).ok());
  return bytes;
}

TEST(EventStream, PutsEventsTogetherHoweverTheyArrive) {
  std::string bytes = TwoEvents();
  for (size_t piece = 1; piece <= bytes.size(); ++piece) {
    EventReader reader;
    std::vector<WorkerEvent> events;
    for (size_t i = 0; i < bytes.size(); i += piece) {
      ASSERT_TRUE(reader.Feed(bytes.substr(i, piece), [&](WorkerEvent e) { events.push_back(std::move(e)); }).ok());
    }
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].progress().done(), 7);
    EXPECT_EQ(events[1].failure().message(), "no");
  }
}

TEST(EventStream, RefusesAnAbsurdLength) {
  EventReader reader;
  EXPECT_TRUE(absl::IsInternal(reader.Feed("\xff\xff\xff\xff", [](WorkerEvent) {})));
}

TEST(EventStream, RefusesWhatIsNoEvent) {
  EventReader reader;
  EXPECT_TRUE(absl::IsInternal(reader.Feed(std::string("\x02\0\0\0\xff\xff", 6), [](WorkerEvent) {})));
}

TEST(EventStream, RefusesToSendTooMuch) {
  WorkerEvent event;
  event.mutable_failure()->set_message(std::string(kMaxEventBytes, 'x'));
  std::string bytes;
  EXPECT_TRUE(absl::IsResourceExhausted(AppendEvent(event, bytes)));
}

}  // namespace
}  // namespace aot::server
