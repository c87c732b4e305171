// The checks on bound loops.
#include "schedule/checks/bound_loops.h"

#include <algorithm>
#include <map>

#include "nest/bound_loops.h"
#include "nest/row_pieces.h"
#include "nest/staging.h"
#include "schedule/checks/shared_memory.h"
#include "schedule/queries.h"
#include "support/check.h"
#include "support/gpu_limits.h"
#include "support/mutant.h"
#include "tulle/type_names.h"

namespace tulle::schedule {

namespace {

using Kind = LoopTag::Kind;

class BindingVerifier {
 public:
  explicit BindingVerifier(const Nest& nest) : nest_(nest) {}

  Result<> verify() {
    const auto* root = nest_.root.as<Forall>();
    if (!root || root->tag.kind != Kind::Block) {
      return refusal(
          "The outermost loop runs on the blocks of a GPU before others are bound; start with ",
          "bind(", root ? root->var : "i", ", block).",
          root ? "" : " This nest has no outermost loop; reorder so that one stands around it.");
    }
    for (const auto& [name, tensor] : nest_.tensors) {
      if (tensor.role == Tensor::Role::Result && !tensor.type.format.is_dense() &&
          tensor.shares_pattern_of.empty()) {
        return refusal("'", name,
                       "' is built entry by entry, which chunks of rows do; use parallel(",
                       root->var, ") instead of bind.");
      }
    }
    TULLE_TRY(check_each_loop(nest_.root, [](const Forall& loop) -> Result<> {
      if (loop.tag.kind == Kind::Parallel) {
        return refusal(
            "The loop over '", loop.var,
            "' is parallel, and a nest is either cut into chunks or bound to a GPU; leave ",
            "parallel or bind out.");
      }
      return {};
    }));
    TULLE_TRY(walk(nest_.root));
    return check_groups();
  }

 private:
  Result<> walk(const Stmt& stmt) {
    if (const auto* loop = stmt.as<Forall>()) {
      if (loop->tag.is_bound()) TULLE_TRY(check_loop(*loop));
      std::vector<const Forall*>& loops = loop->tag.is_bound() ? around_ : serial_;
      loops.push_back(loop);
      TULLE_TRY(walk(loop->body));
      loops.pop_back();
    } else if (const auto* where = stmt.as<Where>()) {
      for (const std::string& name : where->workspaces) TULLE_TRY(check_workspace(*where, name));
      TULLE_TRY(walk(where->producer));
      const bool before = after_warps_;
      for_each_loop(where->producer,
                    [&](const Forall& loop) { after_warps_ |= loop.tag.kind == Kind::Warp; });
      TULLE_TRY(walk(where->consumer));
      after_warps_ = before;
    } else if (const auto* sequence = stmt.as<Sequence>()) {
      for (const Stmt& part : sequence->stmts) TULLE_TRY(walk(part));
    }
    return {};
  }

  Result<> check_loop(const Forall& loop) const {
    TULLE_TRY(check_place(loop));
    TULLE_TRY(check_extent(loop));
    if (!mutant("bind-over-reduction")) TULLE_TRY(check_writes(loop));
    TULLE_TRY(check_diagonals(loop));
    TULLE_TRY(check_pieces(loop));
    if (nest_.variable(loop.var).is_position()) return check_positions(loop);
    if (const std::string tensor = sparse_tensor(nest_, loop.body, loop.var); !tensor.empty()) {
      return refusal(
          "'", tensor, "' holds only some coordinates of '", loop.var,
          "', and a bound loop counts; bind a loop over an index that is stored densely, or ",
          "cut the entries with split_positions.");
    }
    return {};
  }

