// Inserts checks before statements and passes sizes along with buffers.
#include "passes/insert_bounds_checks.h"

#include <variant>

#include "loop/fresh_names.h"
#include "loop/rewrite.h"
#include "passes/access_checks.h"
#include "support/check.h"

namespace tulle::passes {

using namespace loop;

namespace {

bool has_loop(const Stmt& body, ForKind kind) {
  bool found = false;
  visit(
      body,
      [&](const Stmt& stmt) {
        const auto* loop = stmt.as<For>();
        found |= loop && loop->loop == kind;
      },
      [](const Expr&) {});
  return found;
}

// Replaces loads by loads that return zero if they are out of bounds.
class GuardedLoads : public Rewriter {
 public:
  explicit GuardedLoads(const BufferSizes& sizes) : sizes_(sizes) {}

  using Rewriter::rewrite;
  Expr rewrite(const Expr& expr) override {
    Expr result = Rewriter::rewrite(expr);
    const auto* load = result.as<Load>();
    if (!load || load->type.is_vector()) return result;
    const Expr size = sizes_.at(load->buffer->name);
    Expr inside = Binary::make(BinaryOp::And, IntConst::make(0) <= load->index, load->index < size);
    if (load->predicate) inside = Binary::make(BinaryOp::And, load->predicate, inside);
    return Load::make(load->buffer, load->index, inside);
  }

 private:
  const BufferSizes& sizes_;
};

class KernelChecker {
 public:
  explicit KernelChecker(Kernel kernel) : kernel_(std::move(kernel)), names_(kernel_) {}

  Kernel run() {
    for (const BufferParam& param : kernel_.buffers) {
      const std::string name = size_name(param.buffer->name);
      kernel_.scalars.push_back({names_.fresh(name), kIndex});
      TULLE_CHECK(kernel_.scalars.back().name == name, "the name is taken in kernel ",
                  kernel_.name);
      sizes_[param.buffer->name] = Var::make(name);
    }
    kernel_.body =
        has_loop(kernel_.body, ForKind::Parallel) ? preamble(kernel_.body) : scope(kernel_.body);
    return std::move(kernel_);
  }

 private:
  // Only lets may precede a parallel loop. Their loads are guarded, and checked at the start of the
  // loop's body.
  Stmt preamble(const Stmt& stmt) {
    if (const auto* let = stmt.as<Let>()) return Let::make(let->name, guarded(let->value));
    if (const auto* block = stmt.as<Block>()) {
      std::vector<Stmt> stmts;
      stmts.reserve(block->stmts.size());
      for (const Stmt& inner : block->stmts) stmts.push_back(preamble(inner));
      return Block::make(std::move(stmts));
    }
    const auto* loop = stmt.as<For>();
    TULLE_CHECK(loop && loop->loop == ForKind::Parallel, "before the parallel loop of ",
                kernel_.name);
    const Expr begin = guarded(loop->begin), end = guarded(loop->end);
    std::vector<Stmt> stmts = std::move(postponed_);
    stmts.push_back(scope(loop->body));
    return For::make(loop->var, begin, end, Block::make(std::move(stmts)), loop->loop, loop->factor,
                     loop->step);
  }

  Expr guarded(const Expr& value) {
    check_loads(value, sizes_, postponed_);
    return GuardedLoads(sizes_).rewrite(value);
  }

  // A body as a block of its own.
  Stmt scope(const Stmt& stmt) {
    std::vector<Stmt> stmts;
    for (const Stmt& inner : statements_of(stmt)) add(inner, stmts);
    return Block::make(std::move(stmts));
  }

