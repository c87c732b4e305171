// Numbers names and writes the text of a plan's key.
#include "plan/tune/plan_key.h"

#include <algorithm>
#include <cctype>

#include "nest/loop_names.h"
#include "schedule/rewrites.h"
#include "support/check.h"
#include "tulle/error.h"

namespace tulle::plan {

namespace {

bool is_name_part(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
}

// Calls `use` with each piece of the text: a name, a number or the text in between.
template <typename Use>
void for_each_piece(const std::string& text, const Use& use) {
  size_t begin = 0;
  while (begin < text.size()) {
    size_t end = begin + 1;
    while (end < text.size() && is_name_part(text[end]) == is_name_part(text[begin])) ++end;
    use(text.substr(begin, end - begin));
    begin = end;
  }
}

std::string text_of(const expr::TensorType& type) {
  return concat(name_of(type.type), " ", name_of(type.index_type), " ", type.format.name());
}

}  // namespace

schedule::Schedule exchanged(schedule::Schedule schedule,
                             const std::map<std::string, std::string>& names) {
  const auto is_taken = [&](const std::string& name) {
    return std::any_of(names.begin(), names.end(),
                       [&](const auto& entry) { return entry.second == name; });
  };
  const auto exchange = [&](std::string name, schedule::ArgumentRole = {}) {
    const auto found = names.find(name);
    if (found != names.end()) return found->second;
    while (is_taken(name)) name += "_";
    return name;
  };
  for (schedule::Step& step : schedule.steps) {
    if (!step.statement.empty()) step.statement = exchange(step.statement);
    step.rewrite = schedule::renamed(std::move(step.rewrite), exchange);
  }
  return schedule;
}

NumberedNames::NumberedNames(const UniqueProgram& program) : program_(program) {
  const expr::ResolvedProgram& resolved = program.program;
  std::map<std::string, std::string> indices;
  int tensors = 0;
  for_each_piece(to_string(expr::ParsedProgram{resolved.statements}),
                 [&](const std::string& piece) {
                   const bool is_tensor = resolved.tensors.contains(piece);
                   const bool is_index = program.extents.contains(piece);
                   if (is_tensor && is_index) is_clear_ = false;
                   if ((is_tensor || is_index) && !numbered_.contains(piece)) {
                     add(piece, is_tensor ? concat("T", tensors++) : concat("x", indices.size()));
                     if (is_index) indices[piece] = numbered_.at(piece);
                   }
                   const auto number = numbered_.find(piece);
                   statements_ += number == numbered_.end() ? piece : number->second;
                 });
  for (const auto& [name, number] : nest::with_loops_of_formats(indices)) add(name, number);
}

void NumberedNames::add(const std::string& name, const std::string& number) {
  if (numbered_.try_emplace(name, number).second) named_[number] = name;
}

std::string NumberedNames::numbered(const std::vector<schedule::Schedule>& schedules) const {
  schedule::Schedule all;
  const auto& statements = program_.program.statements;
  for (size_t s = 0; s < schedules.size() && s < statements.size(); ++s) {
    for (schedule::Step step : schedules[s].steps) {
      step.statement = statements[s].tensor;
      all.steps.push_back(std::move(step));
    }
  }
  return to_string(exchanged(std::move(all), numbered_));
}

std::vector<schedule::Schedule> NumberedNames::named(const std::string& text) const {
  const auto& statements = program_.program.statements;
  std::vector<schedule::Schedule> schedules(statements.size());
  for (schedule::Step& step : exchanged(schedule::parse_schedule(text), named_).steps) {
    const auto found = std::find_if(statements.begin(), statements.end(),
                                    [&](const auto& s) { return s.tensor == step.statement; });
    if (found == statements.end()) user_error("no statement assigns '", step.statement, "'");
    step.statement.clear();
    schedules[static_cast<size_t>(found - statements.begin())].steps.push_back(std::move(step));
  }
  return schedules;
}

PlanKey plan_key(const Request& request, const NumberedNames& names) {
  const UniqueProgram& program = *request.program;
  PlanKey key{names.statements(), {}, {}};
  std::map<std::string, std::string> lines;
  for (const auto& [tensor, type] : program.program.tensors)
    lines[names.of(tensor)] = text_of(type);
  for (const auto& [tensor, line] : lines) key.tensors += concat(tensor, " ", line, "\n");
  std::map<std::string, std::string> parts;
  for (const auto& [index, uses] : program.extents) {
    const auto known = request.known_extents.find(index);
    if (known != request.known_extents.end()) {
      parts[names.of(index)] = concat("=", known->second);
      continue;
    }
    for (const expr::ExtentUse& use : uses) {
      const auto found = request.statistics.find(use.tensor);
      if (found == request.statistics.end()) continue;
      const int64_t size = found->second.sizes[static_cast<size_t>(use.dimension)];
      parts[names.of(index)] = concat("~4^", magnitude(size));
    }
  }
  for (const auto& [tensor, statistics] : request.statistics) {
    if (program.program.tensors.at(tensor).format.is_dense()) continue;
    parts[names.of(tensor)] = concat("~4^", magnitude(statistics.count), " ",
                                     name_of(locality_of(statistics.distinct_share)));
    if (statistics.longest_row > 0)
      parts[names.of(tensor)] += concat(" rows<=", statistics.longest_row);
  }
  for (const auto& [name, part] : parts)
    key.operands += concat(key.operands.empty() ? "" : ", ", name, part);
  return key;
}

}  // namespace tulle::plan
