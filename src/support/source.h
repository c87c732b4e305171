// Places in the texts that users write. What is made of a text keeps its places, so that an error
// can point at them at any time.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tulle {

// A text that somebody wrote, and the language it is in.
struct Source {
  std::string text;
  std::string language;  // as messages name it: "index notation"
};

// A part of a source, which it keeps alive. One without a source is no place at all: what it
// belongs to was made by the compiler.
struct Span {
  std::shared_ptr<const Source> source = nullptr;
  size_t offset = 0;
  size_t length = 0;

  explicit operator bool() const { return source != nullptr; }
  std::string_view text() const;
};

// How many bytes the first character of a text has, in UTF-8.
size_t character_length(std::string_view text);

// The text with everything before `begin` blank but for its line ends: places in a part that
// another language reads are then those in the whole.
std::string blanked_before(std::string_view text, size_t begin);

// The message, headed by language, line and column, and followed by the user's line with a caret
// under the span; and under `also`, where that is in the same line.
std::string point_at(const Span& span, const std::string& message, const Span& also = {});

// Raises a UserError that says this.
[[noreturn]] void fail_at(const Span& span, const std::string& message, const Span& also = {});
// Raises Unsupported.
[[noreturn]] void unsupported_at(const Span& span, const std::string& message);

}  // namespace tulle
