// Replaces words and parses the result.
#include "passes/kernel_text.h"

#include "loop/parse.h"

namespace tulle::passes {

loop::Kernel kernel_of_text(std::string text, const Substitutions& words) {
  for (const auto& [word, by] : words) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + by.size()))
      text.replace(at, word.size(), by);
  }
  return loop::parse_kernel(text);
}

}  // namespace tulle::passes
