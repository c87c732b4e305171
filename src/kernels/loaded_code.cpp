// How much code is loaded, and waiting for what is still being made.
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
