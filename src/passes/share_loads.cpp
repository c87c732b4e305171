// Determines which values are uniform across neighbouring lanes, and the loads that depend only on
// these.
#include "passes/share_loads.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "loop/fresh_names.h"
#include "loop/rewrite.h"
#include "loop/used_names.h"
#include "passes/counted_loop.h"
#include "passes/linear.h"
#include "support/gpu_limits.h"
#include "support/mutant.h"

namespace tulle::passes {

using namespace loop;

namespace {

constexpr int kFewestCopies = 4;  // fewer do not pay for the shuffles

// The number of aligned neighbouring lanes across which a name is uniform. Of variables that are
// assigned to, only the counter of a loop that these lanes execute together is uniform.
using Widths = std::map<std::string, int>;

class ShareLoads : public Rewriter {
 public:
  explicit ShareLoads(const Kernel& kernel)
      : names_(kernel), read_only_(read_only_buffers(kernel)) {
    for (const ScalarParam& scalar : kernel.scalars) widths_[scalar.name] = kWarpSize;
  }

  using Rewriter::rewrite;
  Stmt rewrite(const Stmt& stmt) override {
    if (const auto* loop = stmt.as<For>()) return rewrite_loop(*loop, stmt);
    if (stmt->kind == StmtKind::Block || stmt->kind == StmtKind::If || stmt.as<While>())
      return rewrite_body(stmt);
    const Stmt result = Rewriter::rewrite(stmt);
    if (const auto* let = result.as<Let>()) widths_[let->name] = value_width(let->value);
    if (const auto* variable = result.as<Declare>())
      widths_[variable->name] = value_width(variable->init);
    if (const auto* assign = result.as<Assign>()) widths_.erase(assign->name);
    return result;
  }

 private:
  // A block, branch or `while` loop, at whose end names end.
  Stmt rewrite_body(const Stmt& stmt) {
    const Widths outside = widths_;
    if (const auto* loop = stmt.as<While>()) forget_assigned(*loop);
    Stmt result = Rewriter::rewrite(stmt);
    if (const auto* loop = result.as<While>()) {
      widths_ = outside;
      result = with_shared_loads(*loop, result);
    }
    leave(outside, result);
    return result;
  }

  Stmt rewrite_loop(const For& loop, const Stmt& stmt) {
    const Widths outside = widths_;
    const std::string lane = lane_;
    const bool is_lane = loop.loop == ForKind::Lane;
    if (is_lane) lane_ = loop.var;
    const bool differs = is_lane || loop.loop == ForKind::Thread;
    widths_[loop.var] = differs ? 1 : value_width(loop.begin);
    for (const std::string& name : names_written(loop.body)) widths_.erase(name);
    const Stmt result = Rewriter::rewrite(stmt);
    lane_ = lane;
    leave(outside, result);
    return result;
  }

  // Variables that a loop assigns to may differ between lanes, except for its own counter.
  void forget_assigned(const While& loop) {
    const std::optional<LoopCounter> counter = counter_of(loop);
    for (const std::string& name : names_written(loop.body)) {
      if (!counter || name != counter->name) widths_.erase(name);
    }
  }

  // Leaves a statement, which lanes may have executed a different number of times.
  void leave(const Widths& outside, const Stmt& stmt) {
    widths_ = outside;
    for (const std::string& name : names_written(stmt)) widths_.erase(name);
  }

  int width_of(const Expr& expr) const {
    if (const auto* var = expr.as<Var>()) {
      const auto found = widths_.find(var->name);
      return found == widths_.end() ? 1 : found->second;
    }
    if (const auto* binary = expr.as<Binary>(); binary && binary->op == BinaryOp::Div) {
      const auto* lane = binary->a.as<Var>();
      const auto* group = binary->b.as<IntConst>();
      if (lane && lane->name == lane_ && group && group->value > 0 && group->value <= kWarpSize &&
          std::has_single_bit(static_cast<uint64_t>(group->value)))
        return static_cast<int>(group->value);
    }
    if (expr->kind == ExprKind::LaneShuffle) return 1;
    int width = kWarpSize;
    for (const Expr& child : children_of(expr)) width = std::min(width, width_of(child));
    return width;
  }

