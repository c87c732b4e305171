// Padding of levels that store more than entries.
#include "expr/padding.h"

#include <algorithm>
#include <map>
#include <set>

#include "expr/coordinates.h"
#include "expr/presence.h"

namespace tulle::expr {

std::vector<int64_t> level_coordinates(const Format& format,
                                       const std::vector<int64_t>& coordinates) {
  std::vector<int64_t> result;
  for (const Level& level : format.levels()) {
    result.push_back(level.expr.coordinate(coordinates));
  }
  return result;
}

int sparse_level_count(const Format& format) {
  int count = format.level_count();
  while (count > 0 && is_full(format.levels()[static_cast<size_t>(count - 1)].kind)) --count;
  return count;
}

bool stores_padding(const Format& format) {
  return format.level_count() > 0 && pads_with_entries(format.levels().back().kind);
}

bool adds_padding(const Statement& statement, const std::map<std::string, TensorType>& tensors,
                  const Format& format) {
  if (!stores_padding(format)) return false;
  if (!is_full(format.levels().back().kind)) return true;
  std::set<std::string> filled;  // the indices of the full levels
  for (int l = sparse_level_count(format); l < format.level_count(); ++l) {
    const LevelExpr& level = format.levels()[static_cast<size_t>(l)].expr;
    filled.insert(statement.indices[static_cast<size_t>(level.dimension)]);
  }
  const auto is_sparse = [&](const std::string& tensor) {
    return !tensors.at(tensor).format.is_dense();
  };
  const Expr presence = presence_of(statement.value, is_sparse);
  const std::vector<const Access*> deciding = accesses(presence);
  return std::any_of(deciding.begin(), deciding.end(), [&](const Access* access) {
    const bool is_alike =
        access->indices == statement.indices && tensors.at(access->tensor).format == format;
    return is_sparse(access->tensor) && !is_alike &&
           std::any_of(access->indices.begin(), access->indices.end(),
                       [&](const std::string& index) { return filled.contains(index); });
  });
}

namespace {

using Coordinates = std::vector<int64_t>;

// The slots that the levels of a format need to store given entries.
class StoredSlots {
 public:
  explicit StoredSlots(const Format& format)
      : format_(format), prefixes_(format.levels().size()), lengths_(format.levels().size()) {}

  void add(const Coordinates& coordinates) {
    Coordinates prefix;
    const Coordinates levels = level_coordinates(format_, coordinates);
    for (size_t l = 0; l < levels.size(); ++l) {
      int64_t& length = lengths_[l][prefix];
      length = std::max(length, levels[l] + 1);
      prefix.push_back(levels[l]);
      prefixes_[l].insert(prefix);
    }
  }

  bool has(const Coordinates& coordinates) const {
    Coordinates prefix;
    const Coordinates levels = level_coordinates(format_, coordinates);
    for (size_t l = 0; l < levels.size(); ++l) {
      const LevelKind kind = format_.levels()[l].kind;
      const auto length = lengths_[l].find(prefix);
      const bool in_row = length != lengths_[l].end() && levels[l] < length->second;
      prefix.push_back(levels[l]);
      if (is_prefix(kind) ? !in_row : !pads_with_entries(kind) && !prefixes_[l].contains(prefix)) {
        return false;
      }
    }
    return true;
  }

 private:
  const Format& format_;
  // Down to each level: the coordinate prefixes of entries.
  std::vector<std::set<Coordinates>> prefixes_;
  // In each level: the length of the row under a prefix.
  std::vector<std::map<Coordinates, int64_t>> lengths_;
};

}  // namespace

std::vector<bool> with_padding(const Format& format, const std::vector<int64_t>& sizes,
                               const std::vector<bool>& entries) {
  StoredSlots slots(format);
  for_each_coordinate(sizes, [&](const Coordinates& coordinates) {
    if (entries[static_cast<size_t>(row_major(sizes, coordinates))]) slots.add(coordinates);
  });
  std::vector<bool> result;
  result.reserve(entries.size());
  for_each_coordinate(
      sizes, [&](const Coordinates& coordinates) { result.push_back(slots.has(coordinates)); });
  return result;
}

}  // namespace tulle::expr