  // Entries of one coordinate have different positions in different rows, so different threads
  // process them.
  Result<> check_positions(const Forall& loop) const {
    if (loop.tag.kind == Kind::Block) {
      return refusal("The number of pieces that '", loop.var,
                     "' counts is on the GPU, and a launch needs the number of blocks before; use ",
                     "number_rows and split instead.");
    }
    for (const Assign* assign : lasting_assigns(loop.body)) {
      const bool is_result = nest_.tensor(assign->tensor).role == Tensor::Role::Result;
      if (!is_result || !assign->accumulate || !covers(assign->indices, nest_, loop.var)) continue;
      for (const Forall* around : serial_) {
        if (covers(assign->indices, nest_, around->var) ||
            !has_other_entries(loop.var, around->var))
          continue;
        return refusal("'", assign->tensor, "' is summed over '", around->var,
                       "' around the loop over '", loop.var,
                       "', which visits different entries each time: different ",
                       nest::bound_name(loop.tag.kind),
                       "s would write the same location. Bring the loop over '", around->var,
                       "' inside with reorder, or leave bind out.");
      }
    }
    return {};
  }

  // Whether the loop over `around` selects the row that the position counts entries of.
  bool has_other_entries(const std::string& position, const std::string& around) const {
    const std::string& tensor = nest_.variable(position).tensor;
    const auto sources = nest_.sources(around);
    const auto is_along = [&](const expr::Access* access) {
      return access->tensor == tensor &&
             std::any_of(sources.begin(), sources.end(), [&](const std::string& source) {
               return contains(access->indices, source);
             });
    };
    const std::vector<const Assign*> all = assigns(nest_.root);
    return std::any_of(all.begin(), all.end(), [&](const Assign* assign) {
      const auto reads = expr::accesses(assign->value);
      return std::any_of(reads.begin(), reads.end(), is_along);
    });
  }

  // Where chunks cut rows into pieces, one thread or the lanes of one warp gather a whole piece.
  Result<> check_pieces(const Forall& loop) const {
    if (loop.tag.kind != Kind::Warp && loop.tag.kind != Kind::Thread) return {};
    const Forall* rows = nest::loop_over_pieces(nest_);
    if (!rows || !nest::tuple_of_row(nest_, *rows) || !nest::find_loop(rows->body, loop.var))
      return {};
    return refusal("The loop over '", loop.var, "' is inside the loop over the rows of chunks, '",
                   rows->var, "'. A thread or the lanes of a warp gather each piece of a row; ",
                   "bind the loop over chunks to warps or threads instead.");
  }

  bool inside(Kind kind) const {
    return std::any_of(around_.begin(), around_.end(),
                       [&](const Forall* loop) { return loop->tag.kind == kind; });
  }

  Result<> check_place(const Forall& loop) const {
    const Kind kind = loop.tag.kind;
    const std::string_view name = nest::bound_name(kind);
    if (kind == Kind::Lane && !around_.empty() && around_.back()->tag.kind == Kind::Lane)
      return check_group(loop);
    if (inside(kind)) {
      return refusal("The loop over '", loop.var, "' is inside one that is bound to a ", name,
                     "; fuse the two, or bind one of them to another part.");
    }
    if (kind == Kind::Block) {
      if (&loop == nest_.root.get()) return {};
      return refusal("Only the outermost loop can run on blocks, and the one over '", loop.var,
                     "' is not; move it outside with reorder first.");
    }
    if (inside(Kind::Lane) || inside(Kind::Thread)) {
      return refusal("The loop over '", loop.var, "' is inside one that is bound to a ",
                     nest::bound_name(around_.back()->tag.kind), ", which has no ", name, "s.");
    }
    if (kind == Kind::Thread && inside(Kind::Warp)) {
      return refusal(
          "The loop over '", loop.var,
          "' is inside one that is bound to a warp. The threads of a warp are lanes: use ", "bind(",
          loop.var, ", lane).");
    }
    if (kind == Kind::Lane && !inside(Kind::Warp) && !(after_warps_ && only_stores(loop))) {
      return refusal("Lanes belong to a warp, and no loop around the one over '", loop.var,
                     "' is bound to warps; bind that first, or bind '", loop.var, "' to threads.");
    }
    return {};
  }

