// The table of rewrites, a line for each.
#include "schedule/rewrites.h"

#include <algorithm>
#include <limits>

#include "schedule/rewrites/bind.h"
#include "schedule/rewrites/deal_rows.h"
#include "schedule/rewrites/fuse.h"
#include "schedule/rewrites/nontemporal.h"
#include "schedule/rewrites/number_rows.h"
#include "schedule/rewrites/parallel.h"
#include "schedule/rewrites/precompute.h"
#include "schedule/rewrites/prefetch.h"
#include "schedule/rewrites/reorder.h"
#include "schedule/rewrites/rfactor.h"
#include "schedule/rewrites/split.h"
#include "schedule/rewrites/split_entries.h"
#include "schedule/rewrites/split_positions.h"
#include "schedule/rewrites/split_rows.h"
#include "schedule/rewrites/stage.h"
#include "schedule/rewrites/unroll.h"
#include "schedule/rewrites/vectorize.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

using nest::Nest;
using Balance = nest::LoopTag::Balance;
using Tracking = nest::Tensor::Tracking;
using Staging = nest::Tensor::Staging;

constexpr size_t kAny = std::numeric_limits<size_t>::max();

const Range kLength = {};
const Range kDealt = {.most = 32768};
const Range kLanes = {.least = 2, .most = 64, .of = "lanes", .powers_of_two = true};
const Range kCopies = {.least = 2, .most = kMostCopies, .of = "copies", .zero = true};

// clang-format off
const Rewrite kRewrites[] = {
    {"split", "split(k, 64, k0, k1)", {Role::Loop, kLength, Role::NewLoop, Role::NewLoop}, 4, 4, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks* r) {
       return split(n, a.name(0), a.integer(1), a.name(2), a.name(3), r); }},
    {"reorder", "reorder(i, k, j)", {Role::Loop}, 2, kAny, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return reorder(n, a.names_from(0)); }},
    {"fuse", "fuse(i, j, f)", {Role::Loop, Role::Loop, Role::NewLoop}, 3, 3, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return fuse(n, a.name(0), a.name(1), a.name(2)); }},
    {"split_positions", "split_positions(j, 32, j0, j1)",
     {Role::Loop, kLength, Role::NewLoop, Role::NewLoop}, 4, 4, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return split_positions(n, a.name(0), a.integer(1), a.name(2), a.name(3)); }},
    {"number_rows", "number_rows(i, r)", {Role::Loop, Role::NewLoop}, 2, 2, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return number_rows(n, a.name(0), a.name(1)); }},
    {"split_rows", "split_rows(i, 128, c, r) or split_rows(i, 128, c, r, 1024)",
     {Role::Loop, kLength, Role::NewLoop, Role::NewLoop, kLength}, 4, 5, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return split_rows(n, a.name(0), a.integer(1), a.name(2), a.name(3),
                         a.count() > 4 ? std::optional(a.integer(4)) : std::nullopt); }},
    {"deal_rows", "deal_rows(i, 128, c, r, 132, 32)",
     {Role::Loop, kLength, Role::NewLoop, Role::NewLoop, kDealt, kDealt}, 6, 6, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return deal_rows(n, a.name(0), a.integer(1), a.name(2), a.name(3), a.integer(4), a.integer(5)); }},
    {"split_entries", "split_entries(i, j, 32, c, e)",
     {Role::Loop, Role::Loop, kLength, Role::NewLoop, Role::NewLoop}, 5, 5, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return split_entries(n, a.name(0), a.name(1), a.integer(2), a.name(3), a.name(4)); }},
    {"precompute", "precompute(acc, (j, k)), precompute(acc, k, tracked) or precompute(acc, k, scanned)",
     {Role::NewWorkspace, Role::Loops, Role::Word}, 1, 3, {"tracked", "scanned"}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return precompute(n, a.name(0), a.count() > 1 ? a.names(1) : Names(),
                         a.count() < 3               ? Tracking::Plain
                         : a.name(2) == "scanned" ? Tracking::Scanned
                                                  : Tracking::Tracked); }},
    {"rfactor", "rfactor(j, part)", {Role::Loop, Role::NewWorkspace}, 2, 2, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return rfactor(n, a.name(0), a.name(1)); }},
    {"stage", "stage(B, j, registers), or shared, or stage(B, j, shared, 2)",
     {Role::Operand, Role::Loop, Role::Word, Range{1, 8, "copies of a tile"}}, 3, 4, {"registers", "shared"}, "", {},
     [](const Nest& n, const Arguments& a, Remarks* r) {
       return stage(n, a.name(0), a.name(1), a.name(2) == "shared" ? Staging::Shared : Staging::Registers,
                    a.count() > 3 ? a.integer(3) : 1, r); }},
    {"parallel", "parallel(i, by=rows), by=nnz or by=merge", {Role::Loop}, 1, 1, {}, "by",
     {"rows", "nnz", "merge"},
     [](const Nest& n, const Arguments& a, Remarks*) {
       const Balance balance = a.has("by", "nnz")     ? Balance::Nnz
                               : a.has("by", "merge") ? Balance::Merge
                                                      : Balance::Rows;
       return parallel(n, a.name(0), balance); }},
    {"bind", "bind(i, block), or warp, lane, thread, member; with sums=atomics of a loop that is summed",
     {Role::Loop, Role::Word}, 2, 2, {"block", "warp", "lane", "thread", "member"}, "sums", {"atomics"},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return bind(n, a.name(0), *nest::bound_kind(a.name(1)), a.has("sums", "atomics")); }},
    {"vectorize", "vectorize(k, 16)", {Role::Loop, kLanes}, 2, 2, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks* r) {
       return vectorize(n, a.name(0), a.integer(1), r); }},
    {"unroll", "unroll(j, 2)", {Role::Loop, kCopies}, 2, 2, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return unroll(n, a.name(0), a.integer(1)); }},
    {"prefetch", "prefetch(B, 16)", {Role::Operand, Range{1, 1024, "entries ahead"}}, 2, 2, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks*) {
       return prefetch(n, a.name(0), a.integer(1)); }},
    {"nontemporal", "nontemporal(C)", {Role::Result}, 1, 1, {}, "", {},
     [](const Nest& n, const Arguments& a, Remarks* r) {
       return nontemporal(n, a.name(0), r); }},
    {"fuse_launches", "fuse_launches(C)", {Role::Statement}, 1, 1, {}, "", {},
     [](const Nest& n, const Arguments&, Remarks*) { return n; }},
    {"decompose", "decompose(A, hyb(2,3))", {Role::Operand, Role::Format}, 2, 2, {}, "", {},
     [](const Nest&, const Arguments& a, Remarks*) -> Nest {
       user_error("'", a.name(0), "' is taken apart before there are loops: decompose is for programs, "
                  "not for a nest."); }},
};
// clang-format on

}  // namespace

