// Finds the first gap of a row by counting.
#include "plan/rewrite/expand_places.h"

#include <algorithm>

#include "expr/presence.h"
#include "expr/walk.h"
#include "support/half.h"
#include "support/mutant.h"
#include "support/name_list.h"

namespace tulle::plan {

using expr::Access;
using expr::Binary;
using expr::BinaryOp;
using expr::Choose;
using expr::ElementFunction;
using expr::Expr;
using expr::IndexValue;
using expr::Literal;
using expr::Reduce;
using expr::Reduction;
using expr::Unary;

namespace {

// Whether the tensor stores the entries of a row along that index consecutively and ordered by
// coordinate.
bool stores_rows_along(const Access& access, const std::string& index, const Format& format) {
  const Level& last = format.levels().back();
  const auto& levels = format.levels();
  return std::all_of(levels.begin(), levels.end(),
                     [](const Level& level) { return level.expr.is_whole(); }) &&
         format.is_unique() && last.ordered && stores_coordinates(last.kind) &&
         !is_branchless(last.kind) &&
         access.indices[static_cast<size_t>(last.expr.dimension)] == index &&
         std::count(access.indices.begin(), access.indices.end(), index) == 1;
}

class PlaceExpander {
 public:
  PlaceExpander(expr::Statement& statement, const PlacesContext& context)
      : statement_(statement), context_(context), next_id_(expr::next_access_id(statement.value)) {}

  std::vector<expr::Statement> run() {
    statement_.value = expand(statement_.value);
    return std::move(before_);
  }

 private:
  static Expr number(int64_t value, DType type = DType::Int64) {
    return Literal::make(static_cast<double>(value), true, type);
  }

  Expr expand(const Expr& expr) {
    const Expr inside = expr::with_children(expr, [&](const Expr& child) { return expand(child); });
    const auto* reduce = inside.as<Reduce>();
    const bool is_place =
        reduce && (reduce->op == Reduction::ArgMax || reduce->op == Reduction::ArgMin);
    if (!is_place || reduce->stored || expr::is_everywhere(reduce->body, is_sparse_)) return inside;
    const Expr gap = gap_of(*reduce);
    return gap ? place(*reduce, gap) : inside;
  }

  // Chooses between the place of the best entry and the gap. A NaN counts as best, so its place
  // wins.
  static Expr place(const Reduce& reduce, const Expr& gap) {
    const bool is_max = reduce.op == Reduction::ArgMax;
    const DType type = compute_type(reduce.body.type());
    const Expr best = Reduce::make(is_max ? Reduction::Max : Reduction::Min, reduce.indices,
                                   reduce.body, true, std::nullopt, type);
    const Expr at =
        Reduce::make(reduce.op, reduce.indices, reduce.body, true, std::nullopt, reduce.type);
    const auto beyond = [&](BinaryOp op) { return Binary::make(op, best, number(0, type), type); };
    const Expr is_better = beyond(is_max ? BinaryOp::Max : BinaryOp::Min);
    const Expr is_worse = beyond(is_max ? BinaryOp::Min : BinaryOp::Max);
    const Expr has_entries = Binary::make(BinaryOp::Add, at, number(1));
    const Expr first = Choose::make(has_entries, Binary::make(BinaryOp::Min, at, gap), gap);
    const Expr with_gap = Choose::make(is_better, at, Choose::make(is_worse, gap, first));
    const Expr extent = IndexValue::make(reduce.indices[0], true);
    const Expr found =
        Choose::make(Binary::make(BinaryOp::Sub, extent, gap), with_gap, at, reduce.type);
    if (!reduce.empty) return found;
    return Choose::make(extent, found, number(static_cast<int64_t>(*reduce.empty)), reduce.type);
  }

  // The first coordinate without an entry in each row, computed by separate statements. Null if
  // these do not pay off.
  Expr gap_of(const Reduce& reduce) {
    const std::string& index = reduce.indices[0];
    const Expr entries = presence_of(reduce.body, is_sparse_);
    std::vector<std::string> rows = expr::free_indices(entries);
    if (!contains(rows, index)) return {};
    std::erase(rows, index);
    const bool fits = context_.tensors.at(statement_.tensor).format.is_dense() &&
                      std::all_of(rows.begin(), rows.end(), [&](const std::string& row) {
                        return contains(statement_.indices, row);
                      });
    if (!fits && rows.size() > 1) return {};
    const Expr stored = stored_by_rows(entries, rows, index);
    const Expr position = Unary::make(ElementFunction::Position, stored, DType::Int64);
    const Expr start = computed_before(
        rows, Reduce::make(Reduction::Min, {index}, position, true, std::nullopt, DType::Int64));
    const Expr offset = Binary::make(BinaryOp::Sub, Binary::make(BinaryOp::Sub, position, start),
                                     IndexValue::make(index, false));
    const Expr counted = mutant("gap-presumed-last")
                             ? number(1)
                             : Choose::make(offset, number(0), number(1), DType::Int64);
    return computed_before(
        rows, Reduce::make({index}, Binary::make(BinaryOp::Within, stored, counted, DType::Int64)));
  }

  // An access to a tensor that stores the entries row by row.
  Expr stored_by_rows(const Expr& entries, const std::vector<std::string>& rows,
                      const std::string& index) {
    const auto* access = entries.as<Access>();
    if (access && stores_rows_along(*access, index, context_.tensors.at(access->tensor).format))
      return entries;
    std::vector<std::string> indices = rows;
    indices.push_back(index);
    const int rank = static_cast<int>(indices.size());
    const bool dense_first = rank > 1 && !(access && context_.are_few(*access, rows[0]));
    return computed_before(indices, entries, Format::csf(rank, {}, dense_first));
  }

  Expr computed_before(const std::vector<std::string>& indices, const Expr& value) {
    return computed_before(indices, value, Format::dense(static_cast<int>(indices.size())));
  }
  Expr computed_before(const std::vector<std::string>& indices, const Expr& value,
                       const Format& format) {
    expr::Statement part{{}, indices, value};
    part.tensor = context_.name(part, format);
    before_.push_back(part);
    return Access::make(next_id_++, part.tensor, indices, value.type());
  }

  expr::Statement& statement_;
  const PlacesContext& context_;
  const expr::IsSparse is_sparse_ = [this](const std::string& tensor) {
    return !context_.tensors.at(tensor).format.is_dense();
  };
  int next_id_;
  std::vector<expr::Statement> before_;
};

}  // namespace

std::vector<expr::Statement> expand_places(expr::Statement& statement,
                                           const PlacesContext& context) {
  return PlaceExpander(statement, context).run();
}

bool asks_for_positions(const Expr& expr) {
  return expr::any_part(expr, [](const Expr& part) {
    const auto* unary = part.as<Unary>();
    return unary && unary->function == ElementFunction::Position;
  });
}

}  // namespace tulle::plan
