// Prints positions in sources.
#include "support/source.h"

#include <algorithm>

#include "support/check.h"

namespace tulle {

namespace {

// Whether a byte continues a UTF-8 character.
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

size_t count_characters(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !continues_character(c); }));
}

// The begin and the end of a line in a text.
struct Line {
  std::string_view text;
  size_t begin = 0;
  size_t number = 1;
};

Line line_around(std::string_view text, size_t offset) {
  const size_t before = text.substr(0, offset).rfind('\n');
  const size_t begin = before == std::string_view::npos ? 0 : before + 1;
  size_t end = std::min(text.find('\n', offset), text.size());
  while (end > begin && end > offset && (text[end - 1] == '\r' || text[end - 1] == ' ')) --end;
  const std::string_view above = text.substr(0, begin);
  const auto number = static_cast<size_t>(std::count(above.begin(), above.end(), '\n')) + 1;
  return {text.substr(begin, end - begin), begin, number};
}

// Sets carets under [begin, end) of the line, at least one, possibly after its last column.
void mark(const Line& line, size_t begin, size_t end, std::string& carets) {
  const size_t from = count_characters(line.text.substr(0, begin));
  const size_t inside = std::min(end, line.text.size());
  const size_t width =
      inside > begin ? count_characters(line.text.substr(begin, inside - begin)) : 1;
  if (carets.size() < from + width) carets.resize(from + width, ' ');
  std::fill_n(carets.begin() + static_cast<ptrdiff_t>(from), width, '^');
}

}  // namespace

size_t character_length(std::string_view text) {
  const auto end = std::find_if_not(text.begin() + 1, text.end(), continues_character);
  return static_cast<size_t>(end - text.begin());
}

std::string_view Span::text() const {
  if (!source) return {};
  return std::string_view(source->text).substr(offset, length);
}

std::string blanked_before(std::string_view text, size_t begin) {
  std::string blanked(text);
  for (size_t at = 0; at < std::min(begin, blanked.size()); ++at) {
    if (blanked[at] != '\n') blanked[at] = ' ';
  }
  return blanked;
}

std::string point_at(const Span& span, const std::string& message, const Span& also) {
  if (!span) return message;
  const std::string_view text = span.source->text;
  const size_t offset = std::min(span.offset, text.size());
  const Line line = line_around(text, offset);
  const size_t begin = offset - line.begin;
  std::string carets;
  mark(line, begin, begin + span.length, carets);
  if (also.source == span.source && also.offset >= line.begin &&
      also.offset < line.begin + line.text.size()) {
    mark(line, also.offset - line.begin, also.offset - line.begin + also.length, carets);
  }
  // Tabs stay tabs, so that carets align with the line above.
  size_t column = 0;
  for (const char c : line.text) {
    if (continues_character(c)) continue;
    if (c == '\t' && column < carets.size() && carets[column] == ' ') carets[column] = '\t';
    ++column;
  }
  return concat(span.source->language, ", line ", line.number, ", column ",
                count_characters(line.text.substr(0, begin)) + 1, ": ", message, "\n  ", line.text,
                "\n  ", carets);
}

void fail_at(const Span& span, const std::string& message, const Span& also) {
  throw UserError(point_at(span, message, also));
}

void unsupported_at(const Span& span, const std::string& message) {
  throw Unsupported(point_at(span, message));
}

}  // namespace tulle
