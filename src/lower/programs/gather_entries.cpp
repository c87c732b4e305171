// Copies entries in another order, by their numbers.
#include "lower/programs/for_each.h"
#include "lower/programs/select_parts.h"
#include "support/check.h"

namespace tulle::lower {

using loop::Buffer;
using loop::Expr;
using loop::Load;

loop::HostProgram gather_entries(int rank, DType index_type, DType type, const Options& options) {
  loop::HostProgram program;
  program.name = "gather_entries";
  const Buffer order = loop::make_buffer("order", DType::Int64);
  program.buffers.push_back({order, false});
  program.scalars = {{"first", loop::kIndex}, {"count", loop::kIndex}};
  const Expr first = loop::Var::make("first"), count = loop::Var::make("count");
  const auto allocate = [&](const std::string& name, DType element, const Expr& size) {
    program.results.push_back(loop::make_buffer(name, element));
    program.steps.emplace_back(loop::AllocateStep{program.results.back(), size, false});
    return program.results.back();
  };
  const Buffer pos = allocate("part_pos", index_type, loop::IntConst::make(2));
  std::vector<std::pair<Buffer, Buffer>> copied;
  const auto copy = [&](const std::string& name, DType element) {
    program.buffers.push_back({loop::make_buffer(name, element), false});
    copied.emplace_back(program.buffers.back().buffer, allocate("part_" + name, element, count));
  };
  for (int d = 0; d < rank; ++d) copy(concat("crd", d), index_type);
  copy("values", type);
  const auto bound = [&](Emitter& out, const Expr& at) {
    out.store(pos, at, loop::Cast::make(index_type, at * count));
  };
  launch_each({"bound_part", loop::IntConst::make(2), bound}, options, program);
  const auto gather = [&](Emitter& out, const Expr& at) {
    const Expr entry = out.let("entry", Load::make(order, first + at));
    for (const auto& [from, to] : copied) out.store(to, at, Load::make(from, entry));
  };
  launch_each({"gather", count, gather}, options, program);
  return program;
}

}  // namespace tulle::lower