  // A loop over lanes inside another one uses groups of lanes.
  Result<> check_group(const Forall& loop) const {
    const Forall& outer = *around_.back();
    if (std::count_if(around_.begin(), around_.end(),
                      [](const Forall* around) { return around->tag.kind == Kind::Lane; }) > 1) {
      return refusal("The loop over '", loop.var, "' is inside groups of lanes, over '", outer.var,
                     "', which cannot be divided again; bind at most two loops to lanes.");
    }
    const int64_t all = nest_.known_extent(outer.var).value_or(kWarpSize + 1);
    const int64_t own = nest_.known_extent(loop.var).value_or(kWarpSize + 1);
    if (own < 1 || (own & (own - 1)) != 0 || all * own > kWarpSize) {
      return refusal("The lanes of a warp form ", all, " groups of ", own, " for '", outer.var,
                     "' and '", loop.var,
                     "', but groups have 1, 2, 4, 8 or 16 lanes, and all together ", kWarpSize,
                     "; split the loops into such.");
    }
    if (own != nest::lanes_inside(nest_, outer.var)) {
      return refusal("Loops over groups of ", own, " and of ", nest::lanes_inside(nest_, outer.var),
                     " lanes are inside the one over '", outer.var,
                     "'; split them into equal numbers of iterations.");
    }
    return {};
  }

  // A lane must run the same iterations everywhere. So if one loop over a variable is inside
  // another loop over lanes, all loops over the variable must be. The exception is a loop that only
  // stores a value common to all groups: the first group runs it.
  Result<> check_groups() const {
    std::map<std::string, std::string> outside;
    return check_groups(nest_.root, "", outside);
  }

  // `outer` is the loop over lanes around the statement. `outside` maps each loop over lanes
  // visited so far to the loop over lanes around it.
  Result<> check_groups(const Stmt& stmt, const std::string& outer,
                        std::map<std::string, std::string>& outside) const {
    const auto* loop = stmt.as<Forall>();
    const bool lanes = loop && loop->tag.kind == Kind::Lane;
    if (lanes && !(outer.empty() && only_stores(*loop))) {
      const auto [found, is_new] = outside.emplace(loop->var, outer);
      if (!is_new && found->second != outer) {
        return refusal(
            "One loop over '", loop->var, "' is inside one over lanes, '",
            outer.empty() ? found->second : outer,
            "', and one is not, so that lanes would change iterations; bring the loops into ",
            "one order with reorder, before precompute and rfactor.");
      }
    }
    const std::string& around = lanes ? loop->var : outer;
    if (loop) return check_groups(loop->body, around, outside);
    for (const Stmt& part : parts_of(stmt)) TULLE_TRY(check_groups(part, around, outside));
    return {};
  }

  bool only_stores(const Forall& loop) const {
    const std::vector<const Assign*> all = lasting_assigns(loop.body);
    return nest::lanes_inside(nest_, loop.var) == 1 &&
           std::all_of(all.begin(), all.end(), [&](const Assign* assign) {
             return nest_.tensor(assign->tensor).role == Tensor::Role::Result;
           });
  }

  Result<> check_extent(const Forall& loop) const {
    if (loop.tag.kind == Kind::Block) return {};
    const int64_t most = loop.tag.kind == Kind::Warp   ? kMostThreads / kWarpSize
                         : loop.tag.kind == Kind::Lane ? kWarpSize
                                                       : kMostThreads;
    const std::string_view name = nest::bound_name(loop.tag.kind);
    const auto extent = nest_.known_extent(loop.var);
    if (extent && *extent >= 1 && *extent <= most) return {};
    const std::string remedy =
        nest_.variable(loop.var).is_position()
            ? concat("let split_positions count at most ", most,
                     " entries, and bind its inner loop")
            : concat("split it, split(", loop.var, ", ", most, ", ", loop.var, "0, ", loop.var,
                     "1) say, and bind the inner part");
    return refusal("A loop over ", name, "s has 1 to ", most, " iterations, and '", loop.var,
                   "' has ",
                   extent ? concat(*extent) : std::string("a number known only when it runs"), "; ",
                   remedy, ".");
  }

