// Combines choices into rounds.
#include "lower/programs/selection_rounds.h"

#include <algorithm>

#include "support/check.h"

namespace tulle::lower {

bool looks_at_entry_alone(const Selector& selector) {
  switch (selector.kind) {
    case Selector::Kind::Columns:
    case Selector::Kind::Band:
    case Selector::Kind::Rest:
      return true;
    case Selector::Kind::Rows:
    case Selector::Kind::Blocks:
    case Selector::Kind::Windows:
      return false;
  }
  internal_error("a selector of no kind");
}

namespace {

// Whether the choices in the round do not change the counts for this one, because they take whole
// rows.
bool joins(const Choice& choice, const Round& round) {
  if (looks_at_entry_alone(choice.selector)) return true;
  const Choice& last = round.back();
  return choice.selector.kind == Selector::Kind::Rows &&
         last.selector.kind == Selector::Kind::Rows && last.ranges == choice.ranges;
}

}  // namespace

std::vector<Round> selection_rounds(const CompositeFormat& format) {
  std::vector<Round> rounds;
  int64_t part = 0;
  for (const CompositeFormat::Item& item : format.items()) {
    const int64_t ranges = std::max<int64_t>(1, item.ranges);
    const auto step = static_cast<int64_t>(item.choices.size());
    for (size_t c = 0; c < item.choices.size(); ++c) {
      const Choice choice{item.choices[c].selector, ranges, part + static_cast<int64_t>(c), step};
      if (rounds.empty() || !joins(choice, rounds.back())) rounds.emplace_back();
      rounds.back().push_back(choice);
    }
    part += step * ranges;
  }
  return rounds;
}

}  // namespace tulle::lower
