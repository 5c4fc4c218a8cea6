// Failures: km::error, which the classes of km throw, and km::result, which the classes of
// km::nothrow return.
#ifndef KERNELMILL_CPP_ERROR_HPP
#define KERNELMILL_CPP_ERROR_HPP

#if __cplusplus < 201703L
#error "kernelmill.hpp needs C++17 or later"
#endif

#include <kernelmill/cpp/generated/advice.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>
#if __has_include(<version>)
#include <version>
#endif
#if defined(__cpp_lib_expected)
#include <expected>
#endif

// Programs that are compiled without exceptions have km::nothrow only.
#if defined(__cpp_exceptions)
#define KM_HAS_EXCEPTIONS 1
#else
#define KM_HAS_EXCEPTIONS 0
#endif

namespace km {
// The inline namespace keeps apart the versions of this header that parts of one program use.
inline namespace v1 {

/// The name of a status, for example "KM_ERROR_NOT_FOUND"; "unknown status" for no status.
inline const char* status_name(km_status status) noexcept {
  const char* name = "unknown status";
  km_status_name(status, &name);
  return name;
}

namespace detail {

inline const char* description(km_status status) noexcept {
  const char* text = "the library is newer than this program and has a status it does not know";
  km_status_description(status, &text);
  return text;
}

// The text of a call that copies it out: read(buffer, capacity, &size) -> km_status. It tries again
// if the text grows between two calls.
template <class Read>
km_status read_text(Read read, std::string& out_text) {
  for (;;) {
    std::uint64_t size = 0;
    km_status status = read(nullptr, std::uint64_t{0}, &size);
    if (status != KM_SUCCESS) return status;
    std::string text(static_cast<std::size_t>(size), '\0');
    status = read(text.data(), size, &size);
    if (status == KM_ERROR_BUFFER_TOO_SMALL) continue;
    if (status != KM_SUCCESS) return status;
    text.resize(size == 0 ? 0 : static_cast<std::size_t>(size - 1));
    out_text = std::move(text);
    return KM_SUCCESS;
  }
}

// Replaces the names of C functions in a text of the library by those of this header; the name at
// the beginning, which tells the failed call, stays.
inline void put_own_names(std::string& text) {
  const auto is_word = [](char letter) {
    return (letter >= 'a' && letter <= 'z') || (letter >= '0' && letter <= '9') || letter == '_';
  };
  std::size_t at = text.find(": ");
  if (at == std::string::npos) at = 0;
  while ((at = text.find("km_", at)) != std::string::npos) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    for (const own_name& own : own_names) {
      if (text.compare(at, end - at, own.function) != 0) continue;
      text.replace(at, end - at, own.name);
      end = at + std::char_traits<char>::length(own.name);
      break;
    }
    at = end;
  }
}

// The text of the calling thread's last failure; a status that is not an error has no text.
inline std::string failure_text(km_status status) {
  std::string text;
  if (status >= KM_ERROR_INTERNAL) read_text(km_last_error_message, text);
  put_own_names(text);
  return text.empty() ? std::string(status_name(status)) + ": " + description(status) : text;
}

}  // namespace detail

/// A failed call with its status, texts and codes, fetched on the thread that made the call. Copies
/// do not throw.
class error : public std::runtime_error {
 public:
  /// Reads the calling thread's last failure, so it has to be created right after the call that
  /// failed.
  explicit error(km_status status) : error(status, detail::failure_text(status)) {
    if (status >= KM_ERROR_INTERNAL) km_last_error_native_code(&native_code_);
  }
  /// Makes a failure with a text of the caller's.
  error(km_status status, const std::string& text) : std::runtime_error(text), status_(status) {
    km_status_category(status, &category_);
    km_status_recovery(status, &suggestion_);
    if (const char* own = detail::own_recovery(status)) suggestion_ = own;
  }

  /// The status of the call: a KM_ERROR_..., or KM_NOT_READY.
  km_status status() const noexcept { return status_; }
  /// The kind of failure: a KM_ERROR_CATEGORY_...
  km_error_category category() const noexcept { return category_; }
  /// One sentence with the remedy. what() says which values were wrong and why.
  const char* suggestion() const noexcept { return suggestion_; }
  /// The backend's own code (CUresult, errno ...), or 0.
  std::int64_t native_code() const noexcept { return native_code_; }
  /// The compiler's messages if a compilation failed, otherwise empty.
  const std::string& log() const noexcept {
    static const std::string none;
    return log_ ? *log_ : none;
  }

 protected:
  // A failed compilation with all messages of the compiler.
  error(km_status status, std::string&& log, std::nullptr_t) : error(status) {
    log_ = std::make_shared<const std::string>(std::move(log));
  }

