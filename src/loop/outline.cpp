// Removes the parts of a kernel that only generated code executes.
#include "loop/outline.h"

namespace tulle::loop {

namespace {

bool is_bound(const For& loop) {
  switch (loop.loop) {
    case ForKind::Parallel:
    case ForKind::Block:
    case ForKind::Warp:
    case ForKind::Lane:
    case ForKind::Thread:
      return true;
    case ForKind::Serial:
    case ForKind::Vector:
    case ForKind::Unrolled:
      return false;
  }
  return false;
}

// Appends the outline of a statement. Names matter only outside of all loops.
void add_outline(const Stmt& stmt, bool inside_loops, std::vector<Stmt>& into) {
  if (const auto* block = stmt.as<Block>()) {
    for (const Stmt& inner : block->stmts) add_outline(inner, inside_loops, into);
  } else if (const auto* test = stmt.as<If>()) {
    add_outline(test->yes, inside_loops, into);
    if (test->no) add_outline(test->no, inside_loops, into);
  } else if (const auto* repeated = stmt.as<While>()) {
    add_outline(repeated->body, true, into);
  } else if (const auto* loop = stmt.as<For>()) {
    if (!is_bound(*loop)) return add_outline(loop->body, true, into);
    std::vector<Stmt> body;
    add_outline(loop->body, true, body);
    into.push_back(For::make(loop->var, loop->begin, loop->end, Block::make(std::move(body)),
                             loop->loop, loop->factor, loop->step));
  } else if (const auto* allocate = stmt.as<Allocate>()) {
    if (allocate->buffer->space == Space::Shared) into.push_back(stmt);
  } else if (stmt.as<Let>() && !inside_loops) {
    into.push_back(stmt);
  }
}

}  // namespace

Kernel outline(const Kernel& kernel) {
  std::vector<Stmt> body;
  add_outline(kernel.body, false, body);
  return {kernel.name, kernel.buffers, kernel.scalars, Block::make(std::move(body))};
}

}  // namespace tulle::loop
