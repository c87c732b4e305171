// Verifies the placement of loops, and analyses which threads arrive together.
#include "loop/verify_placement.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

#include "loop/gpu.h"
#include "loop/print.h"
#include "loop/rewrite.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

// The extent of agreement between threads: within every aligned group of this many threads, all
// threads have the same value, or all arrive. A power of two up to the warp size, or kAll for the
// whole block.
using Agreement = int;
constexpr Agreement kAll = 1 << 20;

Agreement agreement_of_multiples(int64_t number) {
  return static_cast<Agreement>(std::min<int64_t>(number & -number, kWarpSize));
}

std::string first_line(const Stmt& stmt) {
  const std::string text = to_string(stmt);
  return text.substr(0, text.find('\n'));
}

template <typename... Parts>
[[noreturn]] void fail(const Stmt& stmt, const Parts&... parts) {
  internal_error(parts..., "\n  in: ", first_line(stmt));
}

bool spreads(const Stmt& stmt) {
  const auto* loop = stmt.as<For>();
  return loop && (loop->loop == ForKind::Parallel || loop->loop == ForKind::Block);
}

// The loop over CPU workers or GPU blocks. It must be the last statement, after lets only, because
// all workers or blocks execute the code around it. Null if there is none.
const For* find_spread_loop(const Stmt& body) {
  std::vector<Stmt> loops;
  visit(
      body,
      [&](const Stmt& stmt) {
        if (spreads(stmt)) loops.push_back(stmt);
      },
      [](const Expr&) {});
  if (loops.empty()) return nullptr;
  if (loops.size() > 1) fail(loops[1], "a second parallel or block loop");
  Stmt stmt = body;
  while (const auto* block = stmt.as<Block>()) {
    const bool only_lets =
        std::all_of(block->stmts.begin(), block->stmts.end() - !block->stmts.empty(),
                    [](const Stmt& inner) { return inner.as<Let>() != nullptr; });
    if (block->stmts.empty() || !only_lets) break;
    stmt = block->stmts.back();
  }
  if (!spreads(stmt))
    fail(loops[0], "a parallel or block loop must be the last statement, after lets only");
  return stmt.as<For>();
}

class PlacementVerifier {
 public:
  explicit PlacementVerifier(const Kernel& kernel)
      : spread_(find_spread_loop(kernel.body)),
        on_gpu_(spread_ && spread_->loop == ForKind::Block),
        threads_(threads_per_block(kernel.body)) {}

  void run(const Stmt& body) {
    do {  // agreements only decrease
      changed_ = false;
      walk(body, kAll);
    } while (changed_);
    reports_ = true;
    walk(body, kAll);
  }

 private:
  // `arriving` is the agreement on arriving at the statement.
  void walk(const Stmt& stmt, Agreement arriving) {
    switch (stmt->kind) {
      case StmtKind::Block:
        for (const Stmt& inner : stmt.as<Block>()->stmts) walk(inner, arriving);
        return;
      case StmtKind::Let:
        return note(stmt.as<Let>()->name, look(stmt, stmt.as<Let>()->value, arriving));
      case StmtKind::Declare:
        return note(stmt.as<Declare>()->name, look(stmt, stmt.as<Declare>()->init, arriving));
      case StmtKind::Assign: {
        const auto* node = stmt.as<Assign>();
        return note(node->name, std::min(arriving, look(stmt, node->value, arriving)));
      }
      case StmtKind::Store: {
        const auto* node = stmt.as<Store>();
        for (const Expr& expr : {node->index, node->value, node->predicate})
          look(stmt, expr, arriving);
        return check_effect(stmt, node->buffer);
      }
      case StmtKind::For:
        return walk_for(stmt, arriving);
      case StmtKind::While: {
        const auto* node = stmt.as<While>();
        const Agreement inside = std::min(arriving, agreement(node->condition));
        look(stmt, node->condition, inside);
        return walk(node->body, inside);
      }
      case StmtKind::If: {
        const auto* node = stmt.as<If>();
        const Agreement inside = std::min(arriving, look(stmt, node->condition, arriving));
        walk(node->yes, inside);
        if (node->no) walk(node->no, inside);
        return;
      }
      case StmtKind::Allocate:
        return check_allocate(stmt, arriving);
      case StmtKind::Atomic: {
        const auto* node = stmt.as<Atomic>();
        look(stmt, node->index, arriving);
        look(stmt, node->value, arriving);
        if (!node->result.empty()) note(node->result, 1);
        return check_effect(stmt, node->buffer);
      }
      case StmtKind::Barrier:
        return check_barrier(stmt, arriving);
      case StmtKind::PrefetchLine:
        look(stmt, stmt.as<PrefetchLine>()->index, arriving);
        return;
      case StmtKind::Invoke:
        for (const Expr& arg : stmt.as<Invoke>()->args) look(stmt, arg, arriving);
        return check_effect(stmt, stmt.as<Invoke>()->buffer);
    }
  }

