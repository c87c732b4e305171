// Random formats.
#include <algorithm>
#include <numeric>

#include "differential/random_case.h"
#include "format/names.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

constexpr const char* kWidePadded = "padded(20)";  // the largest extent

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

// Makes the last level that stores something a kind with unused slots.
void leave_gaps(Dice& dice, std::vector<std::string>& kinds) {
  size_t last = kinds.size() - 1;
  while (last > 0 && kinds[last] == "dense") --last;
  kinds[last] =
      last == 0
          ? dice.pick<std::string>({"bitmap", "compressed multiple(3)"})
          : dice.pick<std::string>({kWidePadded, "ragged", "bitmap", "compressed multiple(2)"});
}

// Lets a level that stores something repeat coordinates, for any levels below.
void repeat_coordinates(Dice& dice, std::vector<std::string>& kinds) {
  std::string& kind = kinds[dice.below(kinds.size())];
  if (kind == "compressed") kind += dice.chance(0.5) ? " nonunique" : " nonunique unordered";
}

// Dense and compressed levels in any dimension order, some dimensions in blocks.
std::string random_tree(Dice& dice, const std::vector<std::string>& names,
                        const std::vector<std::string>& order, bool sorted) {
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
  std::vector<std::string> kinds;
  for (const std::string& expr : exprs) {
    const bool remainder = expr.find('%') != std::string::npos;
    kinds.emplace_back(dice.chance(remainder ? 0.2 : compressed) ? "compressed" : "dense");
  }
  if (dice.chance(0.3)) {
    leave_gaps(dice, kinds);
  } else if (!sorted && dice.chance(0.2)) {
    repeat_coordinates(dice, kinds);
  }
  std::string levels;
  for (size_t l = 0; l < exprs.size(); ++l) {
    levels += concat(l ? ", " : "", exprs[l], ": ", kinds[l]);
  }
  std::string dimensions;
  for (size_t d = 0; d < names.size(); ++d) dimensions += concat(d ? "," : "", names[d]);
  return concat("(", dimensions, ") -> (", levels, ")");
}

}  // namespace

std::string random_composite(Dice& dice, int rank) {
  if (dice.chance(0.2)) return concat("hyb(", dice.between(1, 3), ",", dice.between(0, 2), ")");
  auto plain = [&] {
    std::string format = "dense";
    while (Format::parse(format, rank).is_dense()) format = random_format(dice, rank, true);
    return format;
  };
  std::string items;
  for (size_t part = 0, count = 1 + dice.below(3); part < count; ++part) {
    const int64_t first = dice.between(-3, 2);
    const std::string selector = dice.pick<std::string>(
        {concat("rows(nnz<=", dice.between(1, 4), ")"),
         concat("rows(nnz>=", dice.between(1, 4), ")"),
         concat("columns(", dice.between(0, 2), ",", dice.between(2, 6), ")"),
         concat("band(", first, ",", first + dice.between(0, 3), ")"),
         concat("blocks(", dice.between(1, 3), ",", dice.between(1, 3), ", fill>=0.4)"),
         concat("windows(", dice.between(1, 4), ", reuse>=1.2)")});
    items += concat(selector, ": ", plain(), "; ");
  }
  items += "rest: " + plain();
  std::string text = concat("{ ", items, " }");
  if (dice.chance(0.2)) text = concat("columns(", dice.between(1, 3), ")", text);
  if (!dice.chance(0.3)) return text;
  std::vector<std::string> order = default_dimension_names(rank), names = order;
  dice.shuffle(order);
  auto listed = [](const std::vector<std::string>& all) {
    std::string list;
    for (const std::string& name : all) list += concat(list.empty() ? "" : ",", name);
    return list;
  };
  return concat("(", listed(names), ") -> (", listed(order), ")", text);
}

std::string random_format(Dice& dice, int rank, bool sorted) {
  if (rank == 0 || dice.chance(0.25)) return "dense";
  const std::vector<std::string> names = default_dimension_names(rank);
  std::vector<std::string> order = names;
  dice.shuffle(order);
  if (dice.chance(0.4)) {
    if (rank == 1) return dice.chance(0.5) ? "coo" : "csf";
    const std::string blocks = concat("(", dice.between(1, 4), ",", dice.between(1, 4), ")");
    return dice.pick<std::string>({"coo", "csf", "csr", "csr", "csr", "csc", "dcsr", "dcsc",
                                   "bsr" + blocks, "bsc" + blocks, "dbsr" + blocks, "ell(20)",
                                   "ell(20)", "dia", "dia", "ragged", "bitmap",
                                   "sr-bcrs" + blocks});
  }
  return dice.chance(0.3) ? random_list(dice, names, order, sorted)
                          : random_tree(dice, names, order, sorted);
}

}  // namespace tulle::differential
