// Passes the kind of an error through PyTorch, which turns every C++ exception into a RuntimeError.
#pragma once

#include <new>
#include <stdexcept>
#include <string>

#include "tulle/error.h"

namespace tulle::shim {

// Runs `body`. An error of Tulle becomes a std::runtime_error whose message starts with the name of
// the Python class; the package removes that prefix (python/tulle/support/errors.py).
template <typename Body>
auto with_named_errors(const Body& body) {
  try {
    return body();
  } catch (const UserError& error) {
    throw std::runtime_error(std::string("tulle.UserError: ") + error.what());
  } catch (const Unsupported& error) {
    throw std::runtime_error(std::string("tulle.Unsupported: ") + error.what());
  } catch (const InternalError& error) {
    throw std::runtime_error(std::string("tulle.InternalError: ") + error.what());
  } catch (const std::bad_alloc&) {
    throw std::runtime_error("tulle.UserError: There is not enough memory; use a smaller problem.");
  } catch (const std::exception& error) {
    throw std::runtime_error(std::string("tulle.InternalError: ") + error.what());
  }
}

}  // namespace tulle::shim
