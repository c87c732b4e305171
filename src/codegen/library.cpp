// The table of C library functions.
#include "codegen/library.h"

#include <cmath>
#include <cstring>

#include "support/check.h"

namespace tulle::codegen {

namespace {

// X(enumerator, name for f64). The name for f32 has the suffix f.
#define TULLE_LIBRARY_FUNCTIONS(X) \
  X(Sin, sin)                      \
  X(Tan, tan)                      \
  X(Asin, asin)                    \
  X(Atan, atan)                    \
  X(Sinh, sinh)                    \
  X(Tanh, tanh)                    \
  X(Asinh, asinh)                  \
  X(Atanh, atanh)                  \
  X(Expm1, expm1)                  \
  X(Log1p, log1p)                  \
  X(Erf, erf)                      \
  X(Exp, exp)                      \
  X(Log, log)                      \
  X(Cos, cos)                      \
  X(Cosh, cosh)

template <typename Number>
void* address_of(Number (*function)(Number)) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

bool is_library_function(loop::Function function) {
  switch (function) {
#define X(enumerator, name)        \
  case loop::Function::enumerator: \
    return true;
    TULLE_LIBRARY_FUNCTIONS(X)
#undef X
    default:
      return false;
  }
}

std::string library_name(loop::Function function, bool is_double) {
  switch (function) {
#define X(enumerator, name)        \
  case loop::Function::enumerator: \
    return is_double ? #name : #name "f";
    TULLE_LIBRARY_FUNCTIONS(X)
#undef X
    default:
      internal_error("no library function computes ", loop::text_of(function));
  }
}

std::vector<std::pair<std::string, void*>> library_symbols() {
  std::vector<std::pair<std::string, void*>> symbols;
#define X(enumerator, name)                                 \
  symbols.emplace_back(#name, address_of<double>(&::name)); \
  symbols.emplace_back(#name "f", address_of<float>(&::name##f));
  TULLE_LIBRARY_FUNCTIONS(X)
#undef X
  // LLVM joins a sine and a cosine of one number.
  symbols.emplace_back("sincos", reinterpret_cast<void*>(&::sincos));
  symbols.emplace_back("sincosf", reinterpret_cast<void*>(&::sincosf));
  symbols.emplace_back("memset", reinterpret_cast<void*>(&::memset));
  symbols.emplace_back("memcpy", reinterpret_cast<void*>(&::memcpy));
  symbols.emplace_back("memmove", reinterpret_cast<void*>(&::memmove));
  return symbols;
}

}  // namespace tulle::codegen
