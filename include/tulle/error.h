// The three kinds of errors that Tulle throws. User input never aborts the process.
#pragma once

#include <stdexcept>
#include <string>

namespace tulle {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The caller's input is wrong. The message says what was given, what was expected and what to do.
class UserError : public Error {
 public:
  using Error::Error;
};

// The input is legal, but this version does not support it. The message names an alternative.
class Unsupported : public Error {
 public:
  using Error::Error;
};

// A broken invariant: a bug of Tulle, never a mistake of the caller.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace tulle
