// The rules of result formats, in order; the first applicable rule decides.
#include "expr/result_format.h"

#include <algorithm>

#include "expr/absence.h"
#include "expr/pattern_owner.h"
#include "expr/walk.h"
#include "support/check.h"

namespace tulle::expr {

namespace {

using Indices = std::vector<std::string>;

bool contains(const Indices& indices, const std::string& index) {
  return std::find(indices.begin(), indices.end(), index) != indices.end();
}

bool contains_all(const Indices& indices, const Indices& wanted) {
  return std::all_of(wanted.begin(), wanted.end(),
                     [&](const std::string& index) { return contains(indices, index); });
}

bool are_distinct(const Indices& indices) {
  return std::all_of(indices.begin(), indices.end(), [&](const std::string& index) {
    return std::count(indices.begin(), indices.end(), index) == 1;
  });
}

class FormatRules {
 public:
  FormatRules(const Statement& statement, const std::map<std::string, TensorType>& tensors)
      : statement_(statement), tensors_(tensors), reduces_(has_reduction(statement.value)) {
    for (const Access* access : accesses(statement.value)) {
      if (!format_of(*access).is_dense()) sparse_.push_back(access);
    }
    for (const std::string& index : statement.indices) {
      if (!is_covered(index)) uncovered_.push_back(index);
    }
  }

  Format decide() const {
    Format dense = Format::dense(static_cast<int>(statement_.indices.size()));
    // No index has coordinates at which the result is 0 throughout: dense. A + B with a dense B, A
    // + 1.
    if (uncovered_.empty()) return dense;
    // Operands that have the result's indices and cover all its entries: the format of the leftmost
    // one. A * B, A + B, transposes, sampled products.
    if (const Access* operand = deciding_operand()) return carried_over(*operand);
    // A reduction that leaves one index of sparse operands, apart from batches: dense along that
    // index too. Row sums, sparse matrix times dense vector or matrix, MTTKRP. Vectors such as
    // diagonals are dense as well.
    if (statement_.indices.size() == 1 || (reduces_ && uncovered_matrix_rank() == 1)) return dense;
    return finished(with_dense_rest(sparse_levels()));
  }

 private:
  const Format& format_of(const Access& access) const { return tensors_.at(access.tensor).format; }

  int dimension_of(const std::string& index) const {
    const auto at = std::find(statement_.indices.begin(), statement_.indices.end(), index);
    return static_cast<int>(at - statement_.indices.begin());
  }

  // Whether the value may be nonzero at coordinates at which every sparse operand lacks the index.
  bool is_covered(const std::string& index) const {
    return !is_zero(without(statement_.value, [&](const Access& access) {
      return !format_of(access).is_dense() && contains(access.indices, index);
    }));
  }

  bool has_result_indices(const Access& access) const {
    return access.indices.size() == statement_.indices.size() &&
           contains_all(access.indices, statement_.indices);
  }

  const Access* deciding_operand() const {
    const auto sampled = [&](const Access& access) {
      return !format_of(access).is_dense() && has_result_indices(access);
    };
    if (!is_zero(without(statement_.value, sampled))) return nullptr;
    return *std::find_if(sparse_.begin(), sparse_.end(),
                         [&](const Access* access) { return sampled(*access); });
  }

  // The operand's levels over the result's dimensions.
  Format carried_over(const Access& access) const {
    const Format& format = format_of(access);
    std::vector<Level> levels = format.levels();
    for (Level& level : levels) level.expr = moved(level.expr, access.indices);
    // A pattern without duplicates that no other operand changes can be shared.
    if (decides_alone(access) && format.is_unique()) return {statement_.indices, std::move(levels)};
    return finished(std::move(levels));
  }

  // Whether the value is present exactly where the access has an entry.
  bool decides_alone(const Access& access) const {
    return sparse_.size() == 1 ||
           is_present_like(statement_.value, access, [&](const std::string& tensor) {
             return !tensors_.at(tensor).format.is_dense();
           });
  }

