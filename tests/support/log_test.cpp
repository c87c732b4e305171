// The log: levels, the form of its lines, and no evaluation when it is off.
#include "support/log.h"

#include <fcntl.h>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tulle {
namespace {

TEST(Log, KnowsItsLevels) {
  EXPECT_EQ(log_level_from("info"), LogLevel::Info);
  EXPECT_EQ(log_level_from("debug"), LogLevel::Debug);
  for (const char* word : {"", "0", "off", "INFO", "verbose"}) {
    EXPECT_EQ(log_level_from(word), LogLevel::Off) << word;
  }
}

TEST(Log, WritesOneIndentedPiece) {
  testing::internal::CaptureStderr();
  write_log("plan of C\nloops i, j\n\n");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "tulle: plan of C\n       loops i, j\n");
}

TEST(Log, EvaluatesNothingWhenOff) {
  if (log_level() != LogLevel::Off) GTEST_SKIP() << "TULLE_LOG is set";
  int evaluated = 0;
  const auto costly = [&] { return ++evaluated; };
  testing::internal::CaptureStderr();
  TULLE_LOG(Info, "info ", costly());
  TULLE_LOG(Debug, "debug ", costly());
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(evaluated, 0);
  StageTimes times;
  times.end("plan");
  EXPECT_EQ(times.text(), "");
}

TEST(StageTimes, AddsTheTimesOfStagesWithOneName) {
  StageTimes times(/*running=*/true);
  times.end("plan");
  times.skip();
  times.end("lower");
  times.end("plan");
  const std::string text = times.text();
  EXPECT_TRUE(text.starts_with("plan ")) << text;
  EXPECT_NE(text.find(", lower "), std::string::npos) << text;
  EXPECT_EQ(text.find("plan "), text.rfind("plan ")) << text;
}

}  // namespace
}  // namespace tulle
