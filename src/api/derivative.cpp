// Derivatives of programs: resolves a program and prints what grad/ derives from it.
#include "tulle/derivative.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/out_formats.h"
#include "api/parsed_source.h"
#include "composite/operand_parts.h"
#include "grad/batched.h"
#include "grad/derivative.h"
#include "support/check.h"
#include "support/joined.h"

namespace tulle {

namespace {

expr::ResolvedProgram resolved(const ProgramSource& source) {
  const expr::ParsedProgram parsed =
      source.is_einsum ? parsed_einsum(source.text, source.operands, source.options)
                       : expr::parse_program(source.text);
  expr::ResolveOptions options;
  options.out_formats = chosen_formats(parsed, source.options);
  return expr::resolve(parsed, OperandParts(source.operands).types(), options);
}

Derivative printed(grad::DerivativeStatements derived) {
  return {expr::to_string(expr::ParsedProgram{std::move(derived.statements)}),
          std::move(derived.operands), std::move(derived.results)};
}

std::set<std::string> composites_of(const ProgramSource& source) {
  std::set<std::string> names;
  const OperandParts parts(source.operands);
  for (const auto& [name, composite] : parts.composites()) names.insert(name);
  return names;
}

// Throws UserError for a name that the program does not have; `what` is "operand" or "result".
void check_names(const std::vector<std::string>& names, const std::vector<std::string>& known,
                 std::string_view what) {
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    user_error("the program has no ", what, " '", name, "'; it has ",
               known.empty() ? "none" : joined(known));
  }
}

}  // namespace

std::string_view name_of(DerivativeRole role) {
  constexpr std::string_view names[] = {"operand", "part", "result", "gradient", "tangent"};
  return names[static_cast<size_t>(role)];
}

Derivative gradient(const ProgramSource& source, const std::vector<std::string>& wanted,
                    const std::vector<std::string>& seeds) {
  const expr::ResolvedProgram program = resolved(source);
  check_names(wanted, program.operands, "operand");
  check_names(seeds, program.results, "result");
  grad::GradientRequest request{wanted, {seeds.begin(), seeds.end()}, composites_of(source)};
  return printed(grad::gradient(program, request));
}

Derivative tangent(const ProgramSource& source, const std::vector<std::string>& moved) {
  const expr::ResolvedProgram program = resolved(source);
  check_names(moved, program.operands, "operand");
  return printed(grad::tangent(program, {moved.begin(), moved.end()}));
}

std::string batched(const ProgramSource& source, const std::vector<std::string>& wide) {
  const expr::ResolvedProgram program = resolved(source);
  check_names(wide, program.operands, "operand");
  const std::set<std::string> names(wide.begin(), wide.end());
  return expr::to_string(expr::ParsedProgram{grad::batched(program, names)});
}

}  // namespace tulle
