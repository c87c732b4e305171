// Remarks of a stage about legal schedule steps without the expected effect. `explain` prints them.
#pragma once

#include <string>
#include <vector>

#include "support/check.h"

namespace tulle {

using Remarks = std::vector<std::string>;

// Adds a remark if the caller collects remarks.
template <typename... Parts>
void remark(Remarks* remarks, const Parts&... parts) {
  if (remarks) remarks->push_back(concat(parts...));
}

// Remarks as comment lines, printed after the text of a program.
inline std::string as_comments(const Remarks& remarks) {
  std::string text;
  for (const std::string& remark : remarks) text += "// " + remark + "\n";
  return text;
}

}  // namespace tulle
