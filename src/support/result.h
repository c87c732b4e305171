// The outcome of an operation that may be refused: a value, or the reason for the refusal. Legality
// checks return it instead of throwing an exception.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "support/check.h"

namespace tulle {

// The problem and the remedy, in the words of a UserError.
struct Refusal {
  std::string why;
};

template <typename... Parts>
Refusal refusal(const Parts&... parts) {
  return {concat(parts...)};
}

template <typename T = void, typename E = Refusal>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT: conversion
  Result(E error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: conversion

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const E& error() const& { return std::get<1>(state_); }
  E&& error() && { return std::get<1>(std::move(state_)); }

 private:
  std::variant<T, E> state_;
};

// The outcome of a check. Without an error it has passed.
template <typename E>
class [[nodiscard]] Result<void, E> {
 public:
  Result() = default;
  Result(E error) : error_(std::move(error)) {}  // NOLINT: conversion

  explicit operator bool() const { return !error_; }
  const E& error() const& { return *error_; }
  E&& error() && { return *std::move(error_); }

 private:
  std::optional<E> error_;
};

// Returns the error of a result from the function around it.
#define TULLE_TRY(result)                                               \
  do {                                                                  \
    if (auto tried = (result); !tried) return std::move(tried).error(); \
  } while (false)

}  // namespace tulle
