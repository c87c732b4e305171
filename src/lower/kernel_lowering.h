// Lowers one nest to the body of one kernel: loops over levels, workspaces, assembly of the result.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "loop/host.h"
#include "lower/copies_ahead.h"
#include "lower/derived.h"
#include "lower/frame.h"
#include "lower/kernel_context.h"
#include "lower/lower.h"
#include "lower/result_assembly.h"
#include "lower/search.h"
#include "lower/shared_copies.h"
#include "lower/storage.h"
#include "lower/touches.h"
#include "lower/tuple_pieces.h"
#include "lower/walker.h"

namespace tulle::lower {

// Rows with more than `length` entries, which several chunks add to; no buffer where there are
// none.
struct SharedRows {
  loop::Buffer positions;
  loop::Expr length;
  loop::Buffer list, count;  // of them, where there is a list
  loop::Expr at_most;
};

class KernelLowering {
 public:
  // Where the result is shared, other blocks or kernels of other nests add to it at the same time.
  KernelLowering(const nest::Nest& nest, Phase phase, Backend backend, bool shares_result = false);
  // Lets one thread run each chunk, whatever loops are bound to members.
  void leave_values_together() { shares_values_ = false; }
  KernelLowering(const KernelLowering&) = delete;
  KernelLowering& operator=(const KernelLowering&) = delete;

  loop::Kernel lower(const std::string& name);
  // After lower(): the steps that launch the kernel.
  void launch(std::vector<loop::Step>& steps) const { frame_->launch(steps); }

  // After lower(): whether the outermost loop can be cut into chunks, and whether values that are
  // never stored, or added to, must start at zero.
  bool can_be_cut() const { return can_be_cut_; }
  bool needs_zeros() const { return needs_zeros_; }
  // After lower(): whether the chunks go through all of the outermost loop's extent, not only
  // through what operands store of it.
  bool visits_extent() const { return visits_extent_; }
  // Whether chunks put what they gather of a row into memory, which a second kernel merges; after
  // lower(): the arrays of that and their sizes.
  const TuplePieces& tuple_pieces() const { return tuple_pieces_; }
  // After lower(): the rows of the result that must start at zero, if not all do.
  const SharedRows& shared_rows() const { return shared_rows_; }
  // After lower(): the arrays of operands' structures that the kernel looks things up in.
  const std::vector<Derived>& derived() const { return derived_; }
  // After lower(): whether members of a chunk would find different entries.
  bool members_disagree() const { return members() > 1 && kernel_.has_conditional_entries; }
  // Whether loops of the nest are bound to a GPU, so that there are no chunks.
  bool is_bound() const { return kernel_.is_bound(); }
  // What it starts at instead, where it accumulates by something else than a sum; else null.
  loop::Expr start() const;

 private:
  // --- setting up (kernel_lowering.cpp) ---
  void declare_tensors();
  void lower_chunk(Emitter& before, Emitter& out);
  // How many members a chunk has, and the first coordinate that the one at hand has of a variable.
  int64_t members() const;
  loop::Expr first_of_member(const std::string& var) const;
  TensorCode& code(const std::string& tensor) { return tensors_.at(tensor); }
  const LevelCode& level_code(const Cursor& cursor) {
    return *code(cursor.access->tensor).levels[cursor.level];
  }
  const Level& level(const Cursor& cursor) const;
  // The positions of the level that the cursor stands before.
  Positions run_of(const Cursor& cursor, const Scope& scope, Emitter& out);
  bool assembles() const { return kernel_.assembles(); }

  // --- statements (kernel_lowering.cpp, assign.cpp) ---
  void lower(const nest::Stmt& stmt, const Scope& scope, Emitter& out);
  void lower_assign(const nest::Assign& assign, const Scope& scope, Emitter& out);
  void store(const nest::Assign& assign, const expr::Expr& value, const Scope& scope, Emitter& out);
  void store_value(const nest::Assign& assign, const expr::Expr& value, const Scope& scope,
                   Emitter& out);
  // What an element becomes that was `old`, and where it is.
  loop::Expr updated(const nest::Assign& assign, const expr::Expr& value, const loop::Expr& old,
                     const Scope& scope, Emitter& out);
  loop::Expr element_of(const nest::Assign& assign, const Scope& scope) const;
  // Whether it is added to what a nest before this one has stored.
  bool adds_on(const nest::Assign& assign) const;
  void lower_where(const nest::Where& where, const Scope& scope, Emitter& out);
  // Around the body of a loop that leads from the scope `before` to this one: an entry, if the loop
  // completes one, or the block of a workspace.
  void build_result(const nest::Stmt& stmt, const Scope& before, const Scope& scope, Emitter& out,
                    const Body& body);

