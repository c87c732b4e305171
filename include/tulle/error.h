// The three kinds of failure that Tulle reports; nothing reachable from user input aborts.
#pragma once

#include <stdexcept>
#include <string>

namespace tulle {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What the caller gave is wrong; the message says what was found, what was expected and what to do.
class UserError : public Error {
 public:
  using Error::Error;
};

// Legal by the language, but this version cannot do it; the message names the way around.
class Unsupported : public Error {
 public:
  using Error::Error;
};

// A broken invariant of the compiler: a bug of ours, never the caller's.
class InternalError : public Error {
 public:
  using Error::Error;
};

}  // namespace tulle
