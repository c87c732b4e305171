// Assigns entries to parts on a GPU, with the same results as in the interpreter.
#include <random>

#include <gtest/gtest.h>

#include "fixture.h"
#include "loop/print.h"
#include "lower/programs/select_parts.h"
#include "support/check.h"

namespace tulle::gpu {
namespace {

struct Entries {
  std::vector<std::vector<int32_t>> coordinates = std::vector<std::vector<int32_t>>(3);
  loop::Arrays arrays() const {
    loop::Arrays found;
    for (size_t d = 0; d < 3; ++d)
      found.emplace(concat("crd", d), loop::to_array(DType::Int32, coordinates[d]));
    return found;
  }
};

// Some rows of each of two matrices.
Entries draw_entries(int32_t rows, int32_t columns) {
  std::mt19937 random(3);
  Entries entries;
  for (int32_t row = 0; row < 2 * rows; ++row) {
    const uint32_t percent = random() % 4 * 20;
    for (int32_t column = 0; column < columns; ++column) {
      if (random() % 100 >= percent) continue;
      entries.coordinates[0].push_back(row / rows);
      entries.coordinates[1].push_back(row % rows);
      entries.coordinates[2].push_back(column);
    }
  }
  return entries;
}

TEST(Parts, AreSelectedAndGathered) {
  for (const auto& [rows, columns] : {std::pair{70, 41}, {0, 3}, {1, 1}}) {
    const Entries entries = draw_entries(rows, columns);
    const auto count = static_cast<int64_t>(entries.coordinates[0].size());
    for (const char* format :
         {"hyb(1,2)", "{ band(-1,2): csf; blocks(3,4, fill>=0.4): csf; rest: csf }",
          "columns(3){ windows(4, reuse>=1.3): csf; rows(nnz>=5): csf; rest: csf }"}) {
      const auto program =
          lower::select_parts(CompositeFormat::parse(format, 3), DType::Int32, {Backend::Gpu});
      expect_same(loop::to_string(program), entries.arrays(),
                  {{"count", count}, {"columns", int64_t{columns}}});
    }
    loop::Arrays arrays = entries.arrays();
    std::vector<int64_t> order(static_cast<size_t>(count));
    for (int64_t at = 0; at < count; ++at) order[static_cast<size_t>(at)] = count - 1 - at;
    arrays.emplace("order", loop::to_array(DType::Int64, order));
    for (const DType type : {DType::Bool, DType::Float32, DType::Float64}) {
      arrays.insert_or_assign("values", numbers(type, count, 5));
      const auto program = lower::gather_entries(3, DType::Int32, type, {Backend::Gpu});
      expect_same(loop::to_string(program), arrays, {{"first", count / 3}, {"count", count / 2}});
    }
  }
}

}  // namespace
}  // namespace tulle::gpu
