// A host program over the sorted entries of a tensor: computes their coordinates and other orders.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "loop/host.h"
#include "lower/emitter.h"
#include "lower/options.h"

namespace tulle::lower {

// Takes `crd0`, `crd1`, ... of `count` entries, one array for each dimension, and `columns`, the
// size of the last dimension.
class EntryProgram {
 public:
  EntryProgram(const std::string& name, int rank, DType index_type, const Options& options);

  const loop::Expr& count() const { return count_; }
  const loop::Expr& columns() const { return columns_; }
  DType index_type() const { return index_type_; }
  loop::HostProgram& program() { return program_; }

  loop::Buffer allocate(const std::string& name, DType element, const loop::Expr& size);
  // Appends a kernel that runs the body for each entry, or for each number below another.
  void each(const std::string& name, const std::function<void(Emitter&, const loop::Expr&)>& body);
  void launch(const std::string& name, const loop::Expr& count,
              const std::function<void(Emitter&, const loop::Expr&)>& body);
  void scan(const loop::Buffer& buffer);

  // --- coordinates of entries ---
  // The arrays of coordinates. The last two dimensions are rows and columns.
  const std::vector<loop::Buffer>& coordinates() const { return crd_; }
  loop::Expr row(const loop::Expr& entry) const;
  loop::Expr column(const loop::Expr& entry) const;
  // The number of the entry's window of this height.
  loop::Expr window(int64_t height, const loop::Expr& entry) const;
  // The number of the entry's column range. declare_width must have been called.
  loop::Expr range(int64_t ranges, const loop::Expr& entry) const;
  void declare_width(int64_t ranges);

  // Sorts the entries by windows of this height and then by columns. The original order already is
  // the order of height 1.
  void order_by(int64_t height);
  // The entry at a place of that order.
  loop::Expr entry_at(Emitter& out, int64_t height, const loop::Expr& place) const;

 private:
  const DType index_type_;
  const Options options_;
  const loop::Expr count_ = loop::Var::make("count"), columns_ = loop::Var::make("columns");
  loop::HostProgram program_;
  std::vector<loop::Buffer> crd_;
  std::map<int64_t, loop::Buffer> orders_;  // by height
  std::set<int64_t> widths_;                // ranges with a declared width
  int kernels_ = 0;
};

// An element as an index.
loop::Expr element(const loop::Buffer& buffer, const loop::Expr& at);

}  // namespace tulle::lower
