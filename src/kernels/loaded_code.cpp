// Counts loaded code and waits for background compilation.
#include "jit/engine.h"
#include "support/background.h"
#include "tulle/tulle.h"

namespace tulle {

LoadedCode loaded_code() {
  const jit::LoadedTotals totals = jit::loaded_totals();
  return {totals.objects, totals.bytes};
}

void finish_compiling() { await_background(); }

}  // namespace tulle