  struct Range {
    loop::Expr begin, end;
  };

  // --- loops (iterate.cpp, dense_loop.cpp, merge.cpp) ---
  void lower_forall(const nest::Forall& loop, const Scope& scope, Emitter& out);
  void dense_loop(const nest::Forall& loop, const AccessSet& iterating, const Scope& scope,
                  Emitter& out);
  // What happens at each coordinate of it: a case for each point of the lattice.
  void dense_body(const nest::Forall& loop, const loop::Expr& coordinate,
                  const AccessSet& iterating, const std::vector<Walker>& walkers, Scope inner,
                  Emitter& body);
  // Begins to walk over the level that the access has come to, within these coordinates; where an
  // end of them is null, to the end of the level.
  Walker start_walker(int id, const Scope& scope, const Range& coordinates, Emitter& out);
  // Whether the result has the structure of the operand at whose entries the cursor stands, so that
  // a loop over all of them leaves none of its own out.
  bool visits_all_of_result(const Cursor& cursor) const;
  void single_loop(const nest::Forall& loop, int iterating, const Scope& scope, Emitter& out);
  // Over pieces of the entries of a row, or over the entries of a piece; false where the loop is
  // not over the entries of an operand: it counts then.
  bool position_loop(const nest::Forall& loop, const Scope& scope, Emitter& out);
  void entry_loop(const nest::Forall& loop, const std::string& counter, int id,
                  const Positions& row, const loop::Expr& other, const Scope& around,
                  const Scope& scope, Emitter& out);
  // Over the rows of a chunk, of which long ones are shared with others; while merging, the one of
  // these that begins in it.
  void rows_of_chunk(const nest::Forall& loop, const Scope& scope, Emitter& out);
  void shared_row_of_chunk(const nest::Forall& loop, const loop::Expr& chunk, const Scope& scope,
                           Emitter& out);
  // Over the rows that a chunk of equal work has a part of; while merging, the one that begins in
  // it and goes on (merge_path.cpp).
  void rows_by_work(const nest::Forall& loop, const Scope& scope, Emitter& out);
  void cut_along(const nest::Forall& loop, const expr::Access& operand, const loop::Expr& row,
                 const Positions& whole, Scope& scope, Emitter& out);
  // The same where entries are listed, with the rows that they are of.
  void listed_rows_by_work(const nest::Forall& loop, const expr::Access& operand,
                           const Scope& scope, Emitter& out);
  void unfinished_row(const nest::Forall& loop, const loop::Buffer& positions,
                      const loop::Expr& rows, const Work& work, const Scope& scope, Emitter& out);
  // Over the pieces that were dealt to a chunk (derived.h).
  void pieces_of_chunk(const nest::Forall& loop, const loop::Expr& chunk, const Scope& scope,
                       Emitter& out);
  StoredRows stored_rows(const nest::Variable& variable);
  void derive(Derived derived);
  // Over the entries of a chunk, of whatever rows they are (entries_of_chunk.cpp).
  void entries_of_chunk(const nest::Forall& loop, const Scope& scope, Emitter& out);
  void entries_from(const nest::Forall& loop, const StoredRows& stored, const loop::Expr& begin,
                    const loop::Expr& count, const loop::Expr& end, const Scope& scope,
                    Emitter& out);
  void enter_unread(const nest::Variable& variable, const StoredRows& stored,
                    const nest::Forall& rows, const loop::Expr& entry, const Scope& scope,
                    Emitter& out);
  // Whether an operand stores entries with the rows that they are of.
  bool lists_entries(const std::string& tensor) const;
  // The chunk of rows or entries whose part the variable goes through.
  loop::Expr chunk_around(const nest::Variable& variable, const Scope& scope) const;
  // The scope inside a loop that may be bound and whose variable has this name in the kernel.
  Scope inside(const nest::Forall& loop, const std::string& name, Scope scope);
  // The bound loop over [0, end), or what takes its place in a loop over groups of lanes.
  loop::Stmt bound_loop(const nest::Forall& loop, const std::string& name, const loop::Expr& end,
                        loop::Stmt body, const Scope& around, const Scope& inner);
  void merge_loops(const nest::Forall& loop, const AccessSet& iterating, const Scope& scope,
                   Emitter& out);
  // What merges of operands have in common.
  struct Merge {
    AccessSet iterating;
    std::vector<AccessSet> points;  // of the lattice
    bool only_counts = false;       // visits
    bool in_one_loop = false;       // for all points
  };
  // The loop for a point, whose walkers are `active`.
  void merge_point(const nest::Forall& loop, const Merge& merge, const AccessSet& point,
                   std::vector<Walker> active, const Scope& scope, Emitter& out);
  // Whether the operands of a point can all be read and those without an entry taken as zero.
  bool merges_by_selection(const nest::Forall& loop, const Merge& merge, const AccessSet& point,
                           const Scope& scope) const;
  // While counting: whether the loop makes one entry for each coordinate it visits, so that no body
  // is needed.
  bool only_counts_visits(const nest::Forall& loop, const AccessSet& iterating,
                          const Scope& scope) const;
  bool is_result_index(const std::string& index) const;
  AccessSet iterators(const nest::Forall& loop, const Scope& scope) const;
  // Whether every operand below is found by arithmetic, so that no entry of the result hangs on
  // what is found; the accesses of `entered` are one level further than the scope says.
  bool only_full_levels_below(const nest::Forall& loop, const AccessSet& entered,
                              const Scope& scope) const;
  // Enters the body, or `body` in its place, at a coordinate where the accesses of `present` have
  // entries and the others of `iterating` have none.
  void enter(const nest::Forall& loop, const loop::Expr& coordinate, const AccessSet& iterating,
             const std::map<int, Positions>& present, Scope scope, Emitter& out,
             const Body& body = {});
  // The same behind the loop's conditions but for `in_range`, outside of which a result has rows of
  // padding.
  void enter_row(const nest::Forall& loop, const loop::Expr& in_range, const Scope& before,
                 Scope scope, Emitter& out, const Body& body);
  // Finds the stored rows whose numbers have become known.
  void enter_stored(Scope& scope, Emitter& out);
  // Fixes every level whose coordinate is known: by arithmetic or by searching.
  void settle(const nest::Stmt& stmt, Scope scope, Emitter& out, const Body& body);

