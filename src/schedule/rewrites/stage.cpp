// Stage: a where inside a loop, whose producer copies a tile of an operand.
#include "schedule/rewrites/stage.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "nest/bound_loops.h"
#include "nest/staging.h"
#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

using Loops = std::vector<const Forall*>;
using Staging = Tensor::Staging;

// An access to the operand, and the loops around it that are inside the loop that stages it.
struct Read {
  const expr::Access* access;
  Loops inside;
};

// The tensor that a staged workspace copies, perhaps through another copy. Other tensors are their
// own original.
std::string original_of(const Nest& nest, const std::string& tensor) {
  if (nest.tensor(tensor).staging == Staging::None) return tensor;
  for (const Assign* assign : assigns(nest.root)) {
    const auto* read = assign->tensor == tensor ? assign->value.as<expr::Access>() : nullptr;
    if (read) return original_of(nest, read->tensor);
  }
  internal_error("nothing is copied into ", tensor);
}

// Finds the reads of the operand, and of copies of it that are made outside the statement.
class ReadFinder {
 public:
  ReadFinder(const Nest& nest, const std::string& tensor) : nest_(nest), tensor_(tensor) {}

  std::vector<Read> find(const Stmt& stmt) {
    walk(stmt);
    return std::move(found_);
  }

 private:
  void walk(const Stmt& stmt) {
    if (const auto* loop = stmt.as<Forall>()) {
      around_.push_back(loop);
      walk(loop->body);
      around_.pop_back();
    } else if (const auto* where = stmt.as<Where>()) {
      made_here_.insert(where->workspaces.begin(), where->workspaces.end());
      walk(where->consumer);
      walk(where->producer);
    } else if (const auto* sequence = stmt.as<Sequence>()) {
      for (const Stmt& part : sequence->stmts) walk(part);
    } else if (const auto* assign = stmt.as<Assign>()) {
      for (const expr::Access* access : expr::accesses(assign->value)) {
        if (made_here_.contains(access->tensor)) continue;
        if (original_of(nest_, access->tensor) == tensor_) found_.push_back({access, around_});
      }
    }
  }

  const Nest& nest_;
  const std::string& tensor_;
  Loops around_;
  std::set<std::string> made_here_;
  std::vector<Read> found_;
};

// Whether the variable or one that it derives from counts entries, rows of chunks or diagonals.
bool counts_stored(const Nest& nest, const std::string& var) {
  const Variable& variable = nest.variable(var);
  using Origin = Variable::Origin;
  if (variable.origin == Origin::Source) return false;
  if (variable.is_position() || variable.is_of_chunks() || variable.origin == Origin::Stored ||
      variable.origin == Origin::Difference)
    return true;
  return counts_stored(nest, variable.parent) ||
         (variable.origin == Origin::Fused && counts_stored(nest, variable.second));
}

// The change of the original index when the variable grows by 1.
int64_t stride_of(const Nest& nest, const std::string& var) {
  const Variable& variable = nest.variable(var);
  using Origin = Variable::Origin;
  if (variable.origin != Origin::Outer && variable.origin != Origin::Inner) return 1;
  return stride_of(nest, variable.parent) *
         (variable.origin == Origin::Outer ? variable.factor : 1);
}

// Sorts the loops by the storage order of the operand, so that neighbouring threads copy
// neighbouring elements.
void sort_by_storage(const Nest& nest, const expr::Access& access, Loops& loops) {
  const std::vector<Level>& levels = nest.tensor(access.tensor).type.format.levels();
  const auto place = [&](const Forall* loop) {
    int64_t found = 0;
    for (size_t l = 0; l < levels.size(); ++l) {
      const auto dimension = static_cast<size_t>(levels[l].expr.dimension);
      if (nest.derives_from(loop->var, access.indices[dimension])) found = static_cast<int64_t>(l);
    }
    return std::pair(found, -stride_of(nest, loop->var));
  };
  std::stable_sort(loops.begin(), loops.end(),
                   [&](const Forall* a, const Forall* b) { return place(a) < place(b); });
}

// The inner loops that the copy runs over. `problem` is empty if a copy is possible.
struct Tile {
  Loops loops;
  std::string problem;
};

