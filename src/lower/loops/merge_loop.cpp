// Merges operands: one loop for each point of the lattice, one loop for all points, or one loop
// with one body.
#include "lower/loops/merge_loop.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "expr/absence.h"
#include "lower/levels/search.h"
#include "lower/loops/walker.h"
#include "lower/presence.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;

namespace {

// Whether the expression is a sum of these accesses (possibly negated or scaled) and zeros, so that
// a zero can replace an absent access.
bool is_plain_sum(const expr::Expr& expr, const AccessSet& terms) {
  if (expr.as<expr::Literal>()) return expr::is_zero(expr);
  if (const auto* access = expr.as<expr::Access>()) return terms.contains(access->id);
  if (const auto* unary = expr.as<expr::Unary>()) {
    return unary->function == expr::ElementFunction::Neg && is_plain_sum(unary->value, terms);
  }
  const auto* binary = expr.as<expr::Binary>();
  if (!binary) return false;
  if (binary->op == expr::BinaryOp::Mul) {
    return (binary->a.as<expr::Literal>() && is_plain_sum(binary->b, terms)) ||
           (binary->b.as<expr::Literal>() && is_plain_sum(binary->a, terms));
  }
  const bool adds = binary->op == expr::BinaryOp::Add || binary->op == expr::BinaryOp::Sub;
  return adds && is_plain_sum(binary->a, terms) && is_plain_sum(binary->b, terms);
}

bool includes(const AccessSet& all, const AccessSet& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

// Whether all walkers of the point have entries left.
Expr all_go_on(const AccessSet& point, const std::vector<Walker>& walkers) {
  Expr more = IntConst::make(1, loop::kBool);
  for (const Walker& walker : walkers) {
    if (point.contains(walker.id)) more = loop::both(more, walker.at < walker.run.end);
  }
  return more;
}

// The coordinate of the walker's entry. At the end of its run, the largest integer.
Expr coordinate_or_end(const Walker& walker, Emitter& out) {
  const Expr coordinate = out.declare("c", IntConst::make(std::numeric_limits<int64_t>::max()));
  Emitter inside = out.nested();
  inside.assign(coordinate, walker.level->coordinate(walker.at, walker.run));
  out.add(loop::If::make(walker.at < walker.run.end, inside.take()));
  return coordinate;
}

// Sets `reached`, `here` and `next` of a walker for the merged coordinate. `own` is the walker's
// coordinate.
void compare(Walker& walker, const Expr& own, const Expr& coordinate, bool is_alone, Emitter& out) {
  walker.reached = is_alone ? IntConst::make(1, loop::kBool) : out.let("here", own == coordinate);
  walker.here = walker.reached;
  if (walker.level->has_holes()) {
    const Expr holds = walker.level->holds(walker.at);
    walker.here = out.let("holds", is_alone ? holds : loop::both(walker.reached, holds));
  }
  walker.next = walker.at + 1;
  if (walker.level->is_unique()) return;
  walker.next = out.declare("next", walker.next);
  Emitter segment = out.nested();
  segment.assign(walker.next,
                 emit_segment_end(segment, *walker.level, walker.at, walker.run, coordinate));
  out.add(loop::If::make(walker.here, segment.take()));
}

// The loops of one merge.
class Merge {
 public:
  explicit Merge(const LoopSite& site) : site_(site) { scope_.storing.conditional = true; }

  void lower(Emitter& out) {
    std::vector<Walker> walkers = start_walkers(out);
    if (site_.parts.kernel.has_one_body()) return merge_in_one_body(std::move(walkers), out);
    points_ = lattice_points(site_.loop.body, site_.walked, site_.scope.absent);
    in_one_loop_ = fits_in_one_loop();
    if (in_one_loop_) return merge_point(points_.front(), std::move(walkers), out);
    for (const AccessSet& point : points_) {
      std::vector<Walker> active;
      std::copy_if(walkers.begin(), walkers.end(), std::back_inserter(active),
                   [&](const Walker& walker) { return point.contains(walker.id); });
      if (only_counts_ && active.size() == 1 && active[0].level->is_unique() &&
          !active[0].level->has_holes()) {
        // Each remaining entry of the last operand is an entry of the result.
        site_.parts.assembly.count(active[0].run.end - active[0].at, out);
        out.assign(active[0].at, active[0].run.end);
        continue;
      }
      merge_point(point, std::move(active), out);
    }
  }

 private:
  // A chunk merges the coordinates of one operand's part.
  std::vector<Walker> start_walkers(Emitter& out) {
    const KernelContext& kernel = site_.parts.kernel;
    const std::string& var = site_.loop.var;
    LoopBounds bounds;
    if (site_.parts.chunks.is_cut(site_.loop)) {
      const Expr extent = kernel.coordinates.extent(var);
      bounds = site_.parts.chunks.of_rows(site_.loop, scope_, extent, out);
      if (site_.variable().origin == nest::Variable::Origin::Difference) {
        const Expr first = kernel.coordinates.first(var);
        bounds = {bounds.begin + first, bounds.end + first};
      }
    }
    std::vector<Walker> walkers;
    for (const int id : site_.walked)
      walkers.push_back(start_walker(kernel, id, scope_, bounds, out));
    return walkers;
  }

  // On a GPU, assembling dominates the first call, and a loop for each point would repeat the body.
  bool fits_in_one_loop() const {
    return site_.parts.frame.on_gpu() && !site_.loop.body.as<nest::Assign>() &&
           points_.size() > 1 && points_.front().size() == site_.walked.size();
  }

  // Emits one loop with one body. It visits the coordinates of all walkers until the body would do
  // nothing at any further coordinate.
  void merge_in_one_body(std::vector<Walker> walkers, Emitter& out) const {
    const Expr more = out.declare("more", IntConst::make(0, loop::kBool));
    find_more(walkers, more, out);
    Emitter body = out.nested(), inside = out.nested();
    Expr least;
    for (const Walker& walker : walkers) {
      const Expr own = coordinate_or_end(walker, body);
      least = least ? loop::minimum(least, own) : own;
    }
    const Expr coordinate = body.let(site_.loop.var, least);
    look_for(coordinate, walkers, body);
    KernelScope scope = scope_;
    const std::map<int, Positions> entries = possible_entries(walkers, scope, body);
    const Expr active = Presence(site_.parts.kernel, scope, body).of(site_.loop.body);
    enter(coordinate, entries, scope, inside);
    body.add(loop::If::make(active, inside.take()));
    step_past(walkers, body);
    find_more(walkers, more, body);
    out.add(loop::While::make(more, body.take()));
  }

  // Sets `more` to whether the body could do anything at the remaining coordinates.
  void find_more(const std::vector<Walker>& walkers, const Expr& more, Emitter& out) const {
    KernelScope rest = scope_;
    Expr all = IntConst::make(1, loop::kBool);
    for (const Walker& walker : walkers) {
      const Expr left = out.let("left", walker.at < walker.run.end);
      rest.here[walker.id] = left;
      all = loop::both(all, left);
    }
    const Expr active = Presence(site_.parts.kernel, rest, out).of(site_.loop.body);
    out.assign(more, mutant("one-body-ends-early") ? all : active);
  }

  // Emits the loop for a point. `active` are its walkers.
  void merge_point(const AccessSet& point, std::vector<Walker> active, Emitter& out) {
    // Kernels that count entries merge without bodies.
    site_.parts.kernel.count_operations(static_cast<int64_t>(active.size()));
    const Expr more = goes_on(point, active);
    Emitter body = out.nested();
    const Expr coordinate = next_coordinate(active, body);
    if (only_counts_) {
      count_visit(point, active, body);
    } else if (merges_by_selection(point)) {
      // The branch would be mispredicted half of the time. Adds zeros for absent entries instead.
      KernelScope selecting = scope_;
      for (const Walker& walker : active) selecting.reads.masks[walker.id] = walker.here;
      enter(coordinate, entries_of(point, active), selecting, body);
    } else {
      body.add(case_of_each(point, coordinate, active, out));
    }
    step_past(active, body);
    out.add(loop::While::make(more, body.take()));
  }

  Expr goes_on(const AccessSet& point, const std::vector<Walker>& active) const {
    Expr more = all_go_on(point, active);
    for (const AccessSet& part : points_) {
      if (in_one_loop_ && part != point && !mutant("merge-ends-early"))
        more = loop::Binary::make(loop::BinaryOp::Or, more, all_go_on(part, active));
    }
    return more;
  }

  // The minimum of the walkers' coordinates. Compares each walker with it.
  Expr next_coordinate(std::vector<Walker>& active, Emitter& out) const {
    Expr least;
    std::vector<Expr> coordinates;
    for (const Walker& walker : active) {
      coordinates.push_back(in_one_loop_
                                ? coordinate_or_end(walker, out)
                                : out.let("c", walker.level->coordinate(walker.at, walker.run)));
      least = least ? loop::minimum(least, coordinates.back()) : coordinates.back();
    }
    const Expr coordinate = out.let(site_.loop.var, least);
    for (size_t w = 0; w < active.size(); ++w)
      compare(active[w], coordinates[w], coordinate, active.size() == 1, out);
    return coordinate;
  }

  void count_visit(const AccessSet& point, const std::vector<Walker>& active, Emitter& out) const {
    Expr visited = IntConst::make(0, loop::kBool);
    for (const AccessSet& part : points_) {
      if (includes(point, part))
        visited = loop::Binary::make(loop::BinaryOp::Or, visited, all_here(part, active));
    }
    const Expr entry = loop::Select::make(visited, IntConst::make(1), IntConst::make(0));
    site_.parts.assembly.count(entry, out);
  }

  // Whether the body can read all operands of a point, with zeros for absent entries.
  bool merges_by_selection(const AccessSet& point) const {
    const auto* assign = site_.loop.body.as<nest::Assign>();
    if (!assign || point.size() < 2 || scope_.storing.producing) return false;
    AccessSet absent = scope_.absent;
    for (const int id : site_.walked) {
      if (!point.contains(id)) absent.insert(id);
    }
    const expr::Expr value = expr::without(
        assign->value, [&](const expr::Access& access) { return absent.contains(access.id); });
    if (!is_plain_sum(value, point)) return false;
    return std::all_of(point.begin(), point.end(), [&](int id) { return makes_entry_alone(id); });
  }

  // Whether an entry of this operand alone gives an entry of the result and has no levels below.
  bool makes_entry_alone(int id) const {
    if (std::find(points_.begin(), points_.end(), AccessSet{id}) == points_.end()) return false;
    const Cursor& cursor = scope_.cursors.at(id);
    const auto& levels = site_.parts.kernel.code(cursor.access->tensor).levels;
    const size_t at = static_cast<size_t>(cursor.level);
    return at + 1 == levels.size() && levels[at]->is_unique() && !levels[at]->has_holes();
  }

  // The body for each point that is possible with these walkers.
  loop::Stmt case_of_each(const AccessSet& point, const Expr& coordinate,
                          const std::vector<Walker>& active, Emitter& out) const {
    loop::Stmt chain;
    for (auto part = points_.rbegin(); part != points_.rend(); ++part) {
      if (!includes(point, *part)) continue;
      Emitter branch = out.nested();
      enter(coordinate, entries_of(*part, active), scope_, branch);
      chain = loop::If::make(all_here(*part, active), branch.take(), chain);
    }
    return chain;
  }

  void enter(const Expr& coordinate, const std::map<int, Positions>& present,
             const KernelScope& scope, Emitter& out) const {
    site_.parts.entering.enter({site_.loop, coordinate, site_.walked, present}, scope, out);
  }

  const LoopSite& site_;
  KernelScope scope_ = site_.scope;
  const bool only_counts_ = site_.only_counts_visits();  // needs no body
  std::vector<AccessSet> points_;                        // of the lattice
  bool in_one_loop_ = false;                             // all points
};

}  // namespace

bool MergeLoop::applies(const LoopSite& site) const { return site.walked.size() > 1; }

void MergeLoop::lower(const LoopSite& site, Emitter& out) const { Merge(site).lower(out); }

}  // namespace tulle::lower
