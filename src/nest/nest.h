// The iteration space of one statement: loops over index variables, producers and consumers of
// workspaces, assignments.
//
// forall visits the coordinates of a variable, where runs a producer that fills a workspace and
// then its consumer, sequence runs one after the other, assign computes. Loop order is the nesting;
// how sparse operands are visited is left to lowering.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "expr/program.h"
#include "nest/monoid.h"

namespace tulle::nest {

enum class NodeKind : uint8_t { Forall, Where, Sequence, Assign };

struct Node {
  NodeKind kind;

 protected:
  explicit Node(NodeKind k) : kind(k) {}
};

class Stmt {
 public:
  Stmt() = default;
  template <typename T>
  Stmt(std::shared_ptr<const T> node)
      : node_(std::move(node)) {}  // NOLINT: conversion from every node

  explicit operator bool() const { return node_ != nullptr; }
  const Node* operator->() const { return node_.get(); }
  const Node* get() const { return node_.get(); }

  template <typename T>
  const T* as() const {
    return node_ && node_->kind == T::kKind ? static_cast<const T*>(node_.get()) : nullptr;
  }

 private:
  std::shared_ptr<const Node> node_;
};

// How a loop runs. Parallel loops are cut into chunks of equal rows or of equal rows plus entries
// of the operand whose entries lie below the loop; by Merge these are exactly equal, wherever in a
// row that is. Block, Warp, Lane and Thread are the parts of a
// GPU that a loop's iterations are bound to, as in loop/stmt.h.
struct LoopTag {
  enum class Kind : uint8_t {
    Serial,
    Parallel,
    Vector,
    Unrolled,
    Member,
    Block,
    Warp,
    Lane,
    Thread
  };
  enum class Balance : uint8_t { Rows, Nnz, Merge };
  Kind kind = Kind::Serial;
  int factor = 0;                   // lanes of Vector, copies of Unrolled (0: all)
  Balance balance = Balance::Rows;  // of Parallel
  bool by_atomics = false;          // of bound loops: they add up what they sum in common
  bool operator==(const LoopTag&) const = default;

  // To a part of a GPU; to one within a block. Members of a chunk are neither: chunks are spread
  // over threads, so many for each.
  bool is_bound() const { return kind >= Kind::Block; }
  bool is_within_block() const { return kind > Kind::Block; }
};

// The word for a part of a GPU: block, warp, lane, thread. InternalError for other kinds.
std::string_view bound_name(LoopTag::Kind kind);
// The way back; nothing where the word names none.
std::optional<LoopTag::Kind> bound_kind(std::string_view word);

struct Forall : Node {
  static constexpr NodeKind kKind = NodeKind::Forall;
  std::string var;
  LoopTag tag;
  Stmt body;
  Forall(std::string v, LoopTag t, Stmt b)
      : Node(kKind), var(std::move(v)), tag(t), body(std::move(b)) {}
  static Stmt make(std::string var, Stmt body, LoopTag tag = {});
};

// The producer fills the workspaces, each of which starts at what changes nothing under its
// accumulation (or at zero), then the consumer reads them.
struct Where : Node {
  static constexpr NodeKind kKind = NodeKind::Where;
  std::vector<std::string> workspaces;
  Stmt consumer, producer;
  Where(std::vector<std::string> w, Stmt c, Stmt p)
      : Node(kKind), workspaces(std::move(w)), consumer(std::move(c)), producer(std::move(p)) {}
  static Stmt make(std::vector<std::string> workspaces, Stmt consumer, Stmt producer);
  static Stmt make(std::string workspace, Stmt consumer, Stmt producer);
};

struct Sequence : Node {
  static constexpr NodeKind kKind = NodeKind::Sequence;
  std::vector<Stmt> stmts;
  explicit Sequence(std::vector<Stmt> s) : Node(kKind), stmts(std::move(s)) {}
  static Stmt make(std::vector<Stmt> stmts);
};

// tensor[indices] = value, or +=, max=, ... where `accumulate`. The value holds no Reduce.
struct Assign : Node {
  static constexpr NodeKind kKind = NodeKind::Assign;
  std::string tensor;
  std::vector<std::string> indices;
  Accumulate accumulate;
  expr::Expr value;
  Assign(std::string t, std::vector<std::string> i, Accumulate a, expr::Expr v)
      : Node(kKind),
        tensor(std::move(t)),
        indices(std::move(i)),
        accumulate(a),
        value(std::move(v)) {}
  static Stmt make(std::string tensor, std::vector<std::string> indices, Accumulate accumulate,
                   expr::Expr value);
};

// Where a variable comes from. Outer and Inner are the quotient and the remainder of `parent` by
// `factor`; Fused runs over the pairs (parent, second), the second faster; Difference is parent -
// second, the diagonals of the two: with a loop over `second` it binds the parent. OuterPosition
// and InnerPosition are quotient and remainder of the number of an entry of `tensor` among those
// that its level over `parent` holds in a row. Stored numbers the coordinates of `parent` that the
// first level of `tensor` stores, without gaps. Chunk numbers pieces of `factor` rows and entries
// of `tensor`, whose rows are along `parent`, longer ones where there would be more than `parts`
// otherwise (0: as many as there are); ChunkRow is the parent within one of them. Where `dealt` is
// not 0, a chunk has no rows in a row: all are cut into pieces of at most `factor` entries, every
// `dealt` chunks share pieces that come to the same work, and take them in turn. EntryChunk
// numbers pieces of `factor` entries of `tensor`, whose rows are along `parent` and whose entries
// along `second`, whatever rows they are of; Entry goes through those of one, and binds both.
struct Variable {
  enum class Origin : uint8_t {
    Source,
    Outer,
    Inner,
    Fused,
    Difference,
    OuterPosition,
    InnerPosition,
    Stored,
    Chunk,
    ChunkRow,
    EntryChunk,
    Entry
  };
  Origin origin = Origin::Source;
  std::string parent;
  std::string second;
  int64_t factor = 1;
  std::string tensor = {};
  int64_t parts = 0;
  int64_t dealt = 0;

