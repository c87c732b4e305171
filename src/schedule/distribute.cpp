// Matches the names in steps with the names in statements.
#include "schedule/distribute.h"

#include <algorithm>

#include "nest/loop_names.h"
#include "schedule/queries.h"
#include "schedule/rewrites.h"
#include "support/check.h"

namespace tulle::schedule {

namespace {

// Whether the name belongs to a statement other than the one that the step names.
bool is_of_another(const NameInStep& name, const Step& step) {
  return name.role == ArgumentRole::Statement && !step.statement.empty();
}

bool is_called(const StatementNames& statement, const std::string& name) {
  return statement.result == name || statement.tensor == name ||
         (!statement.part.empty() && statement.part == name);
}

bool has(const StatementNames& statement, const NameInStep& name, const Step& step) {
  if (name.role == ArgumentRole::Loop) return statement.loops.contains(name.name);
  if (name.role == ArgumentRole::Operand) return statement.operands.contains(name.name);
  if (name.role == ArgumentRole::Result ||
      (name.role == ArgumentRole::Statement && !is_of_another(name, step)))
    return is_called(statement, name.name);
  return true;
}

// "C has i, j; D has i, k"
std::string offers(const std::vector<StatementNames*>& statements, ArgumentRole role) {
  std::string text;
  for (const StatementNames* statement : statements) {
    const NameList operands(statement->operands.begin(), statement->operands.end());
    const std::string names = role == ArgumentRole::Loop      ? list_of(statement->indices)
                              : role == ArgumentRole::Operand ? list_of(operands)
                                                              : statement->result;
    text += concat(text.empty() ? "" : "; ",
                   statements.size() > 1 ? statement->result + " has " : "", names);
  }
  return text;
}

std::string kind_of(ArgumentRole role) {
  return role == ArgumentRole::Loop      ? "index"
         : role == ArgumentRole::Operand ? "operand"
                                         : "result";
}

// Explains why no statement has all names of the step.
MisplacedStep why_nowhere(const Step& step, const std::vector<StatementNames*>& statements) {
  const std::vector<NameInStep> names = names_of(step);
  for (const NameInStep& name : names) {
    if (std::any_of(statements.begin(), statements.end(),
                    [&](const StatementNames* statement) { return has(*statement, name, step); })) {
      continue;
    }
    const std::string where =
        statements.size() > 1
            ? "no statement has"
            : concat("the statement of '", statements[0]->result, "' does not have");
    return {name.place ? name.place : step.place,
            concat(where, " the ", kind_of(name.role), " '", name.name, "'; ",
                   statements.size() > 1 ? "" : "it has ", offers(statements, name.role))};
  }
  return {step.place, concat("no single statement has all that this step names; ",
                             offers(statements, names.front().role))};
}

// Translates the names in the step to the names in the nest of the statement.
Step in_names_of(const StatementNames& statement, Step step) {
  step.rewrite = renamed(std::move(step.rewrite),
                         [&](const std::string& name, ArgumentRole role) -> std::string {
                           if (role == ArgumentRole::Result) return statement.tensor;
                           return role == ArgumentRole::Loop ? statement.loops.at(name) : name;
                         });
  return step;
}

// The statements that the step may apply to: the one it names, or all.
Result<std::vector<StatementNames*>, MisplacedStep> candidates(
    const Step& step, std::vector<StatementNames>& statements) {
  std::vector<StatementNames*> found;
  NameList assigned;
  for (StatementNames& statement : statements) {
    if (statement.tensor == statement.result) assigned.push_back(statement.result);
    if (!statement.part.empty()) assigned.push_back(statement.part);
    if (step.statement.empty() || is_called(statement, step.statement)) found.push_back(&statement);
  }
  if (!found.empty()) return found;
  return MisplacedStep{step.statement_place, concat("no statement assigns '", step.statement,
                                                    "'; they assign ", list_of(assigned))};
}

// The statements that have all names in the step. The first round only matches loops with the
// statement's own indices. Only if no statement matches, loops that a format may make of an index
// count too.
std::vector<StatementNames*> those_with(const std::vector<NameInStep>& names, const Step& step,
                                        const std::vector<StatementNames*>& statements) {
  std::vector<StatementNames*> found;
  for (const bool own : {true, false}) {
    for (StatementNames* statement : statements) {
      if (std::all_of(names.begin(), names.end(), [&](const NameInStep& name) {
            return has(*statement, name, step) && (!own || name.role != ArgumentRole::Loop ||
                                                   contains(statement->indices, name.name));
          }))
        found.push_back(statement);
    }
    if (!found.empty()) break;
  }
  return found;
}

// The statements that the step applies to.
Result<std::vector<StatementNames*>, MisplacedStep> statements_for(
    const Step& step, const std::vector<NameInStep>& names,
    std::vector<StatementNames>& statements) {
  const auto possible = candidates(step, statements);
  if (!possible) return possible;
  const bool names_any = std::any_of(names.begin(), names.end(), [](const NameInStep& name) {
    return name.role != ArgumentRole::NewLoop && name.role != ArgumentRole::NewWorkspace;
  });
  // A step applies to all parts of one statement.
  const bool is_clear =
      std::all_of(possible->begin(), possible->end(), [&](const StatementNames* statement) {
        return statement->result == possible->front()->result;
      });
  if (!names_any && !is_clear) {
    return MisplacedStep{step.place,
                         concat("there are several statements; say which one this is for, ",
                                statements[0].result, ": ", to_string(step), " for instance")};
  }
  std::vector<StatementNames*> meant = those_with(names, step, *possible);
  if (meant.empty()) return why_nowhere(step, *possible);
  return meant;
}

}  // namespace

StatementNames names_of_statement(const expr::Statement& statement,
                                  const std::map<std::string, std::string>& renamed) {
  const std::string& result = statement.adds_to.empty() ? statement.tensor : statement.adds_to;
  StatementNames names{.result = result,
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
    if (names.loops.try_emplace(name, index).second) names.indices.push_back(name);
  };
  for (const std::string& index : statement.indices) add(index);
  for (const expr::Access* access : expr::accesses(statement.value)) {
    names.operands.insert(access->tensor);
    for (const std::string& index : access->indices) add(index);
  }
  names.loops = nest::with_loops_of_formats(names.loops);
  return names;
}

std::string part_name(const std::string& result, size_t part) {
  return concat(result, ".add", part);
}

Step for_all_parts(Step step, const NameList& assigned) {
  for (const std::string& result : assigned) {
    const std::string first = concat(result, ".add");
    if (step.statement.starts_with(first) && step.statement.size() > first.size() &&
        std::all_of(step.statement.begin() + static_cast<std::ptrdiff_t>(first.size()),
                    step.statement.end(), [](char c) { return c >= '0' && c <= '9'; }))
      step.statement = result;
  }
  return step;
}

Result<std::vector<Schedule>, MisplacedStep> try_distribute(
    const Schedule& schedule, std::vector<StatementNames> statements) {
  std::vector<Schedule> result(statements.size());
  for (size_t s = 0; s < statements.size(); ++s) {
    const StatementNames& names = statements[s];
    if (statements.size() > 1) result[s].statement = names.part.empty() ? names.result : names.part;
    for (const std::string& index : names.indices) {
      const std::string& name = names.loops.at(index);
      if (name != index) result[s].renamed[index] = name;
    }
  }
  for (const Step& step : schedule.steps) {
    const std::vector<NameInStep> names = names_of(step);
    const auto meant = statements_for(step, names, statements);
    if (!meant) return meant.error();
    for (StatementNames* statement : *meant) {
      result[static_cast<size_t>(statement - statements.data())].steps.push_back(
          in_names_of(*statement, step));
      for (const NameInStep& name : names) {
        if (name.role != ArgumentRole::NewLoop) continue;
        statement->loops[name.name] = name.name;
        statement->indices.push_back(name.name);
      }
    }
  }
  return result;
}

std::vector<Schedule> distribute(const Schedule& schedule, std::vector<StatementNames> statements) {
  auto result = try_distribute(schedule, std::move(statements));
  if (!result) fail_at(result.error().place, result.error().why);
  return *std::move(result);
}

}  // namespace tulle::schedule
