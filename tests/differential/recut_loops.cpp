// Draws tiles of tiles, workspaces of tiles' sums, and other combinations of split, fuse and
// reorder.
#include "differential/recut_loops.h"

#include <utility>

#include "differential/step_taker.h"
#include "schedule/queries.h"
#include "support/check.h"

namespace tulle::differential {

namespace {

class RecutLoops : private StepTaker {
 public:
  using StepTaker::StepTaker;

  void run() {
    if (loops().empty()) return;
    switch (dice_.below(5)) {
      case 0:
        take_tiles();
        break;
      case 1:
        take_fused_workspace();
        break;
      case 2:
      case 3:  // sums of pieces of stored rows
        take(concat("split_positions(", loops().front(), ", 2, pr, pi)"));
        take("precompute(pieces)");
        break;
      default:
        break;
    }
    const size_t wanted = taken() + dice_.below(4);
    for (size_t tries = 0; tries < 3 * wanted && taken() < wanted; ++tries) take(draw_recut());
    if (!gpu_) return;
    take(concat("bind(", loops().front(), ", block)"));
    std::vector<std::string> vars = loops();
    dice_.shuffle(vars);
    const std::string part = dice_.chance(0.7) ? "thread" : "warp";
    for (const std::string& var : vars) take(concat("bind(", var, ", ", part, ")"));
  }

 private:
  // Tiles of tiles, some past the end, fused with loops around.
  void take_tiles() {
    const std::vector<std::string> vars = loops();
    const size_t at = dice_.below(vars.size());
    take(concat("split(", vars[at], ", ", dice_.pick<int>({4, 8}), ", to, ti)"));
    take(concat("split(ti, ", dice_.pick<int>({1, 2}), ", ta, tb)"));
    if (at == 0) {
      take("reorder(ta, to)");
      take("fuse(ta, to, tf)");
    } else {
      take(concat("fuse(", vars[at - 1], ", to, tx)"));
      take("fuse(tx, ta, tf)");
    }
  }

  // Gathers the sum of a tile in a workspace, with one fused loop over the tile in the producer or
  // consumer.
  void take_fused_workspace() {
    std::vector<std::string> rows, sums;
    for (const std::string& var : loops()) (is_summed(var) ? sums : rows).push_back(var);
    if (rows.size() < 2 || sums.empty()) return;
    take(concat("split(", rows.back(), ", 4, to, ti)"));
    take("split(ti, 2, ta, tb)");
    rows.back() = "to";
    rows.insert(rows.end(), sums.begin(), sums.end());
    take(concat("reorder(", schedule::list_of(rows), ", ta, tb)"));
    take(dice_.chance(0.7) ? "precompute(tile, (tb, ta))"
                           : concat("rfactor(", sums.back(), ", tile)"));
    take("fuse(ta, tb, tf)");
    if (!gpu_) return;
    take(concat("bind(", loops().front(), ", block)"));
    take("bind(tf, thread)");
  }

  std::string draw_recut() {
    std::vector<std::string> vars = loops();
    if (vars.empty()) return "precompute(acc)";
    const std::string fresh = concat("v", fresh_++);
    const size_t at = dice_.below(vars.size());
    switch (dice_.below(8)) {
      case 0:
      case 1:
      case 2:
        return concat("split(", vars[at], ", ", dice_.pick<int>({1, 2, 4, 8}), ", ", fresh, "o, ",
                      fresh, "i)");
      case 3:
      case 4:
        return concat("fuse(", vars[at], ", ", vars[(at + 1) % vars.size()], ", ", fresh, ")");
      case 5:
        if (dice_.chance(0.5))
          return concat("split_positions(", vars[at], ", 2, ", fresh, "o, ", fresh, "i)");
        return concat("rfactor(", vars[at], ", ", fresh, ")");
      case 6:
        return draw_precompute(vars, fresh);
      default:
        std::swap(vars[at], vars[(at + 1) % vars.size()]);
        return concat("reorder(", schedule::list_of(vars), ")");
    }
  }
};

}  // namespace

void take_recut_loops(Dice& dice, ScheduledStatements& statements, size_t statement, bool gpu,
                      int& fresh) {
  RecutLoops(dice, statements, statement, gpu, fresh).run();
}

}  // namespace tulle::differential
