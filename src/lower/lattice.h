// The merge lattice: the sets of operands that must be present for a statement to do anything.
// Folding absent operands derives them.
#pragma once

#include <set>
#include <vector>

#include "nest/nest.h"

namespace tulle::lower {

// The maximum number of operands in a lattice.
inline constexpr size_t kMostMerged = 10;

// Accesses by their id.
using AccessSet = std::set<int>;

// Whether the statement assigns nothing but zeros where these accesses have no entry.
bool vanishes(const nest::Stmt& stmt, const AccessSet& absent);

// The reads of the where's workspaces in its consumer that are absent if the producer writes
// nothing. An empty maximum is not absent.
AccessSet absent_reads(const nest::Where& where);

// The accesses (operands and workspaces) below a statement that still matter where `absent` have no
// entry, by id.
std::vector<const expr::Access*> live_accesses(const nest::Stmt& stmt, const AccessSet& absent);

// The non-empty subsets of `iterating` to visit, largest first: those for which the statement does
// something. Each subset omits accesses that do not matter for it.
std::vector<AccessSet> lattice_points(const nest::Stmt& stmt, const AccessSet& iterating,
                                      const AccessSet& absent);

}  // namespace tulle::lower
