// Statements of the loop IR. A Let or Declare is visible to the end of its Block.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "loop/expr.h"

namespace tulle::loop {

#define TULLE_LOOP_STMTS(X) \
  X(Block)                  \
  X(Let)                    \
  X(Declare)                \
  X(Assign)                 \
  X(Store)                  \
  X(For)                    \
  X(While)                  \
  X(If)                     \
  X(Allocate)               \
  X(Atomic)                 \
  X(Barrier)                \
  X(PrefetchLine)           \
  X(Invoke)

enum class StmtKind : uint8_t {
#define X(name) name,
  TULLE_LOOP_STMTS(X)
#undef X
};

struct StmtNode {
  StmtKind kind;

 protected:
  explicit StmtNode(StmtKind k) : kind(k) {}
};

class Stmt {
 public:
  Stmt() = default;
  template <typename Node>
  Stmt(std::shared_ptr<const Node> node)
      : node_(std::move(node)) {}  // NOLINT: conversion from every node

  explicit operator bool() const { return node_ != nullptr; }
  const StmtNode* operator->() const { return node_.get(); }
  const StmtNode* get() const { return node_.get(); }

  template <typename T>
  const T* as() const {
    return node_ && node_->kind == T::kKind ? static_cast<const T*>(node_.get()) : nullptr;
  }

 private:
  std::shared_ptr<const StmtNode> node_;
};

// Runs its statements in order and opens a scope. `make` does not flatten: a nested Block keeps its
// own scope.
struct Block : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Block;
  std::vector<Stmt> stmts;
  explicit Block(std::vector<Stmt> s) : StmtNode(kKind), stmts(std::move(s)) {}
  static Stmt make(std::vector<Stmt> stmts);
};

struct Let : StmtNode {  // an immutable name
  static constexpr StmtKind kKind = StmtKind::Let;
  std::string name;
  Expr value;
  Let(std::string n, Expr v) : StmtNode(kKind), name(std::move(n)), value(std::move(v)) {}
  static Stmt make(std::string name, Expr value);
};

struct Declare : StmtNode {  // a mutable variable, held in a register
  static constexpr StmtKind kKind = StmtKind::Declare;
  std::string name;
  Expr init;
  Declare(std::string n, Expr v) : StmtNode(kKind), name(std::move(n)), init(std::move(v)) {}
  static Stmt make(std::string name, Expr init);
};

struct Assign : StmtNode {  // to a declared variable
  static constexpr StmtKind kKind = StmtKind::Assign;
  std::string name;
  Expr value;
  Assign(std::string n, Expr v) : StmtNode(kKind), name(std::move(n)), value(std::move(v)) {}
  static Stmt make(std::string name, Expr value);
};

// buffer[index] = value. A vector index scatters. Lanes with a false predicate are not written.
struct Store : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Store;
  Buffer buffer;
  Expr index, value;
  Expr predicate;  // may be null
  bool nontemporal;
  Store(Buffer b, Expr i, Expr v, Expr p, bool nt)
      : StmtNode(kKind),
        buffer(std::move(b)),
        index(std::move(i)),
        value(std::move(v)),
        predicate(std::move(p)),
        nontemporal(nt) {}
  static Stmt make(Buffer buffer, Expr index, Expr value, Expr predicate = {},
                   bool nontemporal = false);
};

// Serial: in order. Parallel: independent iterations on CPU workers (outermost in a kernel, at most
// one). Vector: `factor` iterations at a time, in lanes. Unrolled: `factor` copies of the body per
// step, 0 for all (constant extent). Block, Warp, Lane, Thread: bound to the hardware indices of a
// GPU (a thread is a flat index in its block; a warp and a lane are the two-level form of that
// index).
enum class ForKind : uint8_t { Serial, Parallel, Vector, Unrolled, Block, Warp, Lane, Thread };
std::string_view text_of(ForKind kind);

struct For : StmtNode {  // for var in [begin, end) by step
  static constexpr StmtKind kKind = StmtKind::For;
  ForKind loop;
  int factor;  // lanes of Vector, copies of Unrolled, otherwise 0
  std::string var;
  Expr begin, end;
  int64_t step;
  Stmt body;
  For(ForKind l, int f, std::string v, Expr b, Expr e, int64_t s, Stmt body_)
      : StmtNode(kKind),
        loop(l),
        factor(f),
        var(std::move(v)),
        begin(std::move(b)),
        end(std::move(e)),
        step(s),
        body(std::move(body_)) {}
  static Stmt make(std::string var, Expr begin, Expr end, Stmt body, ForKind loop = ForKind::Serial,
                   int factor = 0, int64_t step = 1);
};

