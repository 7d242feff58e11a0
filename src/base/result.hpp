// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <string>
#include <utility>
#include <variant>

namespace parshall {

/// Reason why a call off the hot path failed: what was tried, on what, and what to do about it.
struct Error {
  std::string message;
};

/// Holds a value or an Error. It is spelt like std::expected, which gcc 12 lacks in C++20.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool has_value() const noexcept { return state_.index() == 0; }
  explicit operator bool() const noexcept { return has_value(); }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

}  // namespace parshall
