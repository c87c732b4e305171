// How much code is loaded.
#include "jit/engine.h"
#include "tulle/tulle.h"

namespace tulle {

LoadedCode loaded_code() {
  const jit::LoadedTotals totals = jit::loaded_totals();
  return {totals.objects, totals.bytes};
}

}  // namespace tulle
