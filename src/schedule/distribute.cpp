// Matching the names in steps with the names in statements.
#include "schedule/distribute.h"

#include <algorithm>

#include "nest/loop_names.h"
#include "schedule/queries.h"
#include "schedule/rewrites.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// A name in a step, what it is there and where it stands.
struct Mention {
  std::string name;
  Role role;
  Span place;
  bool of_another = false;  // statement than the one that the step is for
};

std::vector<Mention> mentions_of(const Step& step) {
  const Rewrite& rewrite = *find_rewrite(step.rewrite);
  std::vector<Mention> mentions;
  size_t at = 0;
  for (const Argument& argument : step.arguments) {
    if (!argument.keyword.empty()) continue;
    const Role role = rewrite.role(at++);
    if (role == Role::Word || role == Role::Format) continue;
    if (const auto* name = std::get_if<std::string>(&argument.value)) {
      mentions.push_back(
          {*name, role, argument.place, role == Role::Statement && !step.statement.empty()});
    } else if (const auto* names = std::get_if<Names>(&argument.value)) {
      for (size_t n = 0; n < names->size(); ++n) {
        const bool has_place = n < argument.name_places.size();
        mentions.push_back({(*names)[n], role, has_place ? argument.name_places[n] : Span()});
      }
    }
  }
  return mentions;
}

bool is_loop(const Mention& mention) {
  return mention.role == Role::Loop || mention.role == Role::Loops;
}

bool is_called(const Scope& scope, const std::string& name) {
  return scope.result == name || scope.tensor == name ||
         (!scope.part.empty() && scope.part == name);
}

bool has(const Scope& scope, const Mention& mention) {
  if (is_loop(mention)) return scope.loops.contains(mention.name);
  if (mention.role == Role::Operand) return scope.operands.contains(mention.name);
  if (mention.role == Role::Result || (mention.role == Role::Statement && !mention.of_another))
    return is_called(scope, mention.name);
  return true;
}

// "C has i, j; D has i, k"
std::string offers(const std::vector<Scope*>& scopes, const Mention& mention) {
  std::string text;
  for (const Scope* scope : scopes) {
    const Names operands(scope->operands.begin(), scope->operands.end());
    const std::string names = is_loop(mention)                ? list_of(scope->indices)
                              : mention.role == Role::Operand ? list_of(operands)
                                                              : scope->result;
    text +=
        concat(text.empty() ? "" : "; ", scopes.size() > 1 ? scope->result + " has " : "", names);
  }
  return text;
}

std::string kind_of(const Mention& mention) {
  return is_loop(mention) ? "index" : mention.role == Role::Operand ? "operand" : "result";
}

// No statement of `scopes` has all that the step names.
[[noreturn]] void fail_nowhere(const Step& step, const std::vector<Scope*>& scopes) {
  const std::vector<Mention> mentions = mentions_of(step);
  for (const Mention& mention : mentions) {
    if (std::any_of(scopes.begin(), scopes.end(),
                    [&](const Scope* scope) { return has(*scope, mention); })) {
      continue;
    }
    const std::string where =
        scopes.size() > 1 ? "no statement has"
                          : concat("the statement of '", scopes[0]->result, "' does not have");
    fail_at(mention.place ? mention.place : step.place,
            concat(where, " the ", kind_of(mention), " '", mention.name, "'; ",
                   scopes.size() > 1 ? "" : "it has ", offers(scopes, mention)));
  }
  fail_at(step.place, concat("no single statement has all that this step names; ",
                             offers(scopes, mentions.front())));
}

// The step with the names that the nest of the statement has.
Step renamed(Step step, const Scope& scope) {
  const Rewrite& rewrite = *find_rewrite(step.rewrite);
  auto rename = [&](std::string& name) { name = scope.loops.at(name); };
  size_t at = 0;
  for (Argument& argument : step.arguments) {
    if (!argument.keyword.empty()) continue;
    const Role role = rewrite.role(at++);
    if (role == Role::Result) argument.value = scope.tensor;
    if (role != Role::Loop && role != Role::Loops) continue;
    if (auto* name = std::get_if<std::string>(&argument.value)) rename(*name);
    if (auto* names = std::get_if<Names>(&argument.value)) {
      for (std::string& name : *names) rename(name);
    }
  }
  return step;
}