 private:
  km_status status_;
  km_error_category category_ = KM_ERROR_CATEGORY_NONE;
  const char* suggestion_ = "";
  std::int64_t native_code_ = 0;
  std::shared_ptr<const std::string> log_;  // exceptions are copied without throwing
};

/// A compilation that failed; log() has all messages of the compiler.
class compile_error : public error {
 public:
  /// Reads the calling thread's last failure and takes over the compiler's messages.
  compile_error(km_status status, std::string log) : error(status, std::move(log), nullptr) {}
};

namespace detail {

#if KM_HAS_EXCEPTIONS
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(error&& failure) {
  throw std::move(failure);
}
[[noreturn, gnu::cold, gnu::noinline]] inline void fail(km_status status) { raise(error(status)); }

inline void check(km_status status) {
  if (__builtin_expect(status != KM_SUCCESS, 0)) fail(status);
}
#else
// Ends a program without exceptions that asks a failed result for its value.
[[noreturn, gnu::cold, gnu::noinline]] inline void raise(error&&) { std::terminate(); }
#endif

}  // namespace detail

/// The value of a call of km::nothrow, or its km::error. It is like std::expected<T, km::error> of
/// C++23, to which it converts.
template <class T>
class [[nodiscard]] result {
 public:
  using value_type = T;
  using error_type = km::error;

  /// Makes a success.
  result(T value) : held_(std::in_place_index<0>, std::move(value)) {}
  /// Makes a failure.
  result(km::error failure) : held_(std::in_place_index<1>, std::move(failure)) {}

  /// True when there is a value.
  bool has_value() const noexcept { return held_.index() == 0; }
  /// True when there is a value.
  explicit operator bool() const noexcept { return has_value(); }
  /// KM_SUCCESS, or the status of the failure.
  km_status status() const noexcept { return has_value() ? KM_SUCCESS : error().status(); }
  /// The failure; undefined if the call succeeded.
  const km::error& error() const noexcept { return *std::get_if<1>(&held_); }
  /// The value; undefined if the call failed.
  T& operator*() & noexcept { return *std::get_if<0>(&held_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&held_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&held_)); }
  T* operator->() noexcept { return std::get_if<0>(&held_); }
  const T* operator->() const noexcept { return std::get_if<0>(&held_); }
  /// The value; if there is none, throws the failure or, without exceptions, ends the program.
  T& value() & {
    if (!has_value()) detail::raise(km::error(error()));
    return **this;
  }
  const T& value() const& {
    if (!has_value()) detail::raise(km::error(error()));
    return **this;
  }
  T&& value() && {
    if (!has_value()) detail::raise(km::error(error()));
    return std::move(**this);
  }
  /// The value, or `other` if the call failed.
  template <class Other>
  T value_or(Other&& other) && {
    return has_value() ? std::move(**this) : static_cast<T>(std::forward<Other>(other));
  }
  template <class Other>
  T value_or(Other&& other) const& {
    return has_value() ? **this : static_cast<T>(std::forward<Other>(other));
  }
  /// Calls `next`, which returns a result, with the value; a failure is passed on.
  template <class Next>
  auto and_then(Next&& next) && -> std::invoke_result_t<Next, T&&> {
    if (!has_value()) return km::error(error());
    return std::forward<Next>(next)(std::move(**this));
  }
#if defined(__cpp_lib_expected)
  /// The result as a std::expected.
  operator std::expected<T, km::error>() && {
    if (!has_value()) return std::unexpected<km::error>(error());
    return std::move(**this);
  }
#endif

 private:
  std::variant<T, km::error> held_;
};

/// The outcome of a call of km::nothrow without a value.
template <>
class [[nodiscard]] result<void> {
 public:
  using value_type = void;
  using error_type = km::error;

  /// Makes a success.
  result() noexcept = default;
  /// Makes a failure.
  result(km::error failure) : failure_(std::move(failure)) {}

  /// True when the call succeeded.
  bool has_value() const noexcept { return !failure_; }
  /// True when the call succeeded.
  explicit operator bool() const noexcept { return has_value(); }
  /// KM_SUCCESS, or the status of the failure.
  km_status status() const noexcept { return failure_ ? failure_->status() : KM_SUCCESS; }
  /// The failure; undefined if the call succeeded.
  const km::error& error() const noexcept { return *failure_; }
  /// Throws the failure if there is one or, without exceptions, ends the program.
  void value() const {
    if (failure_) detail::raise(km::error(*failure_));
  }
  /// Calls `next`, which returns a result; a failure is passed on.
  template <class Next>
  auto and_then(Next&& next) const -> std::invoke_result_t<Next> {
    if (failure_) return km::error(*failure_);
    return std::forward<Next>(next)();
  }
#if defined(__cpp_lib_expected)
  /// The result as a std::expected.
  operator std::expected<void, km::error>() const {
    if (failure_) return std::unexpected<km::error>(*failure_);
    return {};
  }
#endif

