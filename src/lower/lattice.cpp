// Computes the merge lattice by folding absent operands.
#include "lower/lattice.h"

#include <algorithm>

#include "expr/absence.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using expr::Access;
using expr::Expr;

namespace {

Expr folded(const nest::Assign& assign, const AccessSet& absent) {
  return expr::without(assign.value,
                       [&](const Access& access) { return absent.contains(access.id); });
}

// A 0 does not change a sum, but it may be a maximum.
bool assigns_nothing(const nest::Assign& assign, const AccessSet& absent) {
  const Expr value = folded(assign, absent);
  return nest::starts_absent(assign.accumulate) ? expr::is_zero(value) : expr::is_absent(value);
}

// Adds the consumer's reads of workspaces that are never written.
AccessSet with_workspaces(const nest::Where& where, AccessSet absent) {
  const AccessSet reads = absent_reads(where);
  absent.insert(reads.begin(), reads.end());
  return absent;
}

}  // namespace

AccessSet absent_reads(const nest::Where& where) {
  AccessSet reads;
  for (const nest::Assign* assign : nest::assigns(where.consumer)) {
    for (const Access* access : expr::accesses(assign->value)) {
      const auto& names = where.workspaces;
      if (std::find(names.begin(), names.end(), access->tensor) == names.end()) continue;
      if (nest::starts_absent(nest::accumulation_of(where.producer, access->tensor)))
        reads.insert(access->id);
    }
  }
  return reads;
}

bool vanishes(const nest::Stmt& stmt, const AccessSet& absent) {
  if (const auto* forall = stmt.as<nest::Forall>()) return vanishes(forall->body, absent);
  if (const auto* where = stmt.as<nest::Where>()) {
    const bool empty = vanishes(where->producer, absent);
    return vanishes(where->consumer, empty ? with_workspaces(*where, absent) : absent);
  }
  if (const auto* sequence = stmt.as<nest::Sequence>()) {
    return std::all_of(sequence->stmts.begin(), sequence->stmts.end(),
                       [&](const nest::Stmt& part) { return vanishes(part, absent); });
  }
  return assigns_nothing(*stmt.as<nest::Assign>(), absent);
}

std::vector<const Access*> live_accesses(const nest::Stmt& stmt, const AccessSet& absent) {
  std::vector<const Access*> live;
  auto append = [&](const nest::Stmt& part, const AccessSet& missing) {
    const auto more = live_accesses(part, missing);
    live.insert(live.end(), more.begin(), more.end());
  };
  if (const auto* forall = stmt.as<nest::Forall>()) {
    append(forall->body, absent);
  } else if (const auto* where = stmt.as<nest::Where>()) {
    const bool empty = vanishes(where->producer, absent);
    append(where->consumer, empty ? with_workspaces(*where, absent) : absent);
    if (!empty) append(where->producer, absent);
  } else if (const auto* sequence = stmt.as<nest::Sequence>()) {
    for (const nest::Stmt& part : sequence->stmts) append(part, absent);
  } else {
    const auto* assign = stmt.as<nest::Assign>();
    const Expr value = folded(*assign, absent);
    if (assigns_nothing(*assign, absent)) return live;
    // Folding rebuilds nodes. Returns the accesses of the original, which live longer.
    AccessSet left;
    for (const Access* access : expr::accesses(value)) left.insert(access->id);
    for (const Access* access : expr::accesses(assign->value)) {
      if (left.contains(access->id)) live.push_back(access);
    }
  }
  return live;
}

std::vector<AccessSet> lattice_points(const nest::Stmt& stmt, const AccessSet& iterating,
                                      const AccessSet& absent) {
  const std::vector<int> members(iterating.begin(), iterating.end());
  TULLE_CHECK(members.size() <= kMostMerged, "a merge of ", members.size(), " operands");
  std::set<AccessSet> points;
  for (unsigned bits = 1; bits < (1U << members.size()); ++bits) {
    AccessSet present, missing = absent;
    for (size_t m = 0; m < members.size(); ++m) {
      (bits >> m & 1 ? present : missing).insert(members[m]);
    }
    if (vanishes(stmt, missing) != mutant("lattice-inverts")) continue;
    AccessSet needed;
    for (const Access* access : live_accesses(stmt, missing)) {
      if (present.contains(access->id)) needed.insert(access->id);
    }
    if (!needed.empty()) points.insert(needed);
  }
  std::vector<AccessSet> ordered(points.begin(), points.end());
  std::stable_sort(ordered.begin(), ordered.end(),
                   [](const AccessSet& a, const AccessSet& b) { return a.size() > b.size(); });
  if (mutant("lattice-drops-point") && ordered.size() > 1) ordered.pop_back();
  return ordered;
}

}  // namespace tulle::lower
