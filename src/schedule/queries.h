// What the rewrites ask of a nest, and the refusals that they share.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/nest.h"

namespace tulle::schedule {

using nest::Assign;
using nest::Forall;
using nest::LoopTag;
using nest::Nest;
using nest::Sequence;
using nest::Stmt;
using nest::Tensor;
using nest::Variable;
using nest::Where;

// The statement with `rewrite` applied to each of its direct parts; an assignment has none.
Stmt map_parts(const Stmt& stmt, const std::function<Stmt(const Stmt&)>& rewrite);
// Rebuilds a statement from the inside out; `rewrite` sees each node with its parts already
// rewritten.
Stmt rebuild(const Stmt& stmt, const std::function<Stmt(const Stmt&)>& rewrite);
// The statement with the node exchanged for another.
Stmt replace(const Stmt& stmt, const nest::Node* node, const Stmt& replacement);

// Calls `visit` for every loop, outer ones first.
void for_each_loop(const Stmt& stmt, const std::function<void(const Forall&)>& visit);
// The variables of all loops, outer ones first, each once.
std::vector<std::string> loops_of(const Nest& nest);
// For every loop with the variables of those around it, outermost first.
void for_each_loop_within(
    const Stmt& stmt,
    const std::function<void(const Forall&, const std::vector<std::string>& around)>& visit);

// Puts the tag on the loops that `choose` picks, but for those that copy into shared memory, which
// all threads go through together.
Nest with_tag(const Nest& nest, const LoopTag& tag,
              const std::function<bool(const Forall&)>& choose);

// Raises UserError unless there is a loop over the variable, or if one of them has a tag; `step` is
// the rewrite's name.
void require_loop(const Nest& nest, const std::string& var);
void require_untagged(const Nest& nest, const std::string& var, std::string_view step);
// Raises UserError if a tracked workspace, which is visited by coordinates of the whole variable,
// is indexed by it.
void require_whole_in_tracked(const Nest& nest, const std::string& var, std::string_view step);
// Raises UserError if the variable, which should be counted from 0 on, runs over differences.
void require_counting_up(const Nest& nest, const std::string& var, std::string_view step);
// Also if a workspace should be over it and it counts the entries of a row, which mean another
// coordinate in every row.
void require_coordinates(const Nest& nest, const std::string& var, std::string_view step);
// Raises UserError if the nest uses the tensor of the access, of whose entries a chunk has some,
// under other indices too.
void require_same_indices(const Nest& nest, const expr::Access& access, std::string_view step);
// Whether it shows where nothing was added to a tensor.
bool shows_absence(const Nest& nest, const std::string& tensor);
// Raises UserError if a variable or tensor has this name.
void require_free_name(const Nest& nest, const std::string& name);
// Raises UserError unless the tensor is there and has this role.
void require_role(const Nest& nest, const std::string& tensor, Tensor::Role role);

bool contains(const std::vector<std::string>& names, const std::string& name);
// "i, j, k"
std::string list_of(const std::vector<std::string>& names);

using nest::covers;

// Whether the variable covers indices of what is assigned. Raises UserError where it is of one of
// them and of an index that is summed.
bool is_over_indices(const Nest& nest, const Assign& target, const std::string& var,
                     std::string_view step);

// Whether a loop over the variable goes along diagonals: stands inside one over differences to what
// it derives from, so that it begins and ends where a diagonal does.
bool goes_along_diagonals(const Nest& nest, const std::string& var);

// Whether the tensor, so indexed, holds only some of the variable's coordinates: a level over it is
// not full, or it is a tracked workspace. Outside of the loop over its diagonals a range has all.
bool stores_sparsely(const Nest& nest, const std::string& tensor,
                     const std::vector<std::string>& indices, const std::string& var);

// Whether places of the tensor's entries, so indexed, are searched for once the variable is known:
// a level over it has one below, or is one, that no coordinate tells the place of.
bool leads_to_entries(const Nest& nest, const std::string& tensor,
                      const std::vector<std::string>& indices, const std::string& var);
// The first tensor of which stores_sparsely holds among those that the statement reads and writes;
// empty if there is none.
std::string sparse_tensor(const Nest& nest, const Stmt& stmt, const std::string& var);

// Assignments in the statement to something that outlives it: not to workspaces that are filled in
// it.
std::vector<const Assign*> lasting_assigns(const Stmt& stmt);
// The same of a statement outside of which nothing is assigned; all of the nest's where something
// is.
std::vector<const Assign*> all_lasting_assigns(const Nest& nest, const Stmt& stmt);

// UserError, with a way out, unless what is gathered or stored in the statement stands in the loop
// over the entries that the operand has in a row, so that each piece of the row has a part of it;
// what stands outside has to be the same for all pieces.
void require_in_pieces(const Nest& nest, const Forall& entries, const Stmt& stmt,
                       const std::vector<std::string>& gathered, const std::string& operand,
                       std::string_view way_out);

// An id that no access of the nest has.
int next_access_id(const Nest& nest);

}  // namespace tulle::schedule
