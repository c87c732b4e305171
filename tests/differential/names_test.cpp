// No name that the compiler makes is one that users could write (support/made_names.h).
#include <memory>
#include <regex>

#include <gtest/gtest.h>

#include "differential/prepared.h"
#include "differential/random_case.h"
#include "schedule/program.h"
#include "support/check.h"
#include "support/made_names.h"

namespace tulle::differential {
namespace {

constexpr uint64_t kPrograms = 600;

using Names = std::set<std::string>;

// The user's names in a program, and the names that stages add.
struct Found {
  Names written_tensors, written_indices;
  Names tensors;  // of nests, and arrays and scalars of the host program, all in one scope
  Names indices;  // loops of nests
};

void collect(const Case& test, const expr::ResolvedProgram& program, Found& found) {
  for (const expr::Statement& statement : expr::parse_program(test.text).statements) {
    found.written_tensors.insert(statement.tensor);
    found.written_indices.insert(statement.indices.begin(), statement.indices.end());
    for (const expr::Access* access : expr::accesses(statement.value)) {
      found.written_tensors.insert(access->tensor);
      found.written_indices.insert(access->indices.begin(), access->indices.end());
    }
  }
  for (const auto& [name, type] : program.tensors) found.tensors.insert(name);
  // The names of loops, workspaces and partial sums in the schedule belong to the user.
  const std::regex word("[A-Za-z_][A-Za-z_0-9]*");
  for (std::sregex_iterator at(test.schedule.begin(), test.schedule.end(), word), end; at != end;
       ++at) {
    found.written_tensors.insert(at->str());
    found.written_indices.insert(at->str());
  }
}

void collect(const schedule::NestProgram& program, Found& found) {
  found.indices.insert(program.indices.begin(), program.indices.end());
  for (const schedule::ProgramStep& step : program.steps) {
    const auto* nest = std::get_if<schedule::ScheduledNest>(&step);
    if (!nest) continue;
    for (const auto& [name, tensor] : nest->nest.tensors) found.tensors.insert(name);
    for (const auto& [name, variable] : nest->nest.variables) found.indices.insert(name);
  }
}

void collect(const loop::HostProgram& program, Found& found) {
  for (const loop::BufferParam& param : program.buffers) found.tensors.insert(param.buffer->name);
  for (const loop::ScalarParam& param : program.scalars) found.tensors.insert(param.name);
  for (const loop::HostStep& step : program.steps) {
    if (const auto* let = std::get_if<loop::LetStep>(&step)) found.tensors.insert(let->name);
    if (const auto* read = std::get_if<loop::ReadStep>(&step)) found.tensors.insert(read->name);
    if (const auto* allocate = std::get_if<loop::AllocateStep>(&step))
      found.tensors.insert(allocate->buffer->name);
  }
}

// Nothing if the case is refused.
std::optional<Found> names_of(const Case& test) {
  Found found;
  try {
    const Prepared ready(test);
    collect(test, ready.resolved, found);
    const auto read_nests = [&](std::string_view stage, const std::string& text) {
      if (stage == "schedule") collect(schedule::parse_program(text), found);
    };
    collect(lower_program(ready.request, read_nests).program, found);
  } catch (const UserError&) {
    return {};
  } catch (const Unsupported&) {
    return {};
  }
  return found;
}

TEST(Names, OfTheCompilerAreNoUsers) {
  uint64_t looked_at = 0;
  Names unknown;  // each once
  for (uint64_t seed = 0; seed < kPrograms; ++seed) {
    const Case test = random_case(seed);
    const std::optional<Found> found = names_of(test);
    if (!found) continue;
    ++looked_at;
    const auto expect_made = [&](const Names& names, const Names& written, std::string_view what) {
      for (const std::string& name : names) {
        if (written.contains(name) || is_made_name(name)) continue;
        if (!unknown.insert(name).second) continue;
        ADD_FAILURE() << "a user may call " << what << " '" << name
                      << "', as the compiler does in\n"
                      << to_string(test) << "src/support/made_names.h says what it may be called";
      }
    };
    expect_made(found->tensors, found->written_tensors, "a tensor");
    expect_made(found->indices, found->written_indices, "an index");
  }
  EXPECT_GT(looked_at, kPrograms / 2);
}

}  // namespace
}  // namespace tulle::differential