struct While : StmtNode {
  static constexpr StmtKind kKind = StmtKind::While;
  Expr condition;
  Stmt body;
  While(Expr c, Stmt b) : StmtNode(kKind), condition(std::move(c)), body(std::move(b)) {}
  static Stmt make(Expr condition, Stmt body);
};

struct If : StmtNode {
  static constexpr StmtKind kKind = StmtKind::If;
  Expr condition;
  Stmt yes;
  Stmt no;  // may be null
  If(Expr c, Stmt y, Stmt n)
      : StmtNode(kKind), condition(std::move(c)), yes(std::move(y)), no(std::move(n)) {}
  static Stmt make(Expr condition, Stmt yes, Stmt no = {});
};

// Allocates a buffer until the end of the enclosing Block. The space is not Global; Local and
// Shared buffers have a constant size.
struct Allocate : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Allocate;
  Buffer buffer;
  Expr size;  // in elements
  bool zeroed;
  Allocate(Buffer b, Expr s, bool z)
      : StmtNode(kKind), buffer(std::move(b)), size(std::move(s)), zeroed(z) {}
  static Stmt make(Buffer buffer, Expr size, bool zeroed);
};

// Atomically computes buffer[index] = buffer[index] op value. `result` names the old value unless
// it is empty. Vector atomics update each element separately and have no result; their index is a
// Ramp of stride one that starts at a multiple of its lanes.
struct Atomic : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Atomic;
  ReduceOp op;
  Buffer buffer;
  Expr index, value;
  std::string result;
  Atomic(ReduceOp o, Buffer b, Expr i, Expr v, std::string r)
      : StmtNode(kKind),
        op(o),
        buffer(std::move(b)),
        index(std::move(i)),
        value(std::move(v)),
        result(std::move(r)) {}
  static Stmt make(ReduceOp op, Buffer buffer, Expr index, Expr value, std::string result = {});
};

enum class BarrierScope : uint8_t { Warp, Block };
std::string_view text_of(BarrierScope scope);

struct Barrier : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Barrier;
  BarrierScope scope;
  explicit Barrier(BarrierScope s) : StmtNode(kKind), scope(s) {}
  static Stmt make(BarrierScope scope);
};

// Prefetches buffer[index]; never faults. `locality` is the cache level, 1 to 3, into which the
// cache line is fetched.
struct PrefetchLine : StmtNode {
  static constexpr StmtKind kKind = StmtKind::PrefetchLine;
  Buffer buffer;
  Expr index;
  int locality;
  PrefetchLine(Buffer b, Expr i, int l)
      : StmtNode(kKind), buffer(std::move(b)), index(std::move(i)), locality(l) {}
  static Stmt make(Buffer buffer, Expr index, int locality);
};

// Functions of the runtime that kernels may call. X(enumerator, text). sort(buffer, begin, end)
// sorts the integers buffer[begin..end) in ascending order. report_out_of_bounds(buffer, index,
// size) reports an access found by checked mode, after which the kernel returns.
#define TULLE_RUNTIME_FUNCTIONS(X) \
  X(Sort, "sort")                  \
  X(ReportOutOfBounds, "report_out_of_bounds")

enum class RuntimeFunction : uint8_t {
#define X(name, text) name,
  TULLE_RUNTIME_FUNCTIONS(X)
#undef X
};
std::string_view text_of(RuntimeFunction function);

struct Invoke : StmtNode {
  static constexpr StmtKind kKind = StmtKind::Invoke;
  RuntimeFunction function;
  Buffer buffer;
  std::vector<Expr> args;
  Invoke(RuntimeFunction f, Buffer b, std::vector<Expr> a)
      : StmtNode(kKind), function(f), buffer(std::move(b)), args(std::move(a)) {}
  static Stmt make(RuntimeFunction function, Buffer buffer, std::vector<Expr> args);
};

}  // namespace tulle::loop
