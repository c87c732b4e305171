// Inlines intermediates.
#include "plan/rewrite/inline_masked.h"

#include <algorithm>
#include <set>
#include <utility>

#include "expr/rename_indices.h"
#include "expr/walk.h"

namespace tulle::plan {

using expr::Access;
using expr::Binary;
using expr::BinaryOp;
using expr::Expr;

namespace {

constexpr int kMostRepeated = 32;  // operations and reads in all copies of a repeated value

// The masks around an expression. The reads of a statement whose result is read under different
// masks have unknown ones.
struct Masks {
  bool has_unknown = false;
  std::vector<Expr> known;
};

// Collects the reads of the result of a statement.
class ReadFinder {
 public:
  ReadFinder(const expr::ResolvedProgram& program, const expr::Statement& statement)
      : program_(program), statement_(statement) {}

  // `copies`: how often the expression is computed.
  void visit(const Expr& expr, Masks masks, int copies) {
    const auto* access = expr.as<Access>();
    if (access && access->tensor == statement_.tensor) add(*access, masks, copies);
    const auto* binary = expr.as<Binary>();
    if (binary && binary->op == BinaryOp::Within) {
      visit(binary->a, masks, copies);
      for (const Access* mask : expr::accesses(binary->a)) {
        if (program_.tensors.at(mask->tensor).format.is_dense()) continue;
        masks.known.push_back(Access::make(0, mask->tensor, mask->indices, mask->type));
      }
      return visit(binary->b, std::move(masks), copies);
    }
    for (const Expr& child : expr::children(expr)) visit(child, masks, copies);
  }

  std::optional<MaskedReads> found() const {
    if (reads_.count == 0 || is_open_) return std::nullopt;
    return reads_;
  }

 private:
  void add(const Access& read, const Masks& masks, int copies) {
    Expr own;
    bool is_masked = masks.has_unknown;
    for (const Expr& mask : masks.known) {
      if (!selects(*mask.as<Access>(), read)) continue;
      is_masked = true;
      if (!own) own = in_statement(*mask.as<Access>(), read);
    }
    is_open_ = is_open_ || !is_masked;
    const bool agrees =
        reads_.count == 0 || (reads_.mask && own && expr::is_same(reads_.mask, own));
    reads_.mask = agrees ? own : Expr();
    reads_.count = std::min(reads_.count + copies, kMostRepeated);
  }

  // Whether the mask selects elements of the tensor that is read: two of its indices, apart from
  // those of dense blocks in its entries. Row sums are few even where a mask reads them.
  bool selects(const Access& mask, const Access& read) const {
    std::set<std::string> stored, below_last;
    for (const Level& level : program_.tensors.at(mask.tensor).format.levels()) {
      const std::string& index = mask.indices[static_cast<size_t>(level.expr.dimension)];
      below_last.insert(index);
      if (!is_full(level.kind)) stored.merge(below_last);
    }
    return std::count_if(stored.begin(), stored.end(), [&](const std::string& index) {
             return std::find(read.indices.begin(), read.indices.end(), index) !=
                    read.indices.end();
           }) >= 2;
  }

  // The mask of a read with the indices of the statement. Null if it has other indices or if a
  // statement computes it.
  Expr in_statement(const Access& mask, const Access& read) const {
    const auto& operands = program_.operands;
    if (std::find(operands.begin(), operands.end(), mask.tensor) == operands.end()) return {};
    std::vector<std::string> indices;
    for (const std::string& index : mask.indices) {
      const auto at = std::find(read.indices.begin(), read.indices.end(), index);
      if (at == read.indices.end() || std::count(at, read.indices.end(), index) != 1) return {};
      indices.push_back(statement_.indices[static_cast<size_t>(at - read.indices.begin())]);
    }
    return Access::make(0, mask.tensor, std::move(indices), mask.type);
  }

  const expr::ResolvedProgram& program_;
  const expr::Statement& statement_;
  MaskedReads reads_;
  bool is_open_ = false;  // a read without a mask
};

bool is_dense_intermediate(const expr::ResolvedProgram& program, size_t at) {
  const expr::Statement& statement = program.statements[at];
  const auto& results = program.results;
  return std::find(results.begin(), results.end(), statement.tensor) == results.end() &&
         statement.indices.size() >= 2 && program.tensors.at(statement.tensor).format.is_dense() &&
         std::none_of(
             program.statements.begin() + static_cast<int64_t>(at) + 1, program.statements.end(),
             [&](const expr::Statement& later) { return later.adds_to == statement.tensor; });
}

int size_of_value(const Expr& expr) {
  int size = 1;
  for (const Expr& child : expr::children(expr)) size += size_of_value(child);
  return size;
}

void collect_bound(const Expr& expr, std::vector<std::string>& bound) {
  if (const auto* reduce = expr.as<expr::Reduce>()) {
    bound.insert(bound.end(), reduce->indices.begin(), reduce->indices.end());
  }
  for (const Expr& child : expr::children(expr)) collect_bound(child, bound);
}

}  // namespace

std::vector<std::optional<MaskedReads>> masked_reads(
    const expr::ResolvedProgram& program, const std::function<bool(size_t number)>& is_scheduled) {
  const size_t count = program.statements.size();
  std::vector<std::optional<MaskedReads>> found(count);
  for (size_t at = count; at-- > 0;) {
    if (is_scheduled(at) || !is_dense_intermediate(program, at)) continue;
    ReadFinder reads(program, program.statements[at]);
    for (size_t later = at + 1; later < count; ++later) {
      Masks masks{found[later] && !found[later]->mask, {}};
      if (found[later] && found[later]->mask) masks.known.push_back(found[later]->mask);
      reads.visit(program.statements[later].value, masks, found[later] ? found[later]->count : 1);
    }
    found[at] = reads.found();
  }
  return found;
}

bool is_cheap_to_repeat(const Expr& value, int reads) {
  if (reads == 1) return true;
  return !expr::has_reduction(value) && reads * size_of_value(value) <= kMostRepeated;
}

Expr within_mask(const Expr& mask, const Expr& value) {
  const auto* access = mask.as<Access>();
  const Expr own =
      Access::make(expr::next_access_id(value), access->tensor, access->indices, mask.type());
  return Binary::make(BinaryOp::Within, own, value, value.type());
}

Expr Inliner::replace(const Expr& expr) {
  const auto* access = expr.as<Access>();
  const auto found = access ? statements_.find(access->tensor) : statements_.end();
  if (found == statements_.end()) {
    return expr::with_children(expr, [&](const Expr& child) { return replace(child); });
  }
  const expr::Statement& statement = found->second;
  expr::Renames renames;
  for (size_t d = 0; d < statement.indices.size(); ++d) {
    renames[statement.indices[d]] = access->indices[d];
  }
  std::vector<std::string> bound;
  collect_bound(statement.value, bound);
  for (const std::string& index : bound) renames[index] = same_extent_(index);
  return expr::renumbered(renamed_indices(statement.value, renames), next_id_);
}

Expr Inliner::inline_into(const Expr& value) {
  if (statements_.empty()) return value;
  next_id_ = std::max(next_id_, expr::next_access_id(value));
  return replace(value);
}

}  // namespace tulle::plan