Tile tile_of(const Nest& nest, const std::vector<std::string>& outside, const Read& read,
             Staging staging) {
  const std::vector<std::string>& indices = read.access->indices;
  const std::string& tensor = read.access->tensor;
  Tile tile;
  for (const Forall* loop : read.inside) {
    const bool needed = std::any_of(indices.begin(), indices.end(), [&](const std::string& index) {
      return nest.derives_from(loop->var, index) && !nest.determines(outside, index);
    });
    if (!needed) continue;
    if (counts_stored(nest, loop->var)) {
      tile.problem = concat("'", loop->var, "' visits entries, chunks or diagonals, and stage ",
                            "copies elements of '", tensor, "' by their coordinates; stage it ",
                            "inside that loop");
    } else if (!covers(indices, nest, loop->var)) {
      tile.problem = concat("'", loop->var, "' is fused from an index of '", tensor,
                            "' and another one; put stage before fuse");
    } else if (!nest.known_extent(loop->var)) {
      tile.problem = concat("the copy is as long as '", loop->var,
                            "', which is known only when it runs; split it and reorder so that ",
                            "only the inner part is inside");
    }
    tile.loops.push_back(loop);
  }
  std::vector<std::string> known = outside;
  for (const Forall* loop : tile.loops) known.push_back(loop->var);
  for (const std::string& index : indices) {
    if (!tile.problem.empty() || nest.determines(known, index)) continue;
    tile.problem = concat(
        "'", index, "' follows from a diagonal and from a loop inside, and stage ",
        "copies elements of '", tensor, "' by their coordinates; stage it inside ", "that loop");
  }
  if (staging == Staging::Shared && nest.tensor(tensor).staging == Staging::Registers) {
    tile.problem = concat("a copy of it in registers is read, '", tensor,
                          "', which is private to each thread; stage in shared memory first");
  }
  if (staging == Staging::Shared) sort_by_storage(nest, *read.access, tile.loops);
  return tile;
}

std::string free_name(const Nest& nest, const std::string& tensor) {
  std::string name = concat(tensor, ".staged");
  for (int number = 1; nest.tensors.contains(name) || nest.variables.contains(name); ++number)
    name = concat(tensor, ".staged", number);
  return name;
}

expr::Expr with_access(const expr::Expr& value, const expr::Access& replaced,
                       const expr::Expr& replacement) {
  if (const auto* access = value.as<expr::Access>()) {
    const bool is_same = access->id == replaced.id && access->tensor == replaced.tensor;
    return is_same ? replacement : value;
  }
  return expr::with_children(
      value, [&](const expr::Expr& child) { return with_access(child, replaced, replacement); });
}

Result<> check_size(const Nest& nest, const Tile& tile, const std::string& tensor,
                    Staging staging) {
  if (staging != Staging::Registers || nest::has_bound_loops(nest.root)) return {};
  int64_t size = 1;
  for (const Forall* loop : tile.loops) {
    size *= *nest.known_extent(loop->var);
    if (size <= nest::kLargestLocal) continue;
    return refusal(
        "The copy of '", tensor, "' has more than ", nest::kLargestLocal,
        " elements, which is too much for registers; split its loops and stage the inner ",
        "parts.");
  }
  return {};
}

// Puts a where around the body of each loop, for each access that it copies. After the first
// refusal it leaves all further statements unchanged.
class Stager {
 public:
  Stager(Nest& nest, const Stage& step)
      : nest_(nest),
        tensor_(step.operand),
        at_(step.loop),
        staging_(step.staging),
        depth_(static_cast<int>(step.depth.value_or(1))) {}

  // An access that is not copied, with the reason.
  struct Left {
    std::string access, problem;
  };

  Result<Stmt> run(const Stmt& root) {
    Stmt staged = walk(root);
    if (refused_) return *refused_;
    if (!is_read_) {
      return refusal("'", tensor_, "' is not read in the loop over '", at_,
                     "'; stage it in another.");
    }
    if (!has_copied_) return refusal("In the loop over '", at_, "' ", left_.back().problem, ".");
    return staged;
  }

  const std::vector<Left>& left() const { return left_; }

 private:
  Stmt walk(const Stmt& stmt) {
    if (refused_) return stmt;
    const auto* loop = stmt.as<Forall>();
    const auto* where = stmt.as<Where>();
    if (where && nest::is_staging(*where, nest_))
      return Where::make(where->workspaces, walk(where->consumer), where->producer);
    if (!loop) return map_parts(stmt, [&](const Stmt& part) { return walk(part); });
    const bool is_here = loop->var == at_;
    if (is_here) refuse(check_loop(*loop));
    if (refused_) return stmt;
    around_.push_back(loop->var);
    const Stmt body = is_here ? staged(loop->body, around_) : walk(loop->body);
    around_.pop_back();
    return Forall::make(loop->var, body, loop->tag);
  }

  void refuse(const Result<>& checked) {
    if (!checked && !refused_) refused_ = checked.error();
  }

