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

// Compute writes a result with a known structure. Merge finishes its rows that several chunks have
// pieces of. For a sparse result, Count runs first and Fill second.
enum class Phase : uint8_t { Compute, Merge, Count, Fill };

struct KernelRequest {
  std::string name;
  Phase phase = Phase::Compute;
  Options options = {};
  bool shares_result = false;  // other blocks or kernels add to it at the same time
  // members of a chunk share its values; otherwise one thread runs a chunk
  bool shares_values = true;
  // Loops have one body for all points of a merge lattice. It tests at run time which operands have
  // an entry. Otherwise each point has a body of its own.
  bool one_body = false;
};

// Rows with more than `length` entries, to which several chunks add. Null buffers if there are
// none.
struct SharedRows {
  loop::Buffer positions;
  loop::Expr length;
  loop::Buffer list, count;  // the list of these rows, if there is one, and its length
  loop::Expr at_most;
};

// Facts about a kernel's loops that lowering finds.
struct KernelFacts {
  bool can_be_cut = false;     // the outermost loop can be cut into chunks
  bool visits_extent = false;  // chunks visit the whole extent of the outermost loop
  // values that are never stored, or added to, must be initialised with zero
  bool needs_zeros = false;
  bool has_conditional_entries = false;  // entries that only exist if something is assigned to them
  SharedRows shared_rows;                // the rows to initialise with zero, if not all
  std::vector<Derived> derived;  // arrays derived from operands' structures that the kernel reads
};

struct LoweredKernel {
  loop::Kernel kernel;
  std::vector<loop::HostStep> launch;
  KernelFacts facts;
  // The members of a chunk would find different entries, so the kernel must be lowered without
  // members.
  bool members_disagree = false;
  // The initial value of the result's accumulation if it is not 0. Otherwise null.
  loop::Expr start;
  // Chunks store pieces of rows in these arrays, and a second kernel merges them.
  bool has_row_pieces = false;
  std::vector<std::pair<loop::Buffer, loop::Expr>> row_pieces;
};

LoweredKernel lower_kernel(const nest::Nest& nest, const KernelRequest& request);

}  // namespace tulle::lower
