// Suggests a name in place of one that does not exist.
#include "support/similar_name.h"

#include <algorithm>
#include <cctype>
#include <vector>

#include "support/check.h"

namespace tulle {
namespace {

std::string in_lower_case(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

// The number of letters to insert, remove or replace, or of neighbours to exchange.
size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> at(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        at[i][j] = i + j;
        continue;
      }
      at[i][j] = std::min(
          {at[i - 1][j] + 1, at[i][j - 1] + 1, at[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        at[i][j] = std::min(at[i][j], at[i - 2][j - 2] + 1);
    }
  }
  return at[a.size()][b.size()];
}

// The names of a list, without parameters.
std::vector<std::string_view> names_in(std::string_view list) {
  std::vector<std::string_view> names;
  while (!list.empty()) {
    names.push_back(list.substr(0, list.find_first_of("(,")));
    const size_t end = list.find(", ");
    list = end == std::string_view::npos ? std::string_view() : list.substr(end + 2);
  }
  return names;
}

}  // namespace

std::string did_you_mean(std::string_view given, std::string_view list) {
  constexpr size_t kLettersPerMistake = 3, kLongestName = 64;
  if (given.empty() || given.size() > kLongestName) return "";
  const std::string wanted = in_lower_case(given);
  std::string_view best;
  size_t fewest = std::max<size_t>(1, wanted.size() / kLettersPerMistake) + 1;
  for (const std::string_view name : names_in(list)) {
    const size_t mistakes = distance(wanted, in_lower_case(name));
    // With one mistake, a name of two letters is similar to too many.
    if (mistakes < fewest &&
        (mistakes == 0 || mistakes + 1 < std::max(name.size(), wanted.size()))) {
      best = name;
      fewest = mistakes;
    }
  }
  return best.empty() ? "" : concat(" (did you mean '", best, "'?)");
}

}  // namespace tulle
