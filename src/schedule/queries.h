// Queries about nests, and refusals that several rewrites share.
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
// Rebuilds a statement from the inside out. `rewrite` receives each node with its parts already
// rewritten.
Stmt rebuild(const Stmt& stmt, const std::function<Stmt(const Stmt&)>& rewrite);
// The statement with `replacement` in place of the node.
Stmt replace(const Stmt& stmt, const nest::Node* node, const Stmt& replacement);

// Calls `visit` for every loop, outer ones first.
void for_each_loop(const Stmt& stmt, const std::function<void(const Forall&)>& visit);
// The variables of all loops without duplicates, outer ones first.
std::vector<std::string> loops_of(const Nest& nest);
// Calls `visit` for every loop, with the variables of the loops around it, outermost first.
void for_each_loop_within(
    const Stmt& stmt,
    const std::function<void(const Forall&, const std::vector<std::string>& around)>& visit);

// The first refusal of `check`, outer loops first.
Result<> check_each_loop(const Stmt& stmt, const std::function<Result<>(const Forall&)>& check);
Result<> check_each_loop_within(
    const Stmt& stmt, const std::function<Result<>(const Forall&, const NameList& around)>& check);

// Whether any variable of the nest satisfies `is_it`.
bool has_variable(const Nest& nest, const std::function<bool(const Variable&)>& is_it);

// Sets the tag on the loops that `choose` picks. Skips loops that copy into shared memory, because
// all threads run those together.
Nest with_tag(const Nest& nest, const LoopTag& tag,
              const std::function<bool(const Forall&)>& choose);

// Refuses if no loop runs over the variable, or if one of them has a tag. `step` is the rewrite's
// name.
Result<> require_loop(const Nest& nest, const std::string& var);
Result<> require_untagged(const Nest& nest, const std::string& var, std::string_view step);
// Refuses if a tracked workspace is indexed by the variable: the workspace stores coordinates of
// the unsplit variable.
Result<> require_whole_in_tracked(const Nest& nest, const std::string& var, std::string_view step);
// Refuses if the variable runs over differences instead of counting up from 0.
Result<> require_counting_up(const Nest& nest, const std::string& var, std::string_view step);
// Also refuses if the variable counts the entries of a row, because a workspace over it needs
// coordinates.
Result<> require_coordinates(const Nest& nest, const std::string& var, std::string_view step);
// Refuses if the nest also uses the tensor of the access under other indices, because a chunk has
// only some of its entries.
Result<> require_same_indices(const Nest& nest, const expr::Access& access, std::string_view step);
// Whether the nest depends on which elements of a tensor are absent.
bool shows_absence(const Nest& nest, const std::string& tensor);
// Refuses if a variable or tensor has this name.
Result<> require_free_name(const Nest& nest, const std::string& name);
// Refuses unless the nest has a tensor of this name and role.
Result<> require_role(const Nest& nest, const std::string& tensor, Tensor::Role role);

// "i, j, k"
std::string list_of(const std::vector<std::string>& names);

using nest::covers;

// Whether the variable covers indices of the assigned tensor. Refuses if it combines one of them
// with a summed index.
Result<bool> is_over_indices(const Nest& nest, const Assign& target, const std::string& var,
                             std::string_view step);

// Whether a loop over the variable goes along diagonals. It does inside a loop over differences to
// a variable it derives from, because then it begins and ends with the diagonal.
bool goes_along_diagonals(const Nest& nest, const std::string& var);

// Whether the tensor, under these indices, holds only some of the variable's coordinates. It does
// if it is a tracked workspace or has a level over the variable that is not full. A range level
// counts as full outside the loop over its diagonals.
bool stores_sparsely(const Nest& nest, const std::string& tensor,
                     const std::vector<std::string>& indices, const std::string& var);

// Whether the kernel must search for the tensor's entries, under these indices, when the variable
// is known. It must if a level over the variable, or a level below one, needs a search.
bool leads_to_entries(const Nest& nest, const std::string& tensor,
                      const std::vector<std::string>& indices, const std::string& var);
// The first tensor that the statement reads or writes for which stores_sparsely holds. Empty if
// there is none.
std::string sparse_tensor(const Nest& nest, const Stmt& stmt, const std::string& var);

// Assignments in the statement to tensors that outlive it, so not to workspaces filled inside it.
std::vector<const Assign*> lasting_assigns(const Stmt& stmt);
// The lasting assignments of the statement if they are all that the nest has. Otherwise those of
// the whole nest.
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