  Result<> check_loop(const Forall& loop) const {
    if (loop.tag.kind == LoopTag::Kind::Vector) {
      return refusal("The loop over '", at_, "' runs in the lanes of a vector; stage '", tensor_,
                     "' in a loop outside of it.");
    }
    if (depth_ == 1 || !loop.tag.is_bound()) return {};
    return refusal("The iterations of the loop over '", at_, "' run on the ",
                   nest::bound_name(loop.tag.kind),
                   "s of a GPU, so that none has a next one to copy for; stage with depth 1, or ",
                   "in a loop that runs one iteration after the other.");
  }

  Stmt staged(const Stmt& body, const std::vector<std::string>& outside) {
    const std::vector<Read> reads = ReadFinder(nest_, tensor_).find(body);
    is_read_ |= !reads.empty();
    std::map<int, Tile> tiles;
    std::map<int, const expr::Access*> accesses;
    for (const Read& read : reads) {
      Tile tile = tile_of(nest_, outside, read, staging_);
      const auto [known, is_new] = tiles.emplace(read.access->id, tile);
      accesses[read.access->id] = read.access;
      if (!is_new && variables(known->second) != variables(tile))
        known->second.problem = concat("'", tensor_, "' is read in different loops");
    }
    Stmt result = body;
    for (const auto& [id, tile] : tiles) {
      if (tile.problem.empty()) {
        result = copied(result, *accesses.at(id), tile);
      } else {
        const expr::Access& access = *accesses.at(id);
        const auto text =
            expr::to_string(expr::Access::make(id, access.tensor, access.indices, access.type));
        left_.push_back({text, tile.problem});
      }
    }
    return result;
  }

  static NameList variables(const Tile& tile) {
    NameList names;
    for (const Forall* loop : tile.loops) names.push_back(loop->var);
    return names;
  }

  Stmt copied(const Stmt& body, const expr::Access& access, const Tile& tile) {
    refuse(check_size(nest_, tile, tensor_, staging_));
    if (refused_) return body;
    has_copied_ = true;
    const std::vector<std::string> vars = variables(tile);
    const std::string name = free_name(nest_, tensor_);
    const expr::TensorType type = nest_.tensor(tensor_).type;
    const int id = std::max(next_access_id(nest_), next_id_);
    next_id_ = id + 1;
    const expr::Expr read = expr::Access::make(id, name, vars, access.type);
    const Stmt consumer = rebuild(body, [&](const Stmt& stmt) -> Stmt {
      const auto* assign = stmt.as<Assign>();
      if (!assign) return stmt;
      return Assign::make(assign->tensor, assign->indices, assign->accumulate,
                          with_access(assign->value, access, read));
    });
    Stmt producer =
        Assign::make(name, vars, std::nullopt,
                     expr::Access::make(access.id, access.tensor, access.indices, access.type));
    for (auto loop = tile.loops.rbegin(); loop != tile.loops.rend(); ++loop) {
      const bool all_share = staging_ == Staging::Shared;
      producer = Forall::make((*loop)->var, producer, all_share ? LoopTag{} : (*loop)->tag);
    }
    nest_.tensors[name] = {
        .role = Tensor::Role::Workspace,
        .type = {type.type, type.index_type, Format::dense(static_cast<int>(vars.size()))},
        .staging = staging_,
        .depth = depth_};
    nest_.tensors[name].type.unbounded = type.unbounded;
    return Where::make(name, consumer, producer);
  }

  Nest& nest_;
  const std::string tensor_, at_;
  const Staging staging_;
  const int depth_;
  NameList around_;  // loops
  std::optional<Refusal> refused_;
  bool is_read_ = false, has_copied_ = false;
  std::vector<Left> left_;
  int next_id_ = 0;
};

}  // namespace

Result<Nest> stage(const Nest& nest, const Stage& step, Remarks* remarks) {
  const auto& [tensor, at, staging, depth] = step;
  TULLE_TRY(require_role(nest, tensor, Tensor::Role::Operand));
  TULLE_TRY(require_loop(nest, at));
  if (!nest.tensor(tensor).type.format.is_dense()) {
    return refusal("'", tensor, "' (", nest.tensor(tensor).type.format.name(),
                   ") holds only some coordinates, and stage copies dense tiles; stage a dense ",
                   "operand.");
  }
  if (staging == Staging::Shared && !nest::has_bound_loops(nest.root)) {
    return refusal(
        "Shared memory belongs to a block of a GPU, and no loop is bound to blocks; bind ",
        "one first, or stage in registers.");
  }
  Nest result = nest;
  Stager stager(result, step);
  const Result<Stmt> staged = stager.run(nest.root);
  if (!staged) return staged.error();
  result.root = *staged;
  for (const auto& [access, problem] : stager.left())
    remark(remarks, access, " is read without a copy in the loop over '", at, "': ", problem, ".");
  return result;
}

}  // namespace tulle::schedule