  // Translates a level expression of a tensor with these indices to the dimensions of the result.
  LevelExpr moved(LevelExpr expr, const Indices& indices) const {
    expr.dimension = dimension_of(indices[static_cast<size_t>(expr.dimension)]);
    if (expr.is_difference()) expr.second = dimension_of(indices[static_cast<size_t>(expr.second)]);
    return expr;
  }

  static const std::string& index_of(const Access& access, const Level& level) {
    return access.indices[static_cast<size_t>(level.expr.dimension)];
  }

  // The leftmost sparse operand that has an uncovered index.
  const Access& leader() const {
    return **std::find_if(sparse_.begin(), sparse_.end(), [&](const Access* access) {
      return std::any_of(uncovered_.begin(), uncovered_.end(), [&](const std::string& index) {
        return contains(access->indices, index);
      });
    });
  }

  // The number of uncovered indices without batches. Batches are indices of every operand that the
  // leader stores densely or that count as batches of matrices.
  int uncovered_matrix_rank() const {
    int rank = static_cast<int>(uncovered_.size());
    const int batches = tensors_.at(leader().tensor).batches;
    for (const Level& level : format_of(leader()).levels()) {
      const std::string& index = index_of(leader(), level);
      const bool whole = level.expr.part == LevelExpr::Part::Whole;
      const bool full = is_full(level.kind) || level.expr.dimension < batches;
      if (full && whole && contains(uncovered_, index) && everywhere(index)) --rank;
    }
    return std::max(rank, 1);
  }

  bool everywhere(const std::string& index) const {
    const std::vector<const Access*> all = accesses(statement_.value);
    return std::all_of(all.begin(), all.end(),
                       [&](const Access* access) { return contains(access->indices, index); });
  }

  // The levels of the uncovered indices and of the indices between them.
  std::vector<Level> sparse_levels() const {
    const Access& leader = this->leader();
    // One operand has all of them: its levels without the summed indices. A tensor times a vector
    // or a matrix.
    if (are_distinct(leader.indices) && contains_all(leader.indices, uncovered_) &&
        !format_of(leader).has_differences()) {
      return projected(leader);
    }
    // Several sparse operands: the leader's format, where it fits. A sparse matrix product.
    if (std::vector<Level> levels = exchanged(leader); !levels.empty()) return levels;
    // The outer product of sparse vectors is COO. All other results are CSR, or CSF at higher rank.
    if (!reduces_ && std::all_of(sparse_.begin(), sparse_.end(), [](const Access* access) {
          return access->indices.size() == 1;
        })) {
      return over_uncovered(Format::coo(static_cast<int>(uncovered_.size())));
    }
    const int rank = static_cast<int>(uncovered_.size());
    return over_uncovered(Format::csf(rank, {}, rank == 2));
  }

  // Covered indices become dense; indices that the result lacks are removed.
  std::vector<Level> projected(const Access& leader) const {
    std::vector<Level> levels;
    for (Level level : format_of(leader).levels()) {
      const std::string& index = index_of(leader, level);
      if (!contains(statement_.indices, index)) continue;
      level.expr.dimension = dimension_of(index);
      if (!contains(uncovered_, index)) level = {.expr = level.expr};  // dense
      levels.push_back(level);
    }
    return levels;
  }

  // The leader's levels, with the indices that the result lacks replaced by the result's indices
  // that the leader lacks. Empty if their numbers differ or blocks do not match.
  std::vector<Level> exchanged(const Access& leader) const {
    if (!are_distinct(leader.indices) || leader.indices.size() != uncovered_.size()) return {};
    Indices missing;
    for (const std::string& index : uncovered_) {
      if (!contains(leader.indices, index)) missing.push_back(index);
    }
    Indices indices = leader.indices;
    for (std::string& index : indices) {
      if (contains(uncovered_, index)) continue;
      if (contains(statement_.indices, index)) return {};
      index = missing.front();
      missing.erase(missing.begin());
    }
    if (format_of(leader).has_blocks() && !blocks_match()) return {};
    // Diagonals times diagonals are diagonals; times any other format, the product may fill all
    // diagonals.
    if (format_of(leader).has_differences() && !all_have_differences()) return {};
    std::vector<Level> levels = format_of(leader).levels();
    for (Level& level : levels) {
      const int64_t block = block_of(indices[static_cast<size_t>(level.expr.dimension)]);
      if ((block == 0) != (level.expr.is_whole() || level.expr.is_difference())) return {};
      if (block != 0) level.expr.divisor = block;
      level.expr = moved(level.expr, indices);
    }
    return levels;
  }

