// Compares trees node by node.
#include "loop/same.h"

#include <algorithm>

#include "loop/rewrite.h"
#include "support/check.h"

namespace tulle::loop {

namespace {

bool same_buffer(const Buffer& a, const Buffer& b) {
  return a->name == b->name && a->element == b->element && a->space == b->space;
}

template <typename Items, typename Equal>
bool all_same(const Items& a, const Items& b, Equal equal) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), equal);
}

bool same_exprs(const std::vector<Expr>& a, const std::vector<Expr>& b) {
  return all_same(a, b, [](const Expr& x, const Expr& y) { return same(x, y); });
}

bool same_body(const Stmt& a, const Stmt& b) {
  if (!a || !b) return !a && !b;
  return all_same(statements_of(a), statements_of(b),
                  [](const Stmt& x, const Stmt& y) { return same(x, y); });
}

bool same_node(const Block& a, const Block& b) {
  return all_same(a.stmts, b.stmts, [](const Stmt& x, const Stmt& y) { return same(x, y); });
}
bool same_node(const Let& a, const Let& b) { return a.name == b.name && same(a.value, b.value); }
bool same_node(const Declare& a, const Declare& b) {
  return a.name == b.name && same(a.init, b.init);
}
bool same_node(const Assign& a, const Assign& b) {
  return a.name == b.name && same(a.value, b.value);
}
bool same_node(const Store& a, const Store& b) {
  return same_buffer(a.buffer, b.buffer) && same(a.index, b.index) && same(a.value, b.value) &&
         same(a.predicate, b.predicate) && a.nontemporal == b.nontemporal;
}
bool same_node(const For& a, const For& b) {
  return a.loop == b.loop && a.factor == b.factor && a.var == b.var && same(a.begin, b.begin) &&
         same(a.end, b.end) && a.step == b.step && same_body(a.body, b.body);
}
bool same_node(const While& a, const While& b) {
  return same(a.condition, b.condition) && same_body(a.body, b.body);
}
bool same_node(const If& a, const If& b) {
  return same(a.condition, b.condition) && same_body(a.yes, b.yes) && same_body(a.no, b.no);
}
bool same_node(const Allocate& a, const Allocate& b) {
  return same_buffer(a.buffer, b.buffer) && same(a.size, b.size) && a.zeroed == b.zeroed;
}
bool same_node(const Atomic& a, const Atomic& b) {
  return a.op == b.op && same_buffer(a.buffer, b.buffer) && same(a.index, b.index) &&
         same(a.value, b.value) && a.result == b.result;
}
bool same_node(const Barrier& a, const Barrier& b) { return a.scope == b.scope; }
bool same_node(const PrefetchLine& a, const PrefetchLine& b) {
  return same_buffer(a.buffer, b.buffer) && same(a.index, b.index) && a.locality == b.locality;
}
bool same_node(const Invoke& a, const Invoke& b) {
  return a.function == b.function && same_buffer(a.buffer, b.buffer) && same_exprs(a.args, b.args);
}

bool same_step(const LetStep& a, const LetStep& b) {
  return a.name == b.name && same(a.value, b.value);
}
bool same_step(const AllocateStep& a, const AllocateStep& b) {
  return same_buffer(a.buffer, b.buffer) && same(a.size, b.size) && a.zeroed == b.zeroed;
}
bool same_step(const LaunchStep& a, const LaunchStep& b) { return a.kernel == b.kernel; }
bool same_step(const ScanStep& a, const ScanStep& b) {
  return same_buffer(a.buffer, b.buffer) && same(a.length, b.length);
}
bool same_step(const ReadStep& a, const ReadStep& b) {
  return a.name == b.name && same_buffer(a.buffer, b.buffer) && same(a.index, b.index) &&
         a.most == b.most && a.of_row == b.of_row;
}
bool same_step(const SortStep& a, const SortStep& b) {
  return same_buffer(a.order, b.order) && all_same(a.keys, b.keys, same_buffer) &&
         same(a.length, b.length);
}
bool same_step(const FreeStep& a, const FreeStep& b) { return same_buffer(a.buffer, b.buffer); }
bool same_step(const KeepStep& a, const KeepStep& b) {
  return a.what == b.what && a.tensor == b.tensor;
}
bool same_step(const KeptStep& a, const KeptStep& b) {
  return all_same(a.arrays, b.arrays, same_buffer);
}

bool same_parameters(const std::vector<BufferParam>& a, const std::vector<BufferParam>& b) {
  return all_same(a, b, [](const BufferParam& x, const BufferParam& y) {
    return same_buffer(x.buffer, y.buffer) && x.writable == y.writable;
  });
}

bool same_parameters(const std::vector<ScalarParam>& a, const std::vector<ScalarParam>& b) {
  return all_same(a, b, [](const ScalarParam& x, const ScalarParam& y) {
    return x.name == y.name && x.type == y.type;
  });
}

}  // namespace

bool same(const Stmt& a, const Stmt& b) {
  if (a.get() == b.get()) return true;
  if (!a || !b || a->kind != b->kind) return false;
  switch (a->kind) {
#define X(Node)        \
  case StmtKind::Node: \
    return same_node(*a.as<Node>(), *b.as<Node>());
    TULLE_LOOP_STMTS(X)
#undef X
  }
  internal_error("a statement of unknown kind");
}

bool same(const Kernel& a, const Kernel& b) {
  return a.name == b.name && same_parameters(a.buffers, b.buffers) &&
         same_parameters(a.scalars, b.scalars) && same_body(a.body, b.body);
}

bool same(const HostStep& a, const HostStep& b) {
  if (a.index() != b.index()) return false;
  return std::visit([&]<typename T>(const T& step) { return same_step(step, std::get<T>(b)); }, a);
}

bool same(const HostProgram& a, const HostProgram& b) {
  return a.name == b.name && same_parameters(a.buffers, b.buffers) &&
         same_parameters(a.scalars, b.scalars) &&
         all_same(a.steps, b.steps,
                  [](const HostStep& x, const HostStep& y) { return same(x, y); }) &&
         all_same(a.results, b.results, same_buffer) &&
         all_same(a.kernels, b.kernels,
                  [](const Kernel& x, const Kernel& y) { return same(x, y); });
}

}  // namespace tulle::loop
