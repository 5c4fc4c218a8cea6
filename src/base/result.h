// Result<T>: a value or an Error. Failures below the ABI travel only this way; the only exception
// is std::bad_alloc, which the boundary guard (api/guard.h) turns into a status.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>

#include "kernelmill/base.h"

namespace km {

/// The reason of a failed call: the status that the caller sees, a text with the wrong values and
/// the remedy, and the backend's own code (CUresult, errno ...) or 0.
struct Error {
  km_status status = KM_ERROR_INTERNAL;
  std::string message;
  int64_t native_code = 0;
};

[[gnu::format(printf, 2, 3)]] Error make_error(km_status status, const char* format, ...);

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}      // NOLINT: implicit
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return *std::get_if<0>(&state_); }
  const T& operator*() const& { return *std::get_if<0>(&state_); }
  T&& operator*() && { return std::move(*std::get_if<0>(&state_)); }
  T* operator->() { return std::get_if<0>(&state_); }
  const T* operator->() const { return std::get_if<0>(&state_); }
  Error& error() { return *std::get_if<1>(&state_); }
  const Error& error() const { return *std::get_if<1>(&state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : failed_(true), error_(std::move(error)) {}  // NOLINT: implicit

  explicit operator bool() const { return !failed_; }
  Error& error() { return error_; }
  const Error& error() const { return error_; }

 private:
  bool failed_ = false;
  Error error_;
};

using Status = Result<void>;

}  // namespace km

#define KM_CONCAT_(a, b) a##b
#define KM_CONCAT(a, b) KM_CONCAT_(a, b)

/// Returns from the enclosing function with the error of a Result<void> expression, if it failed.
#define KM_TRY(expression)                                   \
  do {                                                       \
    if (auto km_try_result = (expression); !km_try_result) { \
      return std::move(km_try_result.error());               \
    }                                                        \
  } while (0)

/// Declares `declaration` with the value of a Result<T> expression, or returns its error from the
/// enclosing function.
#define KM_ASSIGN(declaration, expression) \
  KM_ASSIGN_(KM_CONCAT(km_r_, __LINE__), declaration, expression)
#define KM_ASSIGN_(temporary, declaration, expression) \
  auto temporary = (expression);                       \
  if (!temporary) return std::move(temporary.error()); \
  declaration = std::move(*temporary)