  // Loads from memory that the kernel does not write are uniform.
  int value_width(const Expr& value) const {
    bool loads_written = false;
    visit(value, [&](const Expr& part) {
      const auto* load = part.as<Load>();
      loads_written |= load && !read_only_.contains(load->buffer->name);
    });
    return loads_written ? 1 : width_of(value);
  }

  Stmt with_shared_loads(const While& loop, const Stmt& stmt) {
    const std::optional<LoopCounter> counter = counter_of(loop);
    const int together = lanes_together(loop);
    if (lane_.empty() || !counter || together == 1) return stmt;
    std::vector<Stmt> front = front_of(loop);
    std::vector<Coordinate> found = coordinates_of(front, loop, counter->name, read_only_);
    std::map<size_t, Stmt> loads;
    while (static_cast<int>(found.size()) >= kFewestCopies)
      share(take_copies(found), together, front, loads);
    if (loads.empty()) return stmt;
    std::vector<Stmt> stmts;
    for (size_t at = 0; at < front.size(); ++at) {
      if (const auto load = loads.find(at); load != loads.end()) stmts.push_back(load->second);
      stmts.push_back(std::move(front[at]));
    }
    return with_front(loop, std::move(stmts));
  }

  // The coordinates that follow the first one at equal distances, a power of two in number.
  static std::vector<Coordinate> take_copies(std::vector<Coordinate>& found) {
    std::vector<Coordinate> copies = {found.front()};
    std::optional<int64_t> step;
    for (size_t n = 1; n < found.size(); ++n) {
      if (found[n].load->buffer != copies[0].load->buffer) continue;
      const auto distance = constant_difference(found[n].place, copies.back().place);
      if (!distance || *distance == 0 || (step && *distance != *step)) continue;
      step = distance;
      copies.push_back(found[n]);
    }
    copies.resize(std::bit_floor(copies.size()), copies.front());
    std::erase_if(found, [&](const Coordinate& one) {
      return std::any_of(copies.begin(), copies.end(),
                         [&](const Coordinate& taken) { return taken.at == one.at; });
    });
    return copies;
  }

  // Replaces the loads of the copies among the leading statements if that pays, and records the
  // loads to insert before each statement.
  void share(const std::vector<Coordinate>& copies, int together, std::vector<Stmt>& front,
             std::map<size_t, Stmt>& loads) {
    const int same = std::min(together, width_of(copies[0].place));
    // All lanes with the same addresses receive the shuffled values.
    const auto lanes = std::min(static_cast<int>(copies.size()), same);
    if (lanes < kFewestCopies) return;
    const int64_t step = *constant_difference(copies[1].place, copies[0].place);
    const Expr own = Binary::make(BinaryOp::Mod, Var::make(lane_), IntConst::make(lanes)) * step;
    std::string name;
    for (size_t n = 0; n < copies.size(); ++n) {
      const auto& [at, let, load, place] = copies[n];
      const int turn = static_cast<int>(n) % lanes;
      if (turn == 0) {
        name = names_.fresh(let->name + "_own");
        loads[at] = Let::make(name, Load::make(load->buffer, place + own));
      }
      const int from = mutant("share-from-the-next") ? (turn + 1) % lanes : turn;
      const Expr handed = LaneShuffle::make(ShuffleMode::Index, Var::make(name, load->type),
                                            IntConst::make(from), same);
      const bool converts = let->value.as<Cast>() != nullptr;
      front[at] =
          Let::make(let->name, converts ? Cast::make(let->value.type().scalar, handed) : handed);
    }
  }

  FreshNames names_;
  std::set<std::string> read_only_;
  Widths widths_;
  std::string lane_;  // variable of the enclosing lane loop; empty outside
};

}  // namespace

Kernel share_loads(Kernel kernel) {
  kernel.body = ShareLoads(kernel).rewrite(kernel.body);
  return kernel;
}

}  // namespace tulle::passes
