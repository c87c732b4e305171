// The steps of schedules as data: a struct for each rewrite, with its arguments.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "nest/nest.h"
#include "support/name_list.h"
#include "support/source.h"

namespace tulle::schedule {

// --- loops ---

// split(k, 64, k0, k1)
struct Split {
  std::string loop;
  int64_t length = 1;
  std::string outer, inner;
  auto operator<=>(const Split&) const = default;
};

// split_positions(j, 32, j0, j1)
struct SplitPositions {
  std::string loop;
  int64_t length = 1;
  std::string outer, inner;
  auto operator<=>(const SplitPositions&) const = default;
};

// number_rows(i, r)
struct NumberRows {
  std::string loop, row;
  auto operator<=>(const NumberRows&) const = default;
};

// split_rows(i, 128, c, r), or split_rows(i, 128, c, r, 1024) for at most 1024 chunks
struct SplitRows {
  std::string loop;
  int64_t length = 1;
  std::string chunk, row;
  std::optional<int64_t> parts = {};
  auto operator<=>(const SplitRows&) const = default;
};

// deal_rows(i, 128, c, r, 132, 32)
struct DealRows {
  std::string loop;
  int64_t length = 1;
  std::string chunk, row;
  int64_t parts = 1, turns = 1;
  auto operator<=>(const DealRows&) const = default;
};

// split_entries(i, j, 32, c, e)
struct SplitEntries {
  std::string row, entry;
  int64_t length = 1;
  std::string chunk, inner;
  auto operator<=>(const SplitEntries&) const = default;
};

// reorder(i, k, j)
struct Reorder {
  NameList loops;
  auto operator<=>(const Reorder&) const = default;
};

// fuse(i, j, f)
struct Fuse {
  std::string outer, inner, fused;
  auto operator<=>(const Fuse&) const = default;
};

// --- sums and copies ---

// precompute(acc, (j, k)) or precompute(acc, (k), tracked)
struct Precompute {
  using Tracking = nest::Tensor::Tracking;
  std::string workspace;
  NameList loops = {};
  Tracking tracking = Tracking::Plain;
  bool bare = false;  // written without parentheses: one loop as k, none by omission
  auto operator<=>(const Precompute&) const = default;
};

// rfactor(j, part)
struct RFactor {
  std::string loop, workspace;
  auto operator<=>(const RFactor&) const = default;
};

// stage(Q, i, registers) or stage(B, j, shared, 2)
struct Stage {
  using Staging = nest::Tensor::Staging;
  std::string operand, loop;
  Staging staging = Staging::Registers;
  std::optional<int64_t> depth = {};  // default: 1
  auto operator<=>(const Stage&) const = default;
};

// --- how loops run ---

// parallel(i) or parallel(i, by=nnz)
struct Parallel {
  using Balance = nest::LoopTag::Balance;
  std::string loop;
  std::optional<Balance> balance = {};  // default: by rows
  auto operator<=>(const Parallel&) const = default;
};

// bind(i, block) or bind(i, block, sums=atomics)
struct Bind {
  using Part = nest::LoopTag::Kind;
  std::string loop;
  Part part = Part::Block;
  bool by_atomics = false;
  auto operator<=>(const Bind&) const = default;
};

// vectorize(k, 16)
struct Vectorize {
  std::string loop;
  int64_t lanes = 2;
  auto operator<=>(const Vectorize&) const = default;
};

// unroll(j, 2), or unroll(j, 0) for the whole extent
struct Unroll {
  std::string loop;
  int64_t copies = 0;
  auto operator<=>(const Unroll&) const = default;
};

// --- memory ---

inline constexpr int64_t kMostAhead = 1024;  // entries that a prefetch may look ahead

// prefetch(B, 16)
struct Prefetch {
  std::string operand;
  int64_t distance = 1;
  auto operator<=>(const Prefetch&) const = default;
};

// nontemporal(C)
struct NonTemporal {
  std::string result;
  auto operator<=>(const NonTemporal&) const = default;
};

// --- programs ---

// fuse_launches(C)
struct FuseLaunches {
  std::string statement;
  auto operator<=>(const FuseLaunches&) const = default;
};

// decompose(A, hyb(2,3))
struct Decompose {
  std::string operand, format;
  auto operator<=>(const Decompose&) const = default;
};

using Rewrite = std::variant<Split, Reorder, Fuse, SplitPositions, NumberRows, SplitRows, DealRows,
                             SplitEntries, Precompute, RFactor, Stage, Parallel, Bind, Vectorize,
                             Unroll, Prefetch, NonTemporal, FuseLaunches, Decompose>;

// A rewrite, perhaps for one statement only: C: split(k, 64, k0, k1)
struct Step {
  Rewrite rewrite;
  std::string statement = {};  // the tensor that it assigns; empty: see distribute.h
  // The place in the text, for messages.
  Span place = {};  // without the statement
  Span statement_place = {};
  std::vector<Span> name_places = {};  // of the names, in the order of names_of (rewrites.h)

  bool operator==(const Step& other) const {
    return rewrite == other.rewrite && statement == other.statement;
  }
};

}  // namespace tulle::schedule