  bool all_have_differences() const {
    return std::all_of(sparse_.begin(), sparse_.end(),
                       [&](const Access* access) { return format_of(*access).has_differences(); });
  }

  // The block size of an index in the first sparse operand that has the index; 0 without blocks.
  int64_t block_of(const std::string& index) const {
    for (const Access* access : sparse_) {
      if (contains(access->indices, index)) return block_of(*access, index);
    }
    internal_error("no sparse operand has the index ", index);
  }

  int64_t block_of(const Access& access, const std::string& index) const {
    for (const Level& level : format_of(access).levels()) {
      const bool whole = level.expr.is_whole() || level.expr.is_difference();
      if (index_of(access, level) == index) return whole ? 0 : level.expr.divisor;
    }
    internal_error("no level for the index ", index);
  }

  // Whether every index has the same blocks in all sparse operands.
  bool blocks_match() const {
    return std::all_of(sparse_.begin(), sparse_.end(), [&](const Access* access) {
      return std::all_of(
          access->indices.begin(), access->indices.end(),
          [&](const std::string& index) { return block_of(*access, index) == block_of(index); });
    });
  }

  // The levels of a format, with its dimensions replaced by the uncovered indices.
  std::vector<Level> over_uncovered(const Format& format) const {
    std::vector<Level> levels = format.levels();
    for (Level& level : levels) {
      level.expr.dimension = dimension_of(uncovered_[static_cast<size_t>(level.expr.dimension)]);
    }
    return levels;
  }

  // Appends dense levels for the dimensions without a level.
  std::vector<Level> with_dense_rest(std::vector<Level> levels) const {
    for (int d = 0; d < static_cast<int>(statement_.indices.size()); ++d) {
      const bool present = std::any_of(levels.begin(), levels.end(), [&](const Level& level) {
        return level.expr.dimension == d;
      });
      if (!present) levels.push_back({.expr = {.dimension = d}});
    }
    return levels;
  }

  // Adjusts levels to what compiled code can write: ordered and unique levels, branchless levels
  // only below nonunique ones, no fixed width, and slots without entries only in the last level
  // that is not full.
  Format finished(std::vector<Level> levels) const {
    for (size_t at = 0; at < levels.size(); ++at) {
      const bool holds_below =
          std::any_of(levels.begin() + static_cast<int64_t>(at) + 1, levels.end(),
                      [](const Level& level) { return !is_full(level.kind); });
      const bool outermost = at == 0 && is_prefix(levels[at].kind);
      if (levels[at].has_gaps() && (has_width(levels[at].kind) || holds_below || outermost)) {
        levels[at].kind = LevelKind::Compressed;
        levels[at].width = 0;
        levels[at].multiple = 1;
      }
      const bool below_coordinates = at > 0 && stores_coordinates(levels[at - 1].kind);
      if (is_branchless(levels[at].kind) && !below_coordinates) {
        levels[at].kind = LevelKind::Compressed;
      }
      levels[at].ordered = true;
      levels[at].unique = true;
      if (at > 0 && is_branchless(levels[at].kind)) levels[at - 1].unique = false;
    }
    Format format(statement_.indices, std::move(levels));
    return format.is_dense() ? Format::dense(format.rank()) : format;
  }

  const Statement& statement_;
  const std::map<std::string, TensorType>& tensors_;
  bool reduces_;
  std::vector<const Access*> sparse_;  // left to right
  Indices uncovered_;                  // indices of the result
};

}  // namespace

Format result_format(const Statement& statement, const std::map<std::string, TensorType>& tensors) {
  return FormatRules(statement, tensors).decide();
}

}  // namespace tulle::expr