  bool is_position() const {
    return origin == Origin::OuterPosition || origin == Origin::InnerPosition;
  }
  bool is_of_chunks() const { return origin >= Origin::Chunk; }
  bool is_of_entries() const { return origin >= Origin::EntryChunk; }
  // Whether it is made of two variables, parent and second.
  bool is_of_two() const {
    return origin == Origin::Fused || origin == Origin::Difference || is_of_entries();
  }
  bool operator==(const Variable&) const = default;
};

struct Tensor {
  enum class Role : uint8_t { Operand, Result, Workspace };
  // Plain workspaces are dense arrays; the others also know which coordinates were written, and are
  // read in order of coordinates, those alone: Tracked ones list and sort them, Scanned ones look
  // for them among all.
  enum class Tracking : uint8_t { Plain, Tracked, Scanned };
  // Staged ones hold a copy of what is read of an operand: each thread's own, or one that the
  // threads of a block, or of a warp where they stand in a loop over warps, make together.
  enum class Staging : uint8_t { None, Registers, Shared };
  Role role = Role::Operand;
  expr::TensorType type;
  Tracking tracking = Tracking::Plain;
  std::string shares_pattern_of;  // a result whose structure is that operand's (empty: its own)
  // A dense result that is added to what this tensor, of an earlier nest, holds (empty: it is new).
  std::string onto = {};
  // How it is: a product is multiplied by it, a maximum or a minimum is taken with it.
  Monoid onto_by = Monoid::Sum;
  std::string lead;  // of a workspace: the one that it makes a tuple with
  Staging staging = Staging::None;
  // Of a staged workspace: how many copies there are, of which all but one are of iterations to
  // come of the loop around.
  int depth = 1;

  bool is_tracked() const { return tracking != Tracking::Plain; }
};

struct Prefetch {
  std::string tensor;
  int distance;  // entries ahead
};

struct Nest {
  Stmt root;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, Variable> variables;
  std::map<std::string, int64_t> known_extents;  // of source variables; others are runtime values
  std::vector<Prefetch> prefetches;
  std::vector<std::string> nontemporal;  // results stored past the caches

  const Tensor& tensor(const std::string& name) const;
  const Variable& variable(const std::string& name) const;
  // The constant extent of a variable where it is known.
  std::optional<int64_t> known_extent(const std::string& var) const;
  // Whether another workspace goes with this one.
  bool leads(const std::string& workspace) const;
  // The source variables that a variable is derived from.
  std::vector<std::string> sources(const std::string& var) const;
  // Whether a loop over the variable binds the other one or a part of it: it is that one, or what
  // it is made of is. A difference binds nothing of its second, which has a loop of its own.
  bool derives_from(const std::string& var, const std::string& ancestor) const;
  // Whether loops over these variables determine another: it is one of them, or something is that
  // is fused from it, or its quotient and its remainder are.
  bool determines(const std::vector<std::string>& loops, const std::string& var) const;
};

// Elements of a workspace that one thread keeps to itself, in registers or on the stack: of a CPU,
// of a GPU.
inline constexpr int64_t kLargestLocal = 2048, kLargestThreadLocal = 256;

// Indented text, which parse.h reads back.
std::string to_string(const Nest& nest);

// The assignments below, in order of execution (producers before consumers).
std::vector<const Assign*> assigns(const Stmt& stmt);
// The first loop over the variable in the statement; null if there is none.
const Forall* find_loop(const Stmt& stmt, const std::string& var);
// Whether the assignment stands in the statement.
bool find_assign(const Stmt& stmt, const Assign& assign);
// Whether the value that is assigned, or a part of it, reads the tensor.
bool reads(const expr::Expr& value, const std::string& tensor);
// Whether an assignment in the statement does.
bool reads(const Stmt& stmt, const std::string& tensor);
// How the statement accumulates into a workspace.
Accumulate accumulation_of(const Stmt& producer, const std::string& workspace);

// Whether different coordinates of the variable give different indices: it is one of them, or all
// that it is derived from is.
bool covers(const std::vector<std::string>& indices, const Nest& nest, const std::string& var);

}  // namespace tulle::nest
