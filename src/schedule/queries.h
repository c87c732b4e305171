// Questions about nests, and refusals, that several rewrites share.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "nest/nest.h"
#include "support/name_list.h"
#include "support/result.h"

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

// The direct parts of a statement; an assignment has none.
std::vector<Stmt> parts_of(const Stmt& stmt);
// The statement with `rewrite` applied to each of its direct parts.
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

// The first refusal by `check` of a loop, outer loops first.
Result<> check_each_loop(const Stmt& stmt, const std::function<Result<>(const Forall&)>& check);
Result<> check_each_loop_within(
    const Stmt& stmt, const std::function<Result<>(const Forall&, const NameList& around)>& check);

// Whether the nest has a variable, and so perhaps a loop, of a certain kind.
bool has_variable(const Nest& nest, const std::function<bool(const Variable&)>& is_it);

// Puts the tag on the loops that `choose` picks, but for those that copy into shared memory, which
// all threads go through together.
Nest with_tag(const Nest& nest, const LoopTag& tag,
              const std::function<bool(const Forall&)>& choose);

// Refuses unless there is a loop over the variable, or if one of them has a tag; `step` is
// the rewrite's name.
Result<> require_loop(const Nest& nest, const std::string& var);
Result<> require_untagged(const Nest& nest, const std::string& var, std::string_view step);
// Refuses if a tracked workspace is indexed by the variable: its coordinates are those of the whole
// variable.
Result<> require_whole_in_tracked(const Nest& nest, const std::string& var, std::string_view step);
// Refuses if the variable runs over differences instead of counting up from 0.
Result<> require_counting_up(const Nest& nest, const std::string& var, std::string_view step);
// Also refuses if the variable counts the entries of a row, because a workspace over it needs
// coordinates.
Result<> require_coordinates(const Nest& nest, const std::string& var, std::string_view step);
// Refuses if the nest uses the tensor of the access under other indices too, because a chunk has
// only some of its entries.
Result<> require_same_indices(const Nest& nest, const expr::Access& access, std::string_view step);
// Whether the nest depends on which elements of a tensor are absent.
bool shows_absence(const Nest& nest, const std::string& tensor);
// Refuses if a variable or tensor has this name.
Result<> require_free_name(const Nest& nest, const std::string& name);
// Refuses unless the tensor is there and has this role.
Result<> require_role(const Nest& nest, const std::string& tensor, Tensor::Role role);

// "i, j, k"
std::string list_of(const std::vector<std::string>& names);

using nest::covers;

// Whether the variable covers indices of what is assigned. Refuses where it is made of one of them
// and of an index that is summed.
Result<bool> is_over_indices(const Nest& nest, const Assign& target, const std::string& var,
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

// Refuses, with `way_out`, unless all assignments that gather or store in the statement are in the
// loop over the entries that the operand has in a row. Then each piece of a row contributes its
// part, and assignments outside of that loop are the same for all pieces.
Result<> require_in_pieces(const Nest& nest, const Forall& entries, const Stmt& stmt,
                           const std::vector<std::string>& gathered, const std::string& operand,
                           std::string_view way_out);

// An id that no access of the nest has.
int next_access_id(const Nest& nest);

}  // namespace tulle::schedule
