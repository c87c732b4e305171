// Cuts a loop over rows into a loop over chunks, and checks which nests allow it.
#include "schedule/rewrites/row_chunks.h"

#include <algorithm>
#include <cstdint>

#include "nest/merged_rows.h"
#include "nest/number_accesses.h"
#include "nest/row_pieces.h"
#include "schedule/queries.h"
#include "schedule/rewrites/split_positions.h"
#include "support/check.h"
#include "support/mutant.h"
#include "tulle/type_names.h"

namespace tulle::schedule {

namespace {

// The index of the rows' coordinates. The rows may be numbered.
std::string row_index(const Nest& nest, const std::string& rows) {
  const Variable& variable = nest.variable(rows);
  return variable.origin == Variable::Origin::Stored ? variable.parent : rows;
}

// Whether the loop contains all assignments that compute the results of a row.
bool holds_all(const Nest& nest, const Forall& rows, const Forall& loop) {
  const Where* tuple = nest::tuple_of_row(nest, rows);
  const auto all = lasting_assigns(tuple ? tuple->producer : rows.body);
  return std::all_of(all.begin(), all.end(),
                     [&](const Assign* assign) { return nest::find_assign(loop.body, *assign); });
}

// The operand whose entries an inner loop walks over, row by row. Prefers one whose entry loop
// computes all results of a row, because its pieces then give parts of the row's results.
Result<const expr::Access*> operand_of_rows(const Nest& nest, const Forall& rows) {
  const expr::Access* found = nullptr;
  bool suits = false;
  for (const Assign* assign : assigns(rows.body)) {
    for (const expr::Access* access : expr::accesses(assign->value)) {
      const Tensor& tensor = nest.tensor(access->tensor);
      const auto& levels = tensor.type.format.levels();
      const Variable& numbers = nest.variable(rows.var);
      const bool numbered = numbers.origin == Variable::Origin::Stored;
      if (tensor.role != Tensor::Role::Operand || levels.size() != 2 ||
          is_full(levels[0].kind) == numbered || !levels[0].expr.is_whole() ||
          !levels[1].expr.is_whole()) {
        continue;
      }
      const auto index = [&](size_t l) {
        return access->indices[static_cast<size_t>(levels[l].expr.dimension)];
      };
      const std::string row = row_index(nest, rows.var);
      if (numbered && numbers.tensor != access->tensor) continue;
      if (index(0) != row || index(1) == row) continue;
      const Forall* entries = nest::find_loop(rows.body, index(1));
      if (!entries || is_full(levels[1].kind)) continue;
      const Result<const expr::Access*> walked = walked_rows(nest, *entries);
      if (!walked) return walked;
      TULLE_TRY(require_needed(*entries, **walked));
      const bool holds = holds_all(nest, rows, *entries);
      if (holds || !suits) found = access;
      suits |= holds;
    }
  }
  if (!found) {
    return refusal("No operand stores rows of entries along '", rows.var,
                   "' that could be cut; use split.");
  }
  return found;
}

// Checks the workspaces that a row fills. A second kernel merges those of its pieces.
Result<> check_tuple(const Nest& nest, const std::string& step, const Forall& rows,
                     const expr::Access& operand, const Where& where) {
  const Forall& entries = *nest::find_loop(rows.body, nest::entries_index(nest, operand));
  TULLE_TRY(require_in_pieces(nest, entries, where.producer, where.workspaces, operand.tensor,
                              concat("leave ", step, " out")));
  for (const Assign* assign : assigns(where.producer)) {
    if (!contains(where.workspaces, assign->tensor)) continue;
    if (nest::starts_absent(assign->accumulate)) {
      return refusal(
          "'", assign->tensor, "' is a sum along the rows of '", rows.var,
          "' for an expression, where a sum of nothing differs from 0, and a chunk only has ",
          "some terms; leave ", step, " out.");
    }
    if (nest.leads(assign->tensor) && !assign->indices.empty()) {
      return refusal("'", assign->tensor, "' has elements for '", list_of(assign->indices),
                     "' and scales other workspaces, and pieces of tuples are scaled by one "
                     "element only; move these loops outside '",
                     rows.var, "', or leave ", step, " out.");
    }
  }
  for (const Assign* assign : assigns(where.consumer)) {
    const Tensor& result = nest.tensor(assign->tensor);
    if (result.role == Tensor::Role::Result && result.onto.empty() &&
        result.type.format.is_dense() && contains(assign->indices, row_index(nest, rows.var)) &&
        !assign->accumulate && !nest::reads(assign->value, operand.tensor)) {
      continue;
    }
    return refusal("'", assign->tensor, "' is not stored once for each '", rows.var,
                   "', or with entries of '", operand.tensor, "'; leave ", step, " out.");
  }
  return {};
}

// Whether each entry stores its own element of the result, with workspaces that are complete within
// its iteration. Then the piece of the row that contains the entry does not matter.
bool stores_each_entry(const Nest& nest, const Forall& rows, const expr::Access& operand) {
  const auto* entries = rows.body.as<Forall>();
  if (!entries) return false;
  const auto lasting = all_lasting_assigns(nest, entries->body);
  return entries->var == nest::entries_index(nest, operand) && lasting.size() == 1 &&
         !lasting[0]->accumulate &&
         nest::has_structure_of(nest, nest.tensor(lasting[0]->tensor), operand.tensor);
}

Result<> check_result(const Nest& nest, const std::string& step, const Forall& rows,
                      const expr::Access& operand) {
  if (stores_each_entry(nest, rows, operand)) return {};
  const std::vector<const Assign*> all = assigns(nest.root);
  if (const auto* where = rows.body.as<Where>(); where && where->workspaces.size() > 1)
    return check_tuple(nest, step, rows, operand, *where);
  if (all.size() != 1) {
    return refusal("Workspaces are inside the loop over '", rows.var,
                   "', and a chunk only has some entries of a row; put ", step,
                   " before precompute and stage, or leave it out.");
  }
  const Assign& assign = *all.front();
  const Tensor& result = nest.tensor(assign.tensor);
  if (!result.type.format.is_dense()) {
    if (nest::has_structure_of(nest, result, operand.tensor)) return {};
    return refusal("'", assign.tensor,
                   "' is built entry by entry and needs undivided loops; leave ", step, " out.");
  }
  const auto& levels = result.type.format.levels();
  const bool first =
      !levels.empty() &&
      assign.indices[static_cast<size_t>(levels[0].expr.dimension)] == row_index(nest, rows.var);
  const bool sums = !contains(assign.indices, nest::entries_index(nest, operand));
  if (!first || (sums && !nest::stands_alone(assign.accumulate))) {
    return refusal("'", assign.tensor, "' is not stored row by row along '", rows.var,
                   "', or is no sum, product, maximum or minimum; leave ", step, " out.");
  }
  const DType type = result.type.type;
  if (sums && (size_of(type) < 4 || type == DType::Bool)) {
    return refusal("Sums of type ", long_name_of(type), " are not added up by atomics; leave ",
                   step, " out.");
  }
  return {};
}

}  // namespace

Result<Nest> split_into_chunks(const Nest& nest, const std::string& step, const Variable& kind,
                               const std::string& chunk, const std::string& row) {
  const std::string& var = kind.parent;
  TULLE_TRY(require_loop(nest, var));
  TULLE_TRY(require_untagged(nest, var, step));
  TULLE_TRY(require_coordinates(nest, var, step));
  TULLE_TRY(require_free_name(nest, chunk));
  TULLE_TRY(require_free_name(nest, row));
  const Forall& rows = *nest::find_loop(nest.root, var);
  const Result<const expr::Access*> found = operand_of_rows(nest, rows);
  if (!found) return found.error();
  const expr::Access& operand = **found;
  TULLE_TRY(require_same_indices(nest, operand, step));
  TULLE_TRY(check_result(nest, step, rows, operand));
  Nest result = nest;
  using Origin = Variable::Origin;
  for (const auto& [name, origin] : {std::pair(chunk, Origin::Chunk), {row, Origin::ChunkRow}}) {
    Variable& variable = result.variables[name] = kind;
    variable.origin = origin;
    variable.tensor = operand.tensor;
  }
  result.root = replace(nest.root, &rows, Forall::make(chunk, Forall::make(row, rows.body)));
  return result;
}

namespace {

bool goes_through_chunk(const Variable& variable) {
  return variable.origin == Variable::Origin::ChunkRow ||
         variable.origin == Variable::Origin::Entry;
}

// Whether these loops determine the chunk that the variable runs through.
bool has_chunk(const Nest& nest, const std::vector<std::string>& loops, const Variable& variable) {
  return std::any_of(nest.variables.begin(), nest.variables.end(), [&](const auto& entry) {
    const Variable& other = entry.second;
    return other.is_of_chunks() && !goes_through_chunk(other) && other.parent == variable.parent &&
           other.second == variable.second && nest.determines(loops, entry.first);
  });
}

Result<> check_in_chunk(const Nest& nest, const Forall& loop, const NameList& around) {
  const Variable& variable = nest.variable(loop.var);
  if (!goes_through_chunk(variable)) return {};
  const bool unrolled_entries =
      variable.origin == Variable::Origin::Entry && loop.tag.kind == LoopTag::Kind::Unrolled;
  if (loop.tag != LoopTag{} && !unrolled_entries) {
    return refusal("The loop over '", loop.var, "' goes through the ",
                   variable.is_of_entries() ? "entries" : "rows",
                   " of a chunk one after the other; leave it as it is.");
  }
  if (has_chunk(nest, around, variable)) return {};
  return refusal("The loop over '", loop.var,
                 "' goes through one chunk, but is outside the loop over chunks; move it inside.");
}

}  // namespace

Result<> require_chunks_around_rows(const Nest& nest) {
  if (!has_variable(nest, goes_through_chunk)) return {};
  for (const auto& [name, variable] : nest.variables) {
    for (const std::string& parent : {variable.parent, variable.second}) {
      if (parent.empty() || !goes_through_chunk(nest.variable(parent))) continue;
      return refusal("'", parent,
                     "' goes through a chunk, whose end is not known in advance; choose ",
                     "another length of chunks instead.");
    }
  }
  return check_each_loop_within(nest.root, [&](const Forall& loop, const NameList& around) {
    return check_in_chunk(nest, loop, around);
  });
}

// Pieces of one row in a chunk must not share a workspace, because each piece would store all of
// it.
Result<> require_pieces_apart(const Nest& nest) {
  if (mutant("dealt-pieces-shared")) return {};
  for (const Assign* assign : assigns(nest.root)) {
    const Tensor& tensor = nest.tensor(assign->tensor);
    if (tensor.role != Tensor::Role::Workspace || tensor.staging != Tensor::Staging::None) continue;
    for (const std::string& index : assign->indices) {
      const Variable& variable = nest.variable(index);
      if (variable.origin != Variable::Origin::ChunkRow || variable.dealt == 0) continue;
      return refusal(
          "'", assign->tensor, "' has an element for each row along '", index,
          "', and a chunk may have several pieces of a row; gather them inside the loop ", "over '",
          index, "', or use split_rows.");
    }
  }
  return {};
}

}  // namespace tulle::schedule
