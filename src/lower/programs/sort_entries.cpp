// Sorts coordinates: a step sorts a permutation, and a kernel applies it.
#include "lower/programs/sort_entries.h"

#include <algorithm>

#include "lower/emitter.h"
#include "lower/frame.h"
#include "lower/kernel_parameters.h"
#include "lower/storage.h"
#include "support/check.h"
#include "support/mutant.h"

namespace tulle::lower {

using loop::Expr;
using loop::IntConst;
using loop::Load;

namespace {

// The variables of the perfectly nested outer loops.
std::vector<std::string> outer_loops(const nest::Nest& nest) {
  std::vector<std::string> loops;
  for (nest::Stmt stmt = nest.root; stmt.as<nest::Forall>(); stmt = stmt.as<nest::Forall>()->body)
    loops.push_back(stmt.as<nest::Forall>()->var);
  return loops;
}

bool is_rest_of(const LevelExpr& remainder, const LevelExpr& quotient) {
  return remainder.part == LevelExpr::Part::Remainder &&
         quotient.part == LevelExpr::Part::Quotient && remainder.dimension == quotient.dimension &&
         remainder.divisor == quotient.divisor;
}

// Whether loops in this order make entries that ascend in the levels from `begin` on, among entries
// that are equal in the levels before. A remainder ascends with its index while the quotient stays
// the same.
bool ascend_with(const std::vector<std::string>& loops, const std::vector<Level>& levels,
                 size_t begin, const std::vector<std::string>& indices) {
  const auto first = levels.begin(), rest = first + static_cast<std::ptrdiff_t>(begin);
  size_t next = 0;
  for (auto level = rest; level != levels.end(); ++level) {
    const LevelExpr& expr = level->expr;
    const auto is_completed = [&](const Level& other) { return is_rest_of(expr, other.expr); };
    // a quotient followed by its remainder is one index
    if (expr.part == LevelExpr::Part::Quotient) {
      ++level;
      if (level == levels.end() || !is_rest_of(level->expr, expr)) return false;
    } else if (!expr.is_whole() && std::none_of(first, rest, is_completed)) {
      return false;
    }
    if (next == loops.size() || loops[next++] != indices[static_cast<size_t>(expr.dimension)])
      return false;
  }
  return true;
}

}  // namespace

size_t levels_to_sort(const nest::Nest& nest, const std::string& result) {
  const std::vector<Level>& levels = nest.tensor(result).type.format.levels();
  // Loops visit slots with repeated coordinates above a full level one by one.
  const bool ascend = std::all_of(nest.tensors.begin(), nest.tensors.end(), [](const auto& entry) {
    const Format& format = entry.second.type.format;
    return entry.second.role != nest::Tensor::Role::Operand ||
           (format.is_ordered() && !format.repeats_above_full());
  });
  const std::vector<const nest::Assign*> all = nest::assigns(nest.root);
  const auto assign = std::find_if(all.begin(), all.end(), [&](const nest::Assign* candidate) {
    return candidate->tensor == result;
  });
  if (!ascend || assign == all.end()) return levels.size();
  const std::vector<std::string>& indices = (*assign)->indices;
  const std::vector<std::string> loops = outer_loops(nest);
  for (size_t sorted = 1; sorted < levels.size(); ++sorted) {
    if (ascend_with(loops, levels, sorted, indices) || mutant("order-presumed")) return sorted;
  }
  return levels.size();
}

namespace {

// Appends the kernel that writes the entries in the order of the permutation `order`, with the
// steps of its launch.
void apply_order(const Sorting& sorting, const expr::TensorType& type, const loop::Buffer& order,
                 const Options& options, loop::HostProgram& program) {
  const TensorBuffers source = buffers_of(sorting.from, type),
                      target = buffers_of(sorting.to, type);
  const Expr count = loop::Var::make(count_name(sorting.from));
  loop::FreshNames names;
  Emitter body(names);
  const Expr at = loop::Var::make("q");
  const Expr origin = body.let("origin", Load::make(order, at));
  for (size_t l = 0; l < source.crd.size(); ++l)
    body.store(target.crd[l], at, Load::make(source.crd[l], origin));
  body.store(target.values, at, Load::make(source.values, origin));
  Emitter chunk(names);
  const Expr chunks = loop::Var::make(chunks_name(sorting.to));
  const std::string name = "sort_" + sorting.to;
  KernelFrame frame(KernelFrame::kind_for(options), options.limits, name, chunks, names);
  const Expr& index = frame.chunk();
  Emitter first(names);
  first.store(target.pos[0], IntConst::make(1), loop::Cast::make(type.index_type, count));
  chunk.add(loop::If::make(index == IntConst::make(0), first.take()));
  const Work entries{count, true};
  chunk.add(loop::For::make("q", frame.share(entries, index), frame.share(entries, index + 1),
                            body.take()));
  program.kernels.push_back(
      with_parameters(name, loop::Block::make({frame.wrap({}, chunk.take_statements())})));
  frame.launch(program.steps);
}

}  // namespace

void sort_entries(const Sorting& sorting, const expr::TensorType& type, const Options& options,
                  loop::HostProgram& program) {
  const TensorBuffers source = buffers_of(sorting.from, type),
                      target = buffers_of(sorting.to, type);
  const Expr count = loop::Var::make(count_name(sorting.from));
  const loop::Buffer order = loop::make_buffer(sorting.to + ".order", DType::Int64);
  for (const loop::Buffer& crd : source.crd)
    TULLE_CHECK(crd, "coordinates at every level of ", sorting.from);
  auto& steps = program.steps;
  steps.push_back(loop::AllocateStep{order, count, false});
  const auto keys_end = source.crd.begin() + static_cast<std::ptrdiff_t>(sorting.levels);
  steps.push_back(loop::SortStep{order, {source.crd.begin(), keys_end}, count});
  steps.push_back(loop::LetStep{chunks_name(sorting.to), loop::Var::make(kThreads)});
  steps.push_back(loop::AllocateStep{target.pos[0], IntConst::make(2), true});
  for (const loop::Buffer& crd : target.crd) steps.push_back(loop::AllocateStep{crd, count, false});
  steps.push_back(loop::AllocateStep{target.values, count, false});
  steps.push_back(loop::LetStep{count_name(sorting.to), count});
  apply_order(sorting, type, order, options, program);
  steps.push_back(loop::FreeStep{order});
  for (const loop::Buffer& crd : source.crd) steps.push_back(loop::FreeStep{crd});
  steps.push_back(loop::FreeStep{source.pos[0]});
  steps.push_back(loop::FreeStep{source.values});
}

}  // namespace tulle::lower