  // Appends the checks of a statement and the statement.
  void add(const Stmt& stmt, std::vector<Stmt>& out) {
    switch (stmt->kind) {
      case StmtKind::Block:
        out.push_back(scope(stmt));
        return;
      case StmtKind::Let:
        check_loads(stmt.as<Let>()->value, sizes_, out);
        break;
      case StmtKind::Declare:
        check_loads(stmt.as<Declare>()->init, sizes_, out);
        break;
      case StmtKind::Assign:
        check_loads(stmt.as<Assign>()->value, sizes_, out);
        break;
      case StmtKind::Store:
        check_store(*stmt.as<Store>(), out);
        break;
      case StmtKind::PrefetchLine:
        check_loads(stmt.as<PrefetchLine>()->index, sizes_, out);
        break;
      case StmtKind::Barrier:
        break;
      case StmtKind::Invoke:
        check_invoke(*stmt.as<Invoke>(), out);
        break;
      case StmtKind::Allocate:
        out.push_back(add_allocate(*stmt.as<Allocate>(), out));
        return;
      case StmtKind::Atomic: {
        const auto* atomic = stmt.as<Atomic>();
        check_loads(atomic->index, sizes_, out);
        check_loads(atomic->value, sizes_, out);
        check_access(atomic->buffer, atomic->index, {}, sizes_, out);
        break;
      }
      case StmtKind::If: {
        const auto* branch = stmt.as<If>();
        check_loads(branch->condition, sizes_, out);
        out.push_back(If::make(branch->condition, scope(branch->yes),
                               branch->no ? scope(branch->no) : Stmt()));
        return;
      }
      case StmtKind::For: {
        const auto* loop = stmt.as<For>();
        check_loads(loop->begin, sizes_, out);
        check_loads(loop->end, sizes_, out);
        out.push_back(For::make(loop->var, loop->begin, loop->end, scope(loop->body), loop->loop,
                                loop->factor, loop->step));
        return;
      }
      case StmtKind::While: {
        // The condition is evaluated before the loop and after every iteration.
        const auto* loop = stmt.as<While>();
        std::vector<Stmt> checks;
        check_loads(loop->condition, sizes_, checks);
        out.insert(out.end(), checks.begin(), checks.end());
        const Stmt body = checks.empty() ? scope(loop->body)
                                         : Block::make({scope(loop->body), Block::make(checks)});
        out.push_back(While::make(loop->condition, body));
        return;
      }
    }
    out.push_back(stmt);
  }

  void check_store(const Store& store, std::vector<Stmt>& out) {
    check_loads(store.index, sizes_, out);
    check_loads(store.value, sizes_, out);
    check_loads(store.predicate, sizes_, out);
    check_access(store.buffer, store.index, store.predicate, sizes_, out);
  }

  // Checks the first and last element of a nonempty range [begin, end).
  void check_invoke(const Invoke& invoke, std::vector<Stmt>& out) {
    for (const Expr& arg : invoke.args) check_loads(arg, sizes_, out);
    if (invoke.function != RuntimeFunction::Sort) return;
    std::vector<Stmt> checks;
    check_access(invoke.buffer, invoke.args[0], {}, sizes_, checks);
    check_access(invoke.buffer, invoke.args[1] - 1, {}, sizes_, checks);
    out.push_back(If::make(invoke.args[0] < invoke.args[1], Block::make(std::move(checks))));
  }

  Stmt add_allocate(const Allocate& allocate, std::vector<Stmt>& out) {
    check_loads(allocate.size, sizes_, out);
    Expr size = allocate.size;
    if (!size.as<IntConst>()) {
      const std::string name = names_.fresh(size_name(allocate.buffer->name));
      out.push_back(Let::make(name, size));
      size = Var::make(name);
    }
    sizes_[allocate.buffer->name] = size;
    return Allocate::make(allocate.buffer, size, allocate.zeroed);
  }

  Kernel kernel_;
  FreshNames names_;
  BufferSizes sizes_;
  std::vector<Stmt> postponed_;
};

}  // namespace

std::string size_name(const std::string& buffer) { return buffer + ".size"; }

HostProgram insert_bounds_checks(HostProgram program) {
  for (const BufferParam& param : program.buffers) {
    program.scalars.push_back({size_name(param.buffer->name), kIndex});
  }
  std::vector<HostStep> steps;
  for (HostStep& step : program.steps) {
    if (auto* allocate = std::get_if<AllocateStep>(&step)) {
      const std::string name = size_name(allocate->buffer->name);
      steps.emplace_back(LetStep{name, allocate->size});
      allocate->size = Var::make(name);
    }
    steps.push_back(std::move(step));
  }
  program.steps = std::move(steps);
  for (Kernel& kernel : program.kernels) {
    if (!has_loop(kernel.body, ForKind::Block)) kernel = KernelChecker(std::move(kernel)).run();
  }
  return program;
}

}  // namespace tulle::passes