  Result<> check_writes(const Forall& loop) const {
    for (const Assign* assign : lasting_assigns(loop.body)) {
      const bool covered = covers(assign->indices, nest_, loop.var);
      if (loop.tag.by_atomics) TULLE_TRY(check_atomics(loop, *assign, covered));
      if (covered || loop.tag.by_atomics) continue;
      if (nest::combines(loop, nest_)) {
        TULLE_TRY(check_combination(loop));
        continue;
      }
      return refusal(
          "'", loop.var, "' is summed into '", assign->tensor, "': different ",
          nest::bound_name(loop.tag.kind),
          "s would write the same location at once. Bind a loop over an index of '", assign->tensor,
          "' instead, or ",
          loop.tag.kind == Kind::Block && is_added_by_atomics(*assign)
              ? concat("let blocks add up with bind(", loop.var, ", block, sums=atomics).")
              : concat("give each its own sum first with rfactor(", loop.var, ", part)",
                       is_added_by_atomics(*assign) ? ", or add up with sums=atomics." : "."));
    }
    return {};
  }

  // Whether blocks can add to the tensor by atomics, in any order.
  bool is_added_by_atomics(const Assign& assign) const {
    const Tensor& target = nest_.tensor(assign.tensor);
    return target.role == Tensor::Role::Result && nest::stands_alone(assign.accumulate) &&
           size_of(target.type.type) >= 4 && target.type.type != DType::Bool;
  }

  Result<> check_atomics(const Forall& loop, const Assign& assign, bool covered) const {
    if (is_added_by_atomics(assign) && !covered) return {};
    return refusal(
        "Atomics combine sums, products, maxima and minima of int32, int64, float32 and ",
        "float64 over '", loop.var, "', and '", assign.tensor, "' is ",
        covered                                  ? std::string("not summed over it")
        : !nest::stands_alone(assign.accumulate) ? std::string("another reduction")
        : nest_.tensor(assign.tensor).role != Tensor::Role::Result
            ? std::string("a private workspace of each thread")
            : concat("of ", long_name_of(nest_.tensor(assign.tensor).type.type)),
        "; leave sums=atomics out.");
  }

  // The diagonal determines its first and last row, so loops along it have their own bounds.
  Result<> check_diagonals(const Forall& loop) const {
    const Variable& variable = nest_.variable(loop.var);
    const bool is_along = goes_along_diagonals(nest_, loop.var);
    if (!is_along && variable.origin != Variable::Origin::Difference) return {};
    return refusal("The loop over '", loop.var, "' goes ", is_along ? "along" : "through",
                   " diagonals one after the other, and a bound loop cannot; bind a loop ",
                   "over rows outside the one over diagonals, or use parallel.");
  }

  Result<> check_combination(const Forall& loop) const {
    if (nest::merges_tuples(loop, nest_)) return check_merge(loop);
    const int64_t extent = nest_.known_extent(loop.var).value_or(0);
    if (loop.tag.kind == Kind::Lane && nest::lanes_inside(nest_, loop.var) > 1) {
      return refusal(
          "The partial sums over '", loop.var,
          "' are combined by neighbouring lanes, and other loops over lanes are inside the one ",
          "over '", loop.var, "'; move it inside these with reorder.");
    }
    if (loop.tag.kind != Kind::Lane || (extent & (extent - 1)) == 0) return {};
    return refusal("The lanes of a warp add up in groups of 1, 2, 4, 8, 16 or 32, and '", loop.var,
                   "' has ", extent, " iterations; split it by one of these.");
  }

  Result<> check_merge(const Forall& loop) const {
    if (loop.tag.kind != Kind::Lane) return check_merging_lanes(loop);
    const int64_t extent = nest_.known_extent(loop.var).value_or(0);
    const int64_t inside = nest::lanes_inside(nest_, loop.var);
    const bool in_group = !around_.empty() && around_.back()->tag.kind == Kind::Lane;
    if ((extent & (extent - 1)) == 0 && (in_group || extent * inside == kWarpSize)) return {};
    return refusal("The tuples over '", loop.var, "' are merged by all ", kWarpSize,
                   " lanes of a warp, or by 1, 2, 4, 8 or 16 in a loop over lanes, and there are ",
                   extent * inside, "; split the loops to one of these numbers.");
  }

