// The result of lowering one nest in one phase: a kernel, the steps that launch it, and facts for
// the steps around it.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "loop/host.h"
#include "lower/options.h"
#include "lower/programs/derived.h"
#include "nest/nest.h"

namespace tulle::lower {

// Compute writes a result whose structure is known, Merge finishes the rows of it that several
// chunks have pieces of; a sparse result is counted first and filled afterwards.
enum class Phase : uint8_t { Compute, Merge, Count, Fill };

struct KernelRequest {
  std::string name;
  Phase phase = Phase::Compute;
  Options options = {};
  bool shares_result = false;  // other blocks or kernels add to the result at the same time
  bool shares_values = true;   // members of a chunk share its values; else one thread runs a chunk
};

// Rows with more than `length` entries, which several chunks add to; no buffer where there are
// none.
struct SharedRows {
  loop::Buffer positions;
  loop::Expr length;
  loop::Buffer list, count;  // the rows where they are listed, and how many there are
  loop::Expr at_most;
};

// Facts that lowering a kernel's loops establishes.
struct KernelFacts {
  bool can_be_cut = false;     // the outermost loop can be cut into chunks
  bool visits_extent = false;  // chunks visit the whole extent of the outermost loop
  bool needs_zeros = false;    // values that are never stored, or added to, must start at zero
  bool has_conditional_entries = false;  // entries that exist if something is assigned to them
  SharedRows shared_rows;                // the rows that must start at zero, if not all do
  std::vector<Derived> derived;          // arrays of operands' structures that the kernel reads
};

struct LoweredKernel {
  loop::Kernel kernel;
  std::vector<loop::HostStep> launch;
  KernelFacts facts;
  // The members of a chunk would find different entries: it must be lowered without them.
  bool members_disagree = false;
  // The start of the result's accumulation if that is not a sum; else null.
  loop::Expr start;
  // Chunks put pieces of rows into these arrays of these sizes, which a second kernel merges.
  bool has_row_pieces = false;
  std::vector<std::pair<loop::Buffer, loop::Expr>> row_pieces;
};

LoweredKernel lower_kernel(const nest::Nest& nest, const KernelRequest& request);

}  // namespace tulle::lower