  // Stores what the statement has summed: in rows that several chunks share by atomics.
  void lower_consumer(const nest::Stmt& stmt, const Scope& scope, Emitter& out);
  // Whether rows of the result are sums over the entries of rows that are cut into chunks.
  bool adds_up_rows() const;

  // --- partial sums of threads (combine.cpp, merge_tuples.cpp) ---
  void combine_parts(const nest::Forall& loop, const Scope& scope, Emitter& out);
  loop::Expr sum_of_lanes(const loop::Expr& part, const nest::Forall& loop, const Scope& scope,
                          Emitter& out);
  void merge_tuples(const nest::Forall& loop, const Scope& scope, Emitter& out);
  void merge_in_shared_memory(const nest::Forall& loop, const Scope& scope, Emitter& out);
  ValuePlace share_part(const expr::Access& part, int64_t extent, const loop::Expr& number,
                        const loop::Expr& other, const loop::Expr& lane, Emitter& put,
                        Emitter& out);
  // Every lane merges what the lane so far from it has into its own parts.
  void exchange_tuples(const nest::Stmt& merges, const Partner& partner, Scope scope, Emitter& out);
  loop::Expr sum_in_shared_memory(const loop::Expr& part, const nest::Forall& loop, Emitter& out);

  // --- copies of operands (stage.cpp) ---
  bool is_staged(const std::string& workspace) const {
    return nest_.tensor(workspace).staging != nest::Tensor::Staging::None;
  }
  void lower_staging(const nest::Where& where, const Scope& scope, Emitter& out);
  void make_copy(const nest::Where& where, const Scope& scope, Emitter& out);
  CopiesAhead::Making making_copies();
  static Scope producing(Scope scope) {
    scope.producing = true;
    return scope;
  }
  // Loads an element of the operand and hands the value on.
  void copy_element(const nest::Assign& assign, const loop::Expr& element, const Scope& scope,
                    Emitter& out,
                    const std::function<void(const loop::Expr& value, Emitter& out)>& put);