std::vector<Scope*> candidates(const Step& step, std::vector<Scope>& scopes) {
  std::vector<Scope*> found;
  Names assigned;
  for (Scope& scope : scopes) {
    if (scope.tensor == scope.result) assigned.push_back(scope.result);
    if (!scope.part.empty()) assigned.push_back(scope.part);
    if (step.statement.empty() || is_called(scope, step.statement)) found.push_back(&scope);
  }
  if (found.empty()) {
    fail_at(step.statement_place,
            concat("no statement assigns '", step.statement, "'; they assign ", list_of(assigned)));
  }
  return found;
}

// Those that have all that is named. A loop that a format may make of an index is meant only where
// no statement has an index, or a loop that a step made, of that name.
std::vector<Scope*> those_with(const std::vector<Mention>& mentions,
                               const std::vector<Scope*>& scopes) {
  std::vector<Scope*> found;
  for (const bool own : {true, false}) {
    for (Scope* scope : scopes) {
      if (std::all_of(mentions.begin(), mentions.end(), [&](const Mention& mention) {
            return has(*scope, mention) &&
                   (!own || !is_loop(mention) || contains(scope->indices, mention.name));
          }))
        found.push_back(scope);
    }
    if (!found.empty()) break;
  }
  return found;
}

}  // namespace

Scope scope_of(const expr::Statement& statement,
               const std::map<std::string, std::string>& renamed) {
  const std::string& result = statement.adds_to.empty() ? statement.tensor : statement.adds_to;
  Scope scope{.result = result,
              .tensor = statement.tensor,
              .part = {},
              .operands = {},
              .indices = {},
              .loops = {}};
  std::map<std::string, std::string> written;
  for (const auto& [before, after] : renamed) written[after] = before;
  auto add = [&](const std::string& index) {
    const auto found = written.find(index);
    const std::string& name = found == written.end() ? index : found->second;
    if (scope.loops.try_emplace(name, index).second) scope.indices.push_back(name);
  };
  for (const std::string& index : statement.indices) add(index);
  for (const expr::Access* access : expr::accesses(statement.value)) {
    scope.operands.insert(access->tensor);
    for (const std::string& index : access->indices) add(index);
  }
  scope.loops = nest::with_loops_of_formats(scope.loops);
  return scope;
}

std::string part_name(const std::string& result, size_t part) {
  return concat(result, "_add", part);
}

Step for_all_parts(Step step, const Names& assigned) {
  if (contains(assigned, step.statement)) return step;
  for (const std::string& result : assigned) {
    const std::string first = concat(result, "_add");
    if (step.statement.starts_with(first) && step.statement.size() > first.size() &&
        std::all_of(step.statement.begin() + static_cast<std::ptrdiff_t>(first.size()),
                    step.statement.end(), [](char c) { return c >= '0' && c <= '9'; }))
      step.statement = result;
  }
  return step;
}

std::vector<Schedule> distribute(const Schedule& schedule, std::vector<Scope> scopes) {
  std::vector<Schedule> result(scopes.size());
  for (size_t s = 0; s < scopes.size(); ++s) {
    if (scopes.size() > 1)
      result[s].statement = scopes[s].part.empty() ? scopes[s].result : scopes[s].part;
    for (const std::string& index : scopes[s].indices) {
      const std::string& name = scopes[s].loops.at(index);
      if (name != index) result[s].renamed[index] = name;
    }
  }
  for (const Step& step : schedule.steps) {
    const std::vector<Scope*> possible = candidates(step, scopes);
    const std::vector<Mention> mentions = mentions_of(step);
    const bool names_any = std::any_of(mentions.begin(), mentions.end(), [](const Mention& m) {
      return m.role != Role::NewLoop && m.role != Role::NewWorkspace;
    });
    // The parts of one statement are meant together.
    const bool is_clear = std::all_of(possible.begin(), possible.end(), [&](const Scope* scope) {
      return scope->result == possible.front()->result;
    });
    if (!names_any && !is_clear) {
      fail_at(step.place, concat("there are several statements; say which one this is for, ",
                                 scopes[0].result, ": ", to_string(step), " for instance"));
    }
    const std::vector<Scope*> meant = those_with(mentions, possible);
    if (meant.empty()) fail_nowhere(step, possible);
    for (Scope* scope : meant) {
      result[static_cast<size_t>(scope - scopes.data())].steps.push_back(renamed(step, *scope));
      for (const Mention& mention : mentions) {
        if (mention.role != Role::NewLoop) continue;
        scope->loops[mention.name] = mention.name;
        scope->indices.push_back(mention.name);
      }
    }
  }
  return result;
}

}  // namespace tulle::schedule
