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

// The way a loop runs. Parallel loops are divided into chunks of equal numbers of rows, or of rows
// plus entries of the operand whose entries are below the loop. Merge makes these chunks exactly
// equal, also in the middle of a row. Block, Warp, Lane and Thread bind iterations to parts of a
// GPU, as in loop/stmt.h.
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
  int factor = 0;                   // lanes of Vector; copies of Unrolled (0: all)
  Balance balance = Balance::Rows;  // for Parallel
  bool by_atomics = false;          // for bound loops: their sums use atomics
  bool operator==(const LoopTag&) const = default;

  // Whether the loop is bound to a part of a GPU, and whether to one within a block. A member loop
  // is neither: its chunk runs on several member threads.
  bool is_bound() const { return kind >= Kind::Block; }
  bool is_within_block() const { return kind > Kind::Block; }
};

// The name of a part of a GPU: block, warp, lane, thread. InternalError for other kinds.
std::string_view bound_name(LoopTag::Kind kind);
// The part of a GPU with this name, if there is one.
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

// The producer fills the workspaces, then the consumer reads them. Each workspace starts at the
// neutral value of its accumulation, or at zero.
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

// tensor[indices] = value, or +=, max=, ... if `accumulate` is set. The value contains no Reduce.
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

// The provenance of a variable:
// - Outer and Inner: the quotient and the remainder of `parent` by `factor`.
// - Fused: the pairs (parent, second), the second varying faster.
// - Difference: parent - second, a diagonal. With a loop over `second` it binds the parent.
// - OuterPosition and InnerPosition: the quotient and the remainder of an entry's number within its
//   row of `tensor`, whose level over `parent` stores the entries.
// - Stored: numbers the coordinates of `parent` that the first level of `tensor` stores, without
//   gaps.
// - Chunk: numbers pieces of `factor` rows and entries of `tensor`, whose rows are along `parent`.
//   Pieces are longer if there would be more than `parts` otherwise (0: no limit). If `dealt` is
//   not 0, a chunk has no contiguous rows: rows are cut into pieces of at most `factor` entries;
//   every `dealt` chunks share pieces of equal total work and take them in turn.
// - ChunkRow: the parent within a chunk.
// - EntryChunk: numbers pieces of `factor` entries of `tensor`, whose rows are along `parent` and
//   whose entries are along `second`, regardless of rows.
// - Entry: traverses the entries of an EntryChunk and binds both indices.
// The order matters: `is_of_chunks` and `is_of_entries` compare origins by `>=`.
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
  // Whether the variable derives from two variables, parent and second.
  bool is_of_two() const {
    return origin == Origin::Fused || origin == Origin::Difference || is_of_entries();
  }
  bool operator==(const Variable&) const = default;
};

struct Tensor {
  enum class Role : uint8_t { Operand, Result, Workspace };
  // Plain workspaces are dense arrays. The others also record which coordinates were written, and
  // are read at these coordinates in order: Tracked workspaces list and sort them, Scanned ones
  // search all coordinates for them.
  enum class Tracking : uint8_t { Plain, Tracked, Scanned };
  // Staged workspaces hold a copy of a part of an operand: in registers of each thread, or shared
  // by the threads of a block, or of a warp if they are inside a loop over warps.
  enum class Staging : uint8_t { None, Registers, Shared };
  Role role = Role::Operand;
  expr::TensorType type;
  Tracking tracking = Tracking::Plain;
  // The operand whose structure a result or another operand shares; empty: none.
  std::string shares_pattern_of;
  // The tensor of an earlier nest that a dense result is combined into; empty: the result is new.
  std::string onto = {};
  // The operation that combines them.
  Monoid onto_by = Monoid::Sum;
  std::string lead;  // for a workspace: the one it forms a tuple with
  Staging staging = Staging::None;
  // For a staged workspace: the number of copies. All but one hold data of coming iterations of the
  // enclosing loop.
  int depth = 1;

  bool is_tracked() const { return tracking != Tracking::Plain; }
};

// An operand whose rows are prefetched for later entries.
struct PrefetchedOperand {
  std::string tensor;
  int distance;  // in entries
};

struct Nest {
  Stmt root;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, Variable> variables;
  // of source variables; other extents are runtime values
  std::map<std::string, int64_t> known_extents;
  std::vector<PrefetchedOperand> prefetches;
  std::vector<std::string> nontemporal;  // results stored past the caches

  const Tensor& tensor(const std::string& name) const;
  const Variable& variable(const std::string& name) const;
  // The constant extent of a variable, if known.
  std::optional<int64_t> known_extent(const std::string& var) const;
  // Whether this workspace is the lead of another one.
  bool leads(const std::string& workspace) const;
  // The source variables that a variable is derived from.
  std::vector<std::string> sources(const std::string& var) const;
  // Whether a loop over the variable binds `ancestor` or a part of it: the variable is `ancestor`
  // or derives from it. A difference does not bind its second variable, which has its own loop.
  bool derives_from(const std::string& var, const std::string& ancestor) const;
  // Whether loops over these variables determine another: it is one of them, or they determine a
  // variable fused from it, or its quotient and its remainder.
  bool determines(const std::vector<std::string>& loops, const std::string& var) const;
};

// The largest number of workspace elements that one thread keeps in registers or on the stack, on a
// CPU and on a GPU.
inline constexpr int64_t kLargestLocal = 2048, kLargestThreadLocal = 256;

// Indented text that parse.h parses.
std::string to_string(const Nest& nest);

// The assignments in the statement, in order of execution (producers before consumers).
std::vector<const Assign*> assigns(const Stmt& stmt);
// The first loop over the variable in the statement; null if there is none.
const Forall* find_loop(const Stmt& stmt, const std::string& var);
// Whether the statement contains the assignment.
bool find_assign(const Stmt& stmt, const Assign& assign);
// Whether the value reads the tensor.
bool reads(const expr::Expr& value, const std::string& tensor);
// Whether an assignment in the statement reads the tensor.
bool reads(const Stmt& stmt, const std::string& tensor);
// The operation with which the statement accumulates into a workspace.
Accumulate accumulation_of(const Stmt& producer, const std::string& workspace);

// Whether different coordinates of the variable give different indices: it is one of the indices,
// or they cover all variables it derives from.
bool covers(const std::vector<std::string>& indices, const Nest& nest, const std::string& var);

}  // namespace tulle::nest