  // --- workspaces (workspace.cpp) ---
  void allocate_workspace(const nest::Where& where, const std::string& name, Emitter& out);
  void allocate_scalar(const std::string& name, nest::Accumulate accumulate, Emitter& out);
  void allocate_tracked(const std::string& name, const std::vector<std::string>& indices,
                        Emitter& out);
  // The workspace whose next block a loop comes to that leads from one scope to the other; null
  // where it comes to none.
  const nest::Assign* block_at(const nest::Stmt& stmt, const Scope& before,
                               const Scope& scope) const;
  // Whether each coordinate that a tracked workspace over these variables notes is an entry: where
  // it is an index, or blocks of one whose insides are not chosen outside.
  bool tracks_entries(const std::vector<std::string>& indices) const;
  // Around the body of that loop: starts the block and notes it.
  void track_block(const nest::Assign& assign, const Scope& scope, Emitter& out, const Body& body);
  bool has_blocks(const std::string& tensor) const;
  void allocate_array(const std::string& name, const std::vector<std::string>& indices,
                      const nest::Where& where, Emitter& out);

  // --- values (expression.cpp) ---
  loop::Expr value_of(const expr::Expr& expr, const Scope& scope, Emitter& out);
  loop::Expr choice_of(const expr::Choose& choose, const Scope& scope, Emitter& out);
  loop::Expr load(const expr::Access& access, const Scope& scope, Emitter& out);
  // Whether the expression has a value here or is absent: what only sums of nothing decide at run
  // time.
  loop::Expr presence(const expr::Expr& expr) const;
  bool is_in_tuple(const nest::Assign& assign) const;
  // Whether the statement updates some workspaces of a tuple and leaves others of it to the rest.
  bool splits_tuple(const nest::Stmt& stmt) const;

  // --- chunks and looking ahead (chunk.cpp, prefetch.cpp) ---
  // How many positions a level of the operand has, as the host knows it; null where it does not.
  loop::Expr known_positions(const std::string& tensor, size_t level) const;
  // The entries of all rows and the rows themselves, which `positions` tells apart; those of the
  // operand's level 1.
  Work work_of_rows(const std::string& tensor, const loop::Buffer& positions,
                    const loop::Expr& rows, Emitter& out) const;
  Range chunk_of_rows(const nest::Forall& loop, const Scope& scope, const loop::Expr& extent,
                      Emitter& out);
  // Shortens the range of a loop to where the difference that is bound leads into the tensor;
  // whether there is one.
  bool bound_by_difference(const nest::Forall& loop, const Scope& scope, Range& range,
                           Emitter& out) const;
  Range chunk_of_positions(const Cursor& cursor, const Positions& positions, Emitter& out);
  // Where the chunk begins and ends, in variables of these names: `cut` finds where a chunk of a
  // number begins.
  Range ends_of_chunk(const std::string& begin_name, const std::string& end_name,
                      const std::function<loop::Expr(const loop::Expr&, Emitter&)>& cut,
                      Emitter& out);
  // The end of the run of equal coordinates that starts at `begin`.
  loop::Expr run_end(const Cursor& cursor, const loop::Expr& begin, const Positions& run,
                     const loop::Expr& coordinate, Emitter& out);
  // Whether the loop is cut into chunks.
  bool is_cut(const nest::Forall& loop) const {
    return nest_.root.get() == &loop && frame_->kind() != Frame::Kind::Bound;
  }
  void emit_prefetches(const Cursor& cursor, const loop::Expr& position, const std::string& var,
                       const Scope& scope, Emitter& out);

  KernelContext kernel_;
  Backend backend_;
  bool shares_result_;
  bool shares_values_ = true;  // among the members of a chunk
  // Parts of the kernel that all files here speak of.
  const nest::Nest& nest_ = kernel_.nest;
  const Phase phase_ = kernel_.phase;
  const Coordinates& coordinates_ = kernel_.coordinates;
  const std::string& result_ = kernel_.result;
  const std::vector<std::string>& result_indices_ = kernel_.result_indices;
  std::map<std::string, TensorCode>& tensors_ = kernel_.tensors;
  Names& names_ = kernel_.names;

  Touches touches_;
  ResultAssembly assembly_{kernel_, touches_};
  TuplePieces tuple_pieces_{kernel_};
  SharedCopies shared_{kernel_};  // of operands
  CopiesAhead ahead_{kernel_, shared_, making_copies()};
  Emitter* hoisted_ = nullptr;  // before the outermost loop of a chunk
  std::optional<Frame> frame_;
  std::set<std::string> told_from_zero_;  // workspaces where they are absent
  SharedRows shared_rows_;
  std::vector<Derived> derived_;
  bool can_be_cut_ = false;
  bool needs_zeros_ = false;
  bool visits_extent_ = false;
};

// The loop of the loop IR that the tag asks for.
loop::LoopKind kind_of(const nest::LoopTag& tag);

}  // namespace tulle::lower