  void walk_for(const Stmt& stmt, Agreement arriving) {
    const auto* loop = stmt.as<For>();
    const Agreement bounds =
        std::min(look(stmt, loop->begin, arriving), look(stmt, loop->end, arriving));
    switch (loop->loop) {
      case ForKind::Warp:
      case ForKind::Lane:
      case ForKind::Thread:
        return walk_bound(stmt, arriving);
      case ForKind::Parallel:
      case ForKind::Block:
        return walk(loop->body, arriving);
      default:
        note(loop->var, bounds);
        return walk(loop->body, std::min(arriving, bounds));
    }
  }

  // Checks warp, lane and thread loops.
  void walk_bound(const Stmt& stmt, Agreement arriving) {
    const auto* loop = stmt.as<For>();
    check_nesting(stmt);
    const auto extent = constant_extent(*loop);
    if (!extent) fail(stmt, "a ", text_of(loop->loop), " loop needs constant bounds");
    const bool is_warp = loop->loop == ForKind::Warp;
    const int64_t most = is_warp                       ? kMostThreads / kWarpSize
                         : loop->loop == ForKind::Lane ? kWarpSize
                                                       : kMostThreads;
    if (*extent > most)
      fail(stmt, "a ", text_of(loop->loop), " loop of more than ", most, " iterations");
    const int64_t all = is_warp                       ? threads_ / kWarpSize
                        : loop->loop == ForKind::Lane ? kWarpSize
                                                      : threads_;
    if (*extent < all)
      arriving = std::min(arriving, is_warp ? kWarpSize : agreement_of_multiples(*extent));
    note(loop->var, is_warp ? kWarpSize : 1);
    const bool counts_threads = !is_warp && is_constant(loop->begin, 0) && loop->step == 1;
    if (counts_threads) thread_numbers_.insert(loop->var);
    enclosing_.push_back(loop->loop);
    walk(loop->body, arriving);
    enclosing_.pop_back();
    thread_numbers_.erase(loop->var);
  }

  bool inside(ForKind kind) const {
    return std::find(enclosing_.begin(), enclosing_.end(), kind) != enclosing_.end();
  }

  void check_nesting(const Stmt& stmt) {
    const ForKind kind = stmt.as<For>()->loop;
    if (!on_gpu_) fail(stmt, "a ", text_of(kind), " loop outside of a block loop");
    if (inside(ForKind::Lane) || inside(ForKind::Thread) ||
        (kind != ForKind::Lane && inside(ForKind::Warp))) {
      fail(stmt, "a ", text_of(kind), " loop inside a ", text_of(enclosing_.back()), " loop");
    }
    if (kind == ForKind::Lane && !inside(ForKind::Warp))
      fail(stmt, "a lane loop outside of a warp loop");
  }

  // Outside of lane and thread loops, all threads would have the same effect at the same time.
  void check_effect(const Stmt& stmt, const Buffer& buffer) {
    if (!on_gpu_ || threads_ == 1 || buffer->space == Space::Local) return;
    if (!inside(ForKind::Lane) && !inside(ForKind::Thread)) {
      fail(stmt, "memory is written outside of a lane or thread loop");
    }
  }

  void check_allocate(const Stmt& stmt, Agreement arriving) {
    const auto* node = stmt.as<Allocate>();
    look(stmt, node->size, arriving);
    const Space space = node->buffer->space;
    if (space == Space::Workspace && on_gpu_) fail(stmt, "a workspace in a kernel for the GPU");
    if (space != Space::Shared) return;
    if (!on_gpu_) fail(stmt, "shared memory outside of a block loop");
    if (!enclosing_.empty())
      fail(stmt, "shared memory inside a ", text_of(enclosing_.back()), " loop");
    if (reports_ && arriving != kAll) fail(stmt, "shared memory where not all threads arrive");
  }

  void check_barrier(const Stmt& stmt, Agreement arriving) {
    if (!on_gpu_) fail(stmt, "a barrier outside of a block loop");
    if (!reports_) return;
    const Agreement needed = stmt.as<Barrier>()->scope == BarrierScope::Block ? kAll : kWarpSize;
    if (arriving < needed) fail(stmt, "a barrier that some of its threads may not reach");
  }

  // Returns the agreement on the value and checks the lane operations in it.
  Agreement look(const Stmt& stmt, const Expr& expr, Agreement arriving) {
    if (!expr) return kAll;
    if (reports_) {
      visit(expr, [&](const Expr& inner) {
        check_lane_operation(stmt, inner, arriving);
        look_at_lazy(stmt, inner, arriving);
      });
    }
    return agreement(expr);
  }

