// Random formats.
#include <algorithm>
#include <numeric>

#include "differential/random_case.h"
#include "format/names.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

// Compressed, then singletons, in any dimension order.
std::string random_list(Dice& dice, const std::vector<std::string>& names,
                        std::vector<std::string> order, bool sorted) {
  const bool repeats = !sorted && dice.chance(0.5);
  const bool any_order = !sorted && dice.chance(0.4);
  std::string levels;
  for (size_t l = 0; l < order.size(); ++l) {
    const bool last = l + 1 == order.size();
    levels += concat(l ? ", " : "", order[l], ": ", l ? "singleton" : "compressed");
    if (!last || repeats) levels += " nonunique";
    if (any_order) levels += " unordered";
  }
  std::string dimensions;
  for (size_t d = 0; d < names.size(); ++d) dimensions += concat(d ? "," : "", names[d]);
  return concat("(", dimensions, ") -> (", levels, ")");
}

// Dense and compressed levels in any dimension order, some dimensions in blocks.
std::string random_tree(Dice& dice, const std::vector<std::string>& names,
                        const std::vector<std::string>& order) {
  std::vector<std::string> exprs = order;
  if (dice.chance(0.3)) {
    for (const std::string& name : order) {
      if (!dice.chance(0.5)) continue;
      const int64_t size = dice.between(2, 4);
      const auto at =
          static_cast<size_t>(std::find(exprs.begin(), exprs.end(), name) - exprs.begin());
      exprs[at] = concat(name, "/", size);
      const size_t inner = at + 1 + dice.below(exprs.size() - at);
      exprs.insert(exprs.begin() + static_cast<std::ptrdiff_t>(inner), concat(name, "%", size));
    }
  }
  const double compressed = dice.chance(0.5) ? 0.8 : 0.5;
  std::string levels;
  for (size_t l = 0; l < exprs.size(); ++l) {
    const bool remainder = exprs[l].find('%') != std::string::npos;
    const bool is_compressed = dice.chance(remainder ? 0.2 : compressed);
    levels += concat(l ? ", " : "", exprs[l], ": ", is_compressed ? "compressed" : "dense");
  }
  std::string dimensions;
  for (size_t d = 0; d < names.size(); ++d) dimensions += concat(d ? "," : "", names[d]);
  return concat("(", dimensions, ") -> (", levels, ")");
}

}  // namespace

std::string random_format(Dice& dice, int rank, bool sorted) {
  if (rank == 0 || dice.chance(0.25)) return "dense";
  const std::vector<std::string> names = default_dimension_names(rank);
  std::vector<std::string> order = names;
  dice.shuffle(order);
  if (dice.chance(0.4)) {
    if (rank == 1) return dice.chance(0.5) ? "coo" : "csf";
    const std::string blocks = concat("(", dice.between(1, 4), ",", dice.between(1, 4), ")");
    return dice.pick<std::string>(
        {"coo", "csf", "csr", "csr", "csr", "csc", "dcsr", "dcsc", "bsr" + blocks, "bsc" + blocks});
  }
  return dice.chance(0.3) ? random_list(dice, names, order, sorted)
                          : random_tree(dice, names, order);
}

}  // namespace tulle::differential
