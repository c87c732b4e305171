// Formats and writes log lines.
#include "support/log.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace tulle {

namespace {

std::string two_digits(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f", number);
  return text;
}

}  // namespace

LogLevel log_level_from(std::string_view word) {
  if (word == "info") return LogLevel::Info;
  return word == "debug" ? LogLevel::Debug : LogLevel::Off;
}

LogLevel log_level() {
  static const LogLevel level = [] {
    const char* set = std::getenv("TULLE_LOG");
    const std::string_view word = set ? set : "";
    const LogLevel level = log_level_from(word);
    if (level == LogLevel::Off && !word.empty() && word != "off" && word != "0") {
      write_log(concat("TULLE_LOG=", word, " is not understood: info and debug are, and off"));
    }
    return level;
  }();
  return level;
}

void write_log(std::string_view text) {
  std::string line = "tulle: ";
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  for (const char c : text) {
    line += c;
    if (c == '\n') line += "       ";
  }
  line += '\n';
  [[maybe_unused]] const ssize_t written = write(STDERR_FILENO, line.data(), line.size());
}

void StageTimes::end(std::string_view stage) {
  if (!running_) return;
  const Clock::time_point now = Clock::now();
  const double spent = std::chrono::duration<double, std::milli>(now - last_).count();
  last_ = now;
  for (auto& [name, milliseconds] : stages_) {
    if (name != stage) continue;
    milliseconds += spent;
    return;
  }
  stages_.emplace_back(stage, spent);
}

std::string StageTimes::text() const {
  std::string text;
  for (const auto& [name, milliseconds] : stages_) {
    text += concat(text.empty() ? "" : ", ", name, " ", two_digits(milliseconds));
  }
  return text;
}

}  // namespace tulle
