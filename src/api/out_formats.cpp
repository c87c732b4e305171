// Assigns the chosen formats to results.
#include "api/out_formats.h"

#include <algorithm>
#include <set>

#include "support/check.h"
#include "support/joined.h"

namespace tulle {

namespace {

// The tensors that are assigned and not read, in order.
std::vector<std::string> results_of(const expr::ParsedProgram& program) {
  std::set<std::string> read;
  for (const expr::Statement& statement : program.statements) {
    for (const expr::Access* access : expr::accesses(statement.value)) read.insert(access->tensor);
  }
  std::vector<std::string> results;
  for (const expr::Statement& statement : program.statements) {
    if (!read.contains(statement.tensor)) results.push_back(statement.tensor);
  }
  return results;
}

std::string only_result(const expr::ParsedProgram& program, const std::string& format) {
  const std::vector<std::string> results = results_of(program);
  if (results.size() == 1) return results.front();
  user_error("The format ", format, " is given without a name, but the statements have ",
             results.size(), " results (", joined(results), "); give formats by name.");
}

}  // namespace

std::map<std::string, Format> chosen_formats(const expr::ParsedProgram& program,
                                             const ProgramOptions& options) {
  std::map<std::string, Format> formats;
  for (const auto& [given, format] : options.out_formats) {
    const std::string name = given == "*" ? only_result(program, format) : given;
    const auto statement =
        std::find_if(program.statements.begin(), program.statements.end(),
                     [&](const expr::Statement& each) { return each.tensor == name; });
    if (statement == program.statements.end()) {
      user_error("The format ", format, " is given for '", name, "', which no statement assigns.");
    }
    formats.emplace(name, Format::parse(format, static_cast<int>(statement->indices.size())));
  }
  return formats;
}

}  // namespace tulle
