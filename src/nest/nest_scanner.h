// The tokens of a nest's text; part of the parser.
#pragma once

#include <string>
#include <string_view>

#include "support/scanner.h"

namespace tulle::nest {

class NestScanner : public Scanner {
 public:
  explicit NestScanner(std::string_view text)
      : Scanner(text, "nest", {.symbols = {"+=", "*="}, .dotted_names = true}) {}

  std::string name(std::string_view what);
  int integer(std::string_view what);  // nonnegative

  // Whether the text on the line of `start` ends here: at the line end, ';' or '}'.
  bool ends_line(const Token& start) const;
  // The text of the remaining tokens on the line of `start`.
  std::string rest_of_line(const Token& start);
};

}  // namespace tulle::nest
