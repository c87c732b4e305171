// Verifies names and types of the statements of a kernel.
#include "loop/gpu.h"
#include "loop/print.h"
#include "loop/verify.h"
#include "loop/verify_expr.h"
#include "loop/verify_placement.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

class KernelVerifier {
 public:
  void run(const Kernel& kernel) {
    scope_.declare_parameters(kernel.buffers, kernel.scalars);
    check_body(kernel.body);
  }

 private:
  // Checks a statement and its contents. An error quotes the innermost statement.
  void check(const Stmt& stmt) {
    try {
      check_own(stmt);
    } catch (const InternalError& error) {
      const std::string text = to_string(stmt);
      internal_error(error.what(), "\n  in: ", text.substr(0, text.find('\n')));
    }
    if (const auto* node = stmt.as<Block>()) {
      scope_.open();
      for (const Stmt& inner : node->stmts) check(inner);
      scope_.close();
    } else if (const auto* node = stmt.as<For>()) {
      scope_.open();
      scope_.declare(node->var, {NameKind::Constant, kIndex, {}});
      check_body(node->body);
      scope_.close();
    } else if (const auto* node = stmt.as<While>()) {
      check_body(node->body);
    } else if (const auto* node = stmt.as<If>()) {
      check_body(node->yes);
      if (node->no) check_body(node->no);
    }
  }

  // A body is a scope even if it is a single statement.
  void check_body(const Stmt& body) {
    TULLE_CHECK(body.get() != nullptr);
    scope_.open();
    check(body);
    scope_.close();
  }

  void check_own(const Stmt& stmt) {
    switch (stmt->kind) {
      case StmtKind::Block:
      case StmtKind::Barrier:
        return;
      case StmtKind::Let: {
        const auto* node = stmt.as<Let>();
        verify_expr(node->value, scope_);
        return scope_.declare(node->name, {NameKind::Constant, node->value.type(), {}});
      }
      case StmtKind::Declare: {
        const auto* node = stmt.as<Declare>();
        verify_expr(node->init, scope_);
        return scope_.declare(node->name, {NameKind::Variable, node->init.type(), {}});
      }
      case StmtKind::Assign:
        return check_assign(*stmt.as<Assign>());
      case StmtKind::Store:
        return check_store(*stmt.as<Store>());
      case StmtKind::For:
        return check_for(*stmt.as<For>());
      case StmtKind::While:
        return verify_expr(stmt.as<While>()->condition, kBool, scope_);
      case StmtKind::If:
        return verify_expr(stmt.as<If>()->condition, kBool, scope_);
      case StmtKind::Allocate:
        return check_allocate(*stmt.as<Allocate>());
      case StmtKind::Atomic:
        return check_atomic(*stmt.as<Atomic>());
      case StmtKind::PrefetchLine:
        scope_.find_buffer(stmt.as<PrefetchLine>()->buffer);
        return verify_expr(stmt.as<PrefetchLine>()->index, kIndex, scope_);
      case StmtKind::Invoke:
        return check_invoke(*stmt.as<Invoke>());
    }
  }

  void check_assign(const Assign& node) {
    const VisibleName& declaration = scope_.find(node.name);
    if (declaration.kind != NameKind::Variable)
      internal_error("'", node.name, "' is not declared with var");
    verify_expr(node.value, declaration.type, scope_);
  }

  void check_writable(const Buffer& buffer) {
    if (!scope_.find_buffer(buffer).writable)
      internal_error("'", buffer->name, "' is not a mut parameter");
  }

  void check_store(const Store& node) {
    check_writable(node.buffer);
    const int lanes = node.index.type().lanes;
    verify_expr(node.index, kIndex.with_lanes(lanes), scope_);
    verify_expr(node.value, {node.buffer->element, lanes}, scope_);
    if (node.predicate) verify_expr(node.predicate, kBool.with_lanes(lanes), scope_);
  }

  void check_for(const For& node) {
    verify_expr(node.begin, kIndex, scope_);
    verify_expr(node.end, kIndex, scope_);
    if (node.step < 1) internal_error("a step of ", node.step);
    const bool has_factor = node.loop == ForKind::Vector || node.loop == ForKind::Unrolled;
    if (!has_factor && node.factor != 0)
      internal_error("a factor on a ", text_of(node.loop), " loop");
    if (node.loop == ForKind::Vector && node.factor < 2)
      internal_error("a vector loop without lanes");
    if (node.loop == ForKind::Unrolled && node.factor == 0 && !constant_extent(node)) {
      internal_error("a loop unrolled completely needs constant bounds");
    }
  }

  void check_allocate(const Allocate& node) {
    verify_expr(node.size, kIndex, scope_);
    const Space space = node.buffer->space;
    if (space == Space::Global) internal_error("kernels do not allocate global memory");
    if (space != Space::Workspace && !node.size.as<IntConst>()) {
      internal_error(text_of(space), " memory needs a constant size");
    }
    scope_.declare(node.buffer->name, {NameKind::Buffer, {}, node.buffer});
  }

  void check_atomic(const Atomic& node) {
    check_writable(node.buffer);
    const int lanes = node.index.type().lanes;
    verify_expr(node.index, kIndex.with_lanes(lanes), scope_);
    verify_expr(node.value, {node.buffer->element, lanes}, scope_);
    const auto* ramp = node.index.as<Ramp>();
    if (lanes > 1 && (!ramp || !is_constant(ramp->stride, 1) || !node.result.empty()))
      internal_error("a vector atomic must access contiguous elements and has no result");
    if (!reduces(node.op, node.buffer->element)) {
      internal_error("atomic_", text_of(node.op), " of ", name_of(node.buffer->element));
    }
    if (!node.result.empty())
      scope_.declare(node.result, {NameKind::Constant, {node.buffer->element, 1}, {}});
  }

  void check_invoke(const Invoke& node) {
    if (node.args.size() != 2)
      internal_error(text_of(node.function), " takes a buffer and two numbers");
    for (const Expr& arg : node.args) verify_expr(arg, kIndex, scope_);
    scope_.find_buffer(node.buffer);
    if (node.function != RuntimeFunction::Sort) return;
    check_writable(node.buffer);
    if (!is_integer(node.buffer->element)) internal_error("sort takes integers");
  }

  VerifierScope scope_;
};

}  // namespace

void verify(const Kernel& kernel) {
  try {
    KernelVerifier().run(kernel);
    verify_placement(kernel);
  } catch (const InternalError& error) {
    internal_error("kernel ", kernel.name, ": ", error.what());
  }
}

}  // namespace tulle::loop
