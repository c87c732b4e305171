// Which operands must be present for a statement to do anything: the merge lattice, derived by
// folding.
#pragma once

#include <set>
#include <vector>

#include "nest/nest.h"

namespace tulle::lower {

// Accesses by their id.
using AccessSet = std::set<int>;

// Whether the statement assigns nothing but zeros where these accesses have no entry.
bool vanishes(const nest::Stmt& stmt, const AccessSet& absent);

// The accesses to workspaces of a where, in its consumer, that are absent if nothing is written
// there. A maximum over nothing is not.
AccessSet absent_reads(const nest::Where& where);

// The accesses (operands and workspaces) below a statement that still matter where `absent` have no
// entry, by id.
std::vector<const expr::Access*> live_accesses(const nest::Stmt& stmt, const AccessSet& absent);

// The non-empty subsets of `iterating` to visit, largest first: those under which the statement
// does something, each without the members that no longer matter.
std::vector<AccessSet> lattice_points(const nest::Stmt& stmt, const AccessSet& iterating,
                                      const AccessSet& absent);

}  // namespace tulle::lower
