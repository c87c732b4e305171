// The variants of a program. A call finds the variant for its operands or compiles it.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "driver/compile.h"
#include "driver/operand_samples.h"
#include "driver/variant.h"
#include "tulle/tulle.h"

namespace tulle {

inline constexpr int64_t kLargestSpecialised = 1024;  // extents above are runtime values

// Any number of threads may use a table at the same time.
class VariantTable {
 public:
  // The arguments must outlive the table. `indices` are the indices of the whole program, in the
  // order of the extents of a call. `source` is the hash of the program's source.
  VariantTable(const plan::UniqueProgram& program, const std::vector<TensorSpec>& operands,
               const std::vector<std::string>& indices, const ProgramOptions& options,
               const CompileLimits& limits, const jit::ContentHash& source);
  ~VariantTable();
  VariantTable(const VariantTable&) = delete;
  VariantTable& operator=(const VariantTable&) = delete;

  // The variant for these operands, compiled if there is none. It lives as long as the table.
  // Finding one takes no lock.
  const Variant& find(const std::vector<TensorView>& views, const std::vector<int64_t>& extents,
                      const RunOptions& options) const;

  // The size of the code of all variants, including optimised code that replaced light code.
  int64_t code_bytes() const { return code_bytes_->load(std::memory_order_relaxed); }

  // The request that compiles a variant for these operands. `any`: for operands of all sizes.
  CompileRequest request(const std::vector<TensorView>& views, const std::vector<int64_t>& extents,
                         const RunOptions& options, bool any = false) const;

 private:
  uint64_t signature(const std::vector<TensorView>& views, const std::vector<int64_t>& extents,
                     const RunOptions& options) const;
  std::atomic<const Variant*>& list_for(uint64_t wanted) const {
    return lists_[(wanted >> 32) % lists_.size()];
  }
  const Variant* look_up(uint64_t wanted, const std::vector<int64_t>& extents) const;
  const Variant& add(uint64_t wanted, CompileRequest request, uint64_t plan_changes) const;

  const plan::UniqueProgram& program_;
  const std::vector<TensorSpec>& operands_;
  const std::vector<std::string>& indices_;
  const ProgramOptions& options_;
  const CompileLimits limits_;
  const jit::ContentHash source_;
  std::vector<size_t> sparse_;           // numbers of the operands that are not dense
  std::vector<OperandSamples> samples_;  // by operand
  std::vector<size_t> specialisable_;    // numbers of indices whose extents may become constants
  mutable std::array<std::atomic<const Variant*>, 64> lists_{};  // lists that only grow
  mutable std::mutex compiling_;                                 // locked inside NoFork
  mutable std::atomic<int> count_ = 0;
  const runtime::LateBytes::Total code_bytes_ = std::make_shared<std::atomic<int64_t>>(0);
};

}  // namespace tulle
