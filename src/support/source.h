// Positions in the texts that users write. Objects made from a text keep their positions, so that
// any later error can point at them.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace tulle {

// A user's text and the name of its language.
struct Source {
  std::string text;
  std::string language;  // in messages: "index notation"
};

// A part of a source, which it keeps alive. A span without a source belongs to an object that the
// compiler made.
struct Span {
  std::shared_ptr<const Source> source = nullptr;
  size_t offset = 0;
  size_t length = 0;

  explicit operator bool() const { return source != nullptr; }
  std::string_view text() const;
};

// The number of bytes of the first character of a text, in UTF-8.
size_t character_length(std::string_view text);

// The text with blanks before `begin`, except for line ends. Another parser then reports positions
// of the whole text for errors in the rest.
std::string blanked_before(std::string_view text, size_t begin);

// The message, preceded by language, line and column, and followed by the user's line with a caret
// under the span, and under `also` if that is in the same line.
std::string point_at(const Span& span, const std::string& message, const Span& also = {});

// Throws UserError with the text of point_at().
[[noreturn]] void fail_at(const Span& span, const std::string& message, const Span& also = {});
// The same for Unsupported.
[[noreturn]] void unsupported_at(const Span& span, const std::string& message);

}  // namespace tulle