  // Checks operands that only some threads may evaluate.
  void look_at_lazy(const Stmt& stmt, const Expr& expr, Agreement arriving) {
    if (!on_gpu_ || expr.type().is_vector()) return;
    if (const auto* node = expr.as<Select>()) {
      const Agreement inside = std::min(arriving, agreement(node->condition));
      look(stmt, node->yes, inside);
      look(stmt, node->no, inside);
    } else if (const auto* node = expr.as<Binary>(); node && is_logical(node->op)) {
      look(stmt, node->b, std::min(arriving, agreement(node->a)));
    }
  }

  void check_lane_operation(const Stmt& stmt, const Expr& expr, Agreement arriving) {
    const auto* reduce = expr.as<LaneReduce>();
    const auto* shuffle = expr.as<LaneShuffle>();
    if (!reduce && !shuffle) return;
    const int width = reduce ? reduce->width : shuffle->width;
    if (!on_gpu_) fail(stmt, "a lane operation outside of a block loop: ", to_string(expr));
    if (threads_ % width != 0)
      fail(stmt, "a group of ", width, " lanes in a block of ", threads_, ": ", to_string(expr));
    if (arriving < width)
      fail(stmt, "a lane operation that some of its lanes may not reach: ", to_string(expr));
  }

  Agreement agreement(const Expr& expr) {
    if (!expr) return kAll;
    switch (expr->kind) {
      case ExprKind::IntConst:
      case ExprKind::FloatConst:
        return kAll;
      case ExprKind::Var: {
        const auto found = agreements_.find(expr.as<Var>()->name);
        return found == agreements_.end() ? kAll : found->second;
      }
      case ExprKind::Binary:
        return agreement_of_binary(*expr.as<Binary>());
      case ExprKind::Load: {
        const auto* node = expr.as<Load>();
        if (node->buffer->space == Space::Local) return 1;
        return std::min(agreement(node->index), agreement(node->predicate));
      }
      case ExprKind::LaneReduce:
        return std::max(expr.as<LaneReduce>()->width, agreement(expr.as<LaneReduce>()->value));
      case ExprKind::LaneShuffle: {
        const auto* node = expr.as<LaneShuffle>();
        const Agreement value = agreement(node->value);
        if (value >= node->width) return value;
        return node->mode == ShuffleMode::Index && agreement(node->lane) >= node->width
                   ? node->width
                   : 1;
      }
      case ExprKind::Select: {
        const auto* node = expr.as<Select>();
        return std::min({agreement(node->condition), agreement(node->yes), agreement(node->no)});
      }
      case ExprKind::Cast:
        return agreement(expr.as<Cast>()->value);
      case ExprKind::Call: {
        Agreement all = kAll;
        for (const Expr& arg : expr.as<Call>()->args) all = std::min(all, agreement(arg));
        return all;
      }
      case ExprKind::Ramp:
        return std::min(agreement(expr.as<Ramp>()->base), agreement(expr.as<Ramp>()->stride));
      case ExprKind::Broadcast:
        return agreement(expr.as<Broadcast>()->value);
      case ExprKind::VectorReduce:
        return agreement(expr.as<VectorReduce>()->value);
    }
    internal_error("an expression of unknown kind");
  }

  // The index of a thread divided by 8, for example, is uniform in groups of 8.
  Agreement agreement_of_binary(const Binary& node) {
    const auto* var = node.a.as<Var>();
    const auto* divisor = node.b.as<IntConst>();
    if (var && divisor && divisor->value > 0 && thread_numbers_.contains(var->name)) {
      if (node.op == BinaryOp::Div) return agreement_of_multiples(divisor->value);
      if (node.op == BinaryOp::Shr && divisor->value < kWarpSize) {
        return agreement_of_multiples(int64_t{1} << divisor->value);
      }
    }
    return std::min(agreement(node.a), agreement(node.b));
  }

  void note(const std::string& name, Agreement value) {
    const auto [place, is_new] = agreements_.emplace(name, value);
    if (is_new || place->second <= value) {
      changed_ |= is_new && value != kAll;
      return;
    }
    place->second = value;
    changed_ = true;
  }

  const For* spread_;
  bool on_gpu_;
  int threads_;
  bool changed_ = false;
  bool reports_ = false;  // agreements are final, so faults are reported
  std::unordered_map<std::string, Agreement>
      agreements_;  // by name; scopes with the same name share an entry
  std::unordered_set<std::string> thread_numbers_;  // variables that number threads or lanes from 0
  std::vector<ForKind> enclosing_;                  // warp, lane and thread loops
};

}  // namespace

void verify_placement(const Kernel& kernel) { PlacementVerifier(kernel).run(kernel.body); }

}  // namespace tulle::loop