const Rewrite* find_rewrite(std::string_view name) {
  const auto* found = std::find_if(std::begin(kRewrites), std::end(kRewrites),
                                   [&](const Rewrite& rewrite) { return rewrite.name == name; });
  return found == std::end(kRewrites) ? nullptr : found;
}

std::string rewrite_names() {
  std::string names;
  for (const Rewrite& rewrite : kRewrites) names += concat(names.empty() ? "" : ", ", rewrite.name);
  return names;
}

Arguments::Arguments(const Step& step) : step_(step) {
  for (const Argument& argument : step.arguments) {
    if (argument.keyword.empty()) positional_.push_back(&argument);
  }
}

const std::string& Arguments::name(size_t at) const {
  return std::get<std::string>(positional_.at(at)->value);
}

int64_t Arguments::integer(size_t at) const { return std::get<int64_t>(positional_.at(at)->value); }

Names Arguments::names(size_t at) const {
  const auto& value = positional_.at(at)->value;
  if (const auto* name = std::get_if<std::string>(&value)) return {*name};
  return std::get<Names>(value);
}

Names Arguments::names_from(size_t at) const {
  Names names;
  for (; at < count(); ++at) names.push_back(name(at));
  return names;
}

bool Arguments::has(std::string_view keyword, std::string_view word) const {
  return std::any_of(step_.arguments.begin(), step_.arguments.end(), [&](const Argument& argument) {
    return argument.keyword == keyword && std::get<std::string>(argument.value) == word;
  });
}

}  // namespace tulle::schedule