  // Each lane merges its own parts, so it must run the same iterations as when it gathered them.
  Result<> check_merging_lanes(const Forall& merging) const {
    return check_each_loop(merging.body, [&](const Forall& loop) -> Result<> {
      const bool spreads = loop.tag.kind == Kind::Lane &&
                           nest::lanes_inside(nest_, loop.var) > nest::lanes_of(nest_, loop.body);
      if (!spreads) return {};
      return refusal("The parts over '", merging.var,
                     "' are gathered by groups of lanes, one for each '", loop.var,
                     "', and would be merged by single lanes; bring the loop over '", loop.var,
                     "' inside of the others over lanes with reorder, before rfactor.");
    });
  }

  // The thread that fills a part of a workspace must be the one that reads it.
  Result<> check_reader(const Where& where, const std::string& name,
                        const std::string& index) const {
    if (!nest::reads(where.consumer, name) || mutant("readers-unchecked")) return {};
    const auto writers = spread_over(where.producer, name, index);
    const auto readers = spread_over(where.consumer, name, index);
    if (writers == readers) return {};
    const auto& bound = writers.empty() ? readers : writers;
    return refusal(
        "The workspace '", name, "' is ", writers.empty() ? "read" : "filled", " by a loop over '",
        bound.begin()->first, "' that is bound to a ", nest::bound_name(bound.begin()->second),
        ", so that each part is private, and ", writers.empty() ? "filled" : "read",
        " by others; put fuse and split before precompute, stage and rfactor, or leave that "
        "loop unbound.");
  }

  // The loops within a block that select the element of the workspace along the index, with the
  // parts that they are bound to.
  std::map<std::string, Kind> spread_over(const Stmt& stmt, const std::string& workspace,
                                          const std::string& index) const {
    std::map<std::string, Kind> found;
    for_each_loop(stmt, [&](const Forall& loop) {
      if (part_of(&loop) != Kind::Serial && nest_.derives_from(loop.var, index) &&
          uses(loop.body, workspace))
        found.emplace(loop.var, loop.tag.kind);
    });
    return found;
  }

  static bool uses(const Stmt& stmt, const std::string& tensor) {
    const auto all = assigns(stmt);
    return std::any_of(all.begin(), all.end(), [&](const Assign* assign) {
      return assign->tensor == tensor || nest::reads(assign->value, tensor);
    });
  }

  // The part of a block that the loop is bound to. Serial if there is none.
  static Kind part_of(const Forall* loop) {
    return loop && loop->tag.is_within_block() ? loop->tag.kind : Kind::Serial;
  }

  // Each thread keeps the part of a workspace that its iterations use in registers.
  Result<> check_workspace(const Where& where, const std::string& name) const {
    const Tensor& tensor = nest_.tensor(name);
    if (tensor.staging == Tensor::Staging::Shared) return {};  // it is not in registers
    int64_t size = tensor.depth;
    for (const Assign* assign : assigns(where.producer)) {
      if (assign->tensor != name) continue;
      size = tensor.depth;
      for (const std::string& index : assign->indices) {
        TULLE_TRY(check_reader(where, name, index));
        if (part_of(nest::find_loop(where.producer, index)) != Kind::Serial) continue;
        const auto extent = nest_.known_extent(index);
        if (!extent) {
          return refusal("The workspace '", name, "' is as long as '", index,
                         "', which is known only when it runs, and a thread of a GPU keeps it in ",
                         "registers; split '", index, "' before precompute.");
        }
        size *= std::max<int64_t>(1, *extent);
      }
    }
    if (size <= nest::kLargestThreadLocal) return {};
    return refusal("The workspace '", name, "' has ", size,
                   " elements, and a thread of a GPU keeps at most ", nest::kLargestThreadLocal,
                   "; split its loops before precompute or stage.");
  }

  const Nest& nest_;
  // whether this is after a loop over warps, when all warps have its results
  bool after_warps_ = false;
  std::vector<const Forall*> around_;  // the bound loops around the statement
  std::vector<const Forall*> serial_;  // the unbound loops around the statement
};

}  // namespace

Result<> require_legal_bindings(const Nest& nest) {
  if (!nest::has_bound_loops(nest.root)) return {};
  TULLE_TRY(BindingVerifier(nest).verify());
  return require_shared_memory(nest);
}

}  // namespace tulle::schedule