 private:
  std::optional<km::error> failure_;
};

namespace detail {

/* The policy by which classes report failures, their parameter P. give() turns a status into the
 * return value of their functions, given() tells whether that is a success. */
#if KM_HAS_EXCEPTIONS
struct throwing {
  static constexpr bool throws = true;
  template <class T>
  using result = T;

  static void give(km_status status) { check(status); }
  template <class T>
  static T give(km_status status, T&& value) {
    check(status);
    return std::forward<T>(value);
  }
  // The outcome of a call with one further status, `other`, that is not a failure and gives false.
  static bool unless(km_status other, km_status status) {
    if (status == other) return false;
    check(status);
    return true;
  }
  template <class T>
  [[noreturn]] static T refuse(error&& failure) {
    raise(std::move(failure));
  }
  template <class T>
  [[noreturn]] static T refuse_source(km_status status, std::string&& log) {
    throw compile_error(status, std::move(log));
  }
  // Keeps the first failure of a chain of calls.
  struct chain {
    void note(km_status status) { check(status); }
    static km_status pending() noexcept { return KM_SUCCESS; }
    static void finish(km_status status) { check(status); }
  };
};
#endif

struct returning {
  static constexpr bool throws = false;
  template <class T>
  using result = km::result<T>;

  static km::result<void> give(km_status status) {
    if (__builtin_expect(status != KM_SUCCESS, 0)) return error(status);
    return {};
  }
  template <class T>
  static km::result<std::decay_t<T>> give(km_status status, T&& value) {
    if (__builtin_expect(status != KM_SUCCESS, 0)) return error(status);
    return std::forward<T>(value);
  }
  static km::result<bool> unless(km_status other, km_status status) {
    if (status == other) return false;
    return give(status, true);
  }
  template <class T>
  static km::result<T> refuse(error&& failure) {
    return std::move(failure);
  }
  template <class T>
  static km::result<T> refuse_source(km_status status, std::string&& log) {
    return km::error(compile_error(status, std::move(log)));
  }
  class chain {
   public:
    void note(km_status status) {
      if (status != KM_SUCCESS && !first_) first_ = error(status);
    }
    km_status pending() const noexcept { return first_ ? first_->status() : KM_SUCCESS; }
    km::result<void> finish(km_status status) {
      if (first_) return *std::exchange(first_, std::nullopt);
      return give(status);
    }

   private:
    std::optional<error> first_;
  };
};

template <class P, class T>
using result_of = typename P::template result<T>;

// Reads the value that a C call returns by its last parameter.
template <class P, class T, class Call, class... Arguments>
result_of<P, T> read(Call call, Arguments... arguments) {
  T value{};
  const km_status status = call(arguments..., &value);
  return P::give(status, std::move(value));
}

// Reads the structure that a C call fills by its last parameter, with its struct_size set.
template <class P, class T, class Call, class... Arguments>
result_of<P, T> read_struct(Call call, Arguments... arguments) {
  T value{};
  value.struct_size = sizeof value;
  const km_status status = call(arguments..., &value);
  return P::give(status, std::move(value));
}

// Reads the text of a C call whose last parameters are buffer, capacity and size.
template <class P, class Call, class... Arguments>
result_of<P, std::string> text(Call call, Arguments... arguments) {
  std::string found;
  const km_status status =
      read_text([&](char* buffer, std::uint64_t capacity,
                    std::uint64_t* size) { return call(arguments..., buffer, capacity, size); },
                found);
  return P::give(status, std::move(found));
}

// Sets struct_size in structures that have it.
template <class T, class = void>
struct sized {
  static void set(T&) noexcept {}
};
template <class T>
struct sized<T, std::void_t<decltype(T::struct_size)>> {
  static void set(T& value) noexcept { value.struct_size = sizeof value; }
};

// Reads the list of a C call whose last parameters are capacity, elements and count, and that fills
// at most `capacity` elements.
template <class P, class T, class Call, class Parent>
result_of<P, std::vector<T>> list(Call call, Parent parent) {
  std::vector<T> found;
  km_status status;
  for (;;) {
    std::uint64_t count = 0;
    status = call(parent, 0, nullptr, &count);
    if (status != KM_SUCCESS || count == 0) break;
    found.resize(static_cast<std::size_t>(count));
    sized<T>::set(found.front());
    const std::uint64_t capacity = count;
    status = call(parent, capacity, found.data(), &count);
    if (status != KM_SUCCESS) break;
    if (count > capacity) continue;  // another thread added elements meanwhile
    found.resize(static_cast<std::size_t>(count));
    break;
  }
  return P::give(status, std::move(found));
}

}  // namespace detail

}  // namespace v1
}  // namespace km

#endif
