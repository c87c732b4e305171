// Constructors of statements, and lookup of kernels.
#include "loop/stmt.h"

#include "loop/host.h"
#include "support/check.h"

namespace tulle::loop {

std::string_view text_of(ForKind kind) {
  constexpr std::string_view names[] = {"serial", "parallel", "vector", "unrolled",
                                        "block",  "warp",     "lane",   "thread"};
  return names[static_cast<int>(kind)];
}

std::string_view text_of(BarrierScope scope) {
  return scope == BarrierScope::Warp ? "warp" : "block";
}

std::string_view text_of(RuntimeFunction function) {
  switch (function) {
#define X(name, text)         \
  case RuntimeFunction::name: \
    return text;
    TULLE_RUNTIME_FUNCTIONS(X)
#undef X
  }
  return "?";
}

Stmt Block::make(std::vector<Stmt> stmts) {
  for (const Stmt& stmt : stmts) TULLE_CHECK(stmt, "a null statement in a block");
  return std::make_shared<const Block>(std::move(stmts));
}

Stmt Let::make(std::string name, Expr value) {
  TULLE_CHECK(!name.empty() && value);
  return std::make_shared<const Let>(std::move(name), std::move(value));
}

Stmt Declare::make(std::string name, Expr init) {
  TULLE_CHECK(!name.empty() && init);
  return std::make_shared<const Declare>(std::move(name), std::move(init));
}

Stmt Assign::make(std::string name, Expr value) {
  TULLE_CHECK(!name.empty() && value);
  return std::make_shared<const Assign>(std::move(name), std::move(value));
}

Stmt Store::make(Buffer buffer, Expr index, Expr value, Expr predicate, bool nontemporal) {
  TULLE_CHECK(index.type().scalar == DType::Int64, "an index into ", buffer->name);
  TULLE_CHECK(value.type() == (Type{buffer->element, index.type().lanes}), "a ",
              to_string(value.type()), " stored into ", buffer->name);
  TULLE_CHECK(!predicate || predicate.type() == kBool.with_lanes(index.type().lanes),
              "the predicate of a store");
  return std::make_shared<const Store>(std::move(buffer), std::move(index), std::move(value),
                                       std::move(predicate), nontemporal);
}

Stmt For::make(std::string var, Expr begin, Expr end, Stmt body, ForKind loop, int factor,
               int64_t step) {
  TULLE_CHECK(begin.type() == kIndex && end.type() == kIndex && body && step > 0, "the loop over ",
              var);
  return std::make_shared<const For>(loop, factor, std::move(var), std::move(begin), std::move(end),
                                     step, std::move(body));
}

Stmt While::make(Expr condition, Stmt body) {
  TULLE_CHECK(condition.type() == kBool && body);
  return std::make_shared<const While>(std::move(condition), std::move(body));
}

Stmt If::make(Expr condition, Stmt yes, Stmt no) {
  TULLE_CHECK(condition.type() == kBool && yes);
  if (is_constant(condition, 1)) return yes;
  if (is_constant(condition, 0)) return no ? no : Block::make({});
  return std::make_shared<const If>(std::move(condition), std::move(yes), std::move(no));
}

Stmt Allocate::make(Buffer buffer, Expr size, bool zeroed) {
  TULLE_CHECK(buffer->space != Space::Global && size.type() == kIndex, "the allocation of ",
              buffer->name);
  return std::make_shared<const Allocate>(std::move(buffer), std::move(size), zeroed);
}

Stmt Atomic::make(ReduceOp op, Buffer buffer, Expr index, Expr value, std::string result) {
  TULLE_CHECK(value.type() == Type(buffer->element, index.type().lanes), "an atomic on ",
              buffer->name);
  return std::make_shared<const Atomic>(op, std::move(buffer), std::move(index), std::move(value),
                                        std::move(result));
}

Stmt Barrier::make(BarrierScope scope) { return std::make_shared<const Barrier>(scope); }

Stmt PrefetchLine::make(Buffer buffer, Expr index, int locality) {
  TULLE_CHECK(index.type() == kIndex && locality >= 1 && locality <= 3);
  return std::make_shared<const PrefetchLine>(std::move(buffer), std::move(index), locality);
}

Stmt Invoke::make(RuntimeFunction function, Buffer buffer, std::vector<Expr> args) {
  return std::make_shared<const Invoke>(function, std::move(buffer), std::move(args));
}

void fail_read(const ReadStep& step, int64_t count) {
  if (step.of_row) {
    user_error("The widest row to store has ", count, " entries, but its format has ", step.most,
               " slots per row: padded(", step.most, "); use padded(", count, "), which is ell(",
               count, ") for a matrix by rows, or for a compressed format such as csr.");
  }
  user_error("The result would have ", count, " entries, but indices of 32 bits count to ",
             step.most, "; store an operand with 64-bit indices (index_dtype=torch.int64).");
}

const Kernel& HostProgram::kernel(const std::string& wanted) const {
  for (const Kernel& candidate : kernels) {
    if (candidate.name == wanted) return candidate;
  }
  internal_error("host program ", name, " has no kernel ", wanted);
}

}  // namespace tulle::loop
