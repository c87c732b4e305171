// Frees temporaries after their last use.
#include "lower/programs/free_temporaries.h"

#include <algorithm>
#include <map>
#include <set>

namespace tulle::lower {

namespace {

// The names of the buffers that a step reads or writes.
std::vector<std::string> used_by(const loop::HostStep& step, const loop::HostProgram& program) {
  std::vector<std::string> names;
  if (const auto* allocate = std::get_if<loop::AllocateStep>(&step)) {
    names.push_back(allocate->buffer->name);
  } else if (const auto* launch = std::get_if<loop::LaunchStep>(&step)) {
    for (const loop::BufferParam& param : program.kernel(launch->kernel).buffers)
      names.push_back(param.buffer->name);
  } else if (const auto* scan = std::get_if<loop::ScanStep>(&step)) {
    names.push_back(scan->buffer->name);
  } else if (const auto* read = std::get_if<loop::ReadStep>(&step)) {
    names.push_back(read->buffer->name);
  } else if (const auto* sort = std::get_if<loop::SortStep>(&step)) {
    names.push_back(sort->order->name);
    for (const loop::Buffer& key : sort->keys) names.push_back(key->name);
  } else if (const auto* kept = std::get_if<loop::KeptStep>(&step)) {
    for (const loop::Buffer& array : kept->arrays) names.push_back(array->name);
  }
  return names;
}

}  // namespace

void free_temporaries(loop::HostProgram& program) {
  std::map<std::string, loop::Buffer> allocated;
  std::map<std::string, size_t> last_use;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    if (const auto* allocate = std::get_if<loop::AllocateStep>(&program.steps[s]))
      allocated[allocate->buffer->name] = allocate->buffer;
    for (const std::string& name : used_by(program.steps[s], program)) last_use[name] = s;
  }
  for (const loop::HostStep& step : program.steps) {
    if (const auto* free = std::get_if<loop::FreeStep>(&step)) allocated.erase(free->buffer->name);
  }
  for (const loop::Buffer& result : program.results) allocated.erase(result->name);

  std::vector<loop::HostStep> steps;
  for (size_t s = 0; s < program.steps.size(); ++s) {
    steps.push_back(std::move(program.steps[s]));
    if (s + 1 == program.steps.size()) continue;  // the program's end frees everything
    for (const auto& [name, buffer] : allocated) {
      if (last_use.at(name) == s) steps.push_back(loop::FreeStep{buffer});
    }
  }
  program.steps = std::move(steps);
}

}  // namespace tulle::lower
