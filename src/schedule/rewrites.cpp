// The table of rewrites, a line for each.
#include "schedule/rewrites.h"

#include <algorithm>
#include <limits>

#include "schedule/fuse.h"
#include "schedule/nontemporal.h"
#include "schedule/parallel.h"
#include "schedule/precompute.h"
#include "schedule/prefetch.h"
#include "schedule/reorder.h"
#include "schedule/split.h"
#include "schedule/unroll.h"
#include "schedule/vectorize.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

using nest::Nest;
using Balance = nest::LoopTag::Balance;
using Tracking = nest::Tensor::Tracking;

constexpr size_t kAny = std::numeric_limits<size_t>::max();

// clang-format off
const Rewrite kRewrites[] = {
    {"split", "split(k, 64, k0, k1)", 4, 4, "", [](const Nest& n, const Arguments& a, Remarks* r) {
       return split(n, a.name(0), a.integer(1), a.name(2), a.name(3), r); }},
    {"reorder", "reorder(i, k, j)", 2, kAny, "", [](const Nest& n, const Arguments& a, Remarks*) {
       return reorder(n, a.names_from(0)); }},
    {"fuse", "fuse(i, j, f)", 3, 3, "", [](const Nest& n, const Arguments& a, Remarks*) {
       return fuse(n, a.name(0), a.name(1), a.name(2)); }},
    {"precompute", "precompute(acc, (j, k)) or precompute(acc, k, tracked)", 1, 3, "", [](const Nest& n, const Arguments& a, Remarks*) {
       return precompute(n, a.name(0), a.count() > 1 ? a.names(1) : Names(),
                         a.has_word(2, "tracked") ? Tracking::Tracked : Tracking::Plain); }},
    {"parallel", "parallel(i, by=rows) or parallel(i, by=nnz)", 1, 1, "by", [](const Nest& n, const Arguments& a, Remarks*) {
       return parallel(n, a.name(0), a.choice("by", {"rows", "nnz"}) == 0 ? Balance::Rows : Balance::Nnz); }},
    {"vectorize", "vectorize(k, 16)", 2, 2, "", [](const Nest& n, const Arguments& a, Remarks* r) {
       return vectorize(n, a.name(0), a.integer(1), r); }},
    {"unroll", "unroll(j, 2)", 2, 2, "", [](const Nest& n, const Arguments& a, Remarks*) {
       return unroll(n, a.name(0), a.integer(1)); }},
    {"prefetch", "prefetch(B, 16)", 2, 2, "", [](const Nest& n, const Arguments& a, Remarks*) {
       return prefetch(n, a.name(0), a.integer(1)); }},
    {"nontemporal", "nontemporal(C)", 1, 1, "", [](const Nest& n, const Arguments& a, Remarks* r) {
       return nontemporal(n, a.name(0), r); }},
};
// clang-format on

template <typename T>
const T& value_of(const Step& step, size_t at, const Argument& argument, std::string_view wanted) {
  const T* value = std::get_if<T>(&argument.value);
  if (value) return *value;
  user_error("Argument ", at + 1, " should be ", wanted, "; write ",
             find_rewrite(step.rewrite)->usage, ".");
}

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
  const Rewrite* rewrite = find_rewrite(step.rewrite);
  if (!rewrite)
    user_error("There is no rewrite '", step.rewrite, "'; they are ", rewrite_names(), ".");
  for (const Argument& argument : step.arguments) {
    if (argument.keyword.empty()) {
      positional_.push_back(&argument);
    } else if (argument.keyword != rewrite->keyword) {
      user_error("'", step.rewrite, "' has no argument '", argument.keyword, "'; write ",
                 rewrite->usage, ".");
    }
  }
  if (count() < rewrite->least || count() > rewrite->most) {
    user_error("'", step.rewrite, "' does not take ", count(),
               count() == 1 ? " argument" : " arguments", "; write ", rewrite->usage, ".");
  }
}

std::string Arguments::name(size_t at) const {
  return value_of<std::string>(step_, at, *positional_.at(at), "a name");
}

int64_t Arguments::integer(size_t at) const {
  return value_of<int64_t>(step_, at, *positional_.at(at), "a number");
}

Names Arguments::names(size_t at) const {
  if (const auto* name = std::get_if<std::string>(&positional_.at(at)->value)) return {*name};
  return value_of<Names>(step_, at, *positional_.at(at), "a name or (names)");
}

Names Arguments::names_from(size_t at) const {
  Names names;
  for (; at < count(); ++at) names.push_back(name(at));
  return names;
}

size_t Arguments::choice(std::string_view keyword, const Names& choices) const {
  for (const Argument& argument : step_.arguments) {
    if (argument.keyword != keyword) continue;
    const auto* word = std::get_if<std::string>(&argument.value);
    const auto found = word ? std::find(choices.begin(), choices.end(), *word) : choices.end();
    if (found == choices.end()) {
      user_error("'", keyword, "' has no such value; write ", find_rewrite(step_.rewrite)->usage,
                 ".");
    }
    return static_cast<size_t>(found - choices.begin());
  }
  return 0;
}

bool Arguments::has_word(size_t at, std::string_view word) const {
  if (at >= count()) return false;
  if (name(at) != word)
    user_error("'", name(at), "' is not '", word, "'; write ", find_rewrite(step_.rewrite)->usage,
               ".");
  return true;
}

}  // namespace tulle::schedule
