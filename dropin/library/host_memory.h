// The only way to access host memory through a program's pointers. The memory need not be mapped:
// reads and writes report bad addresses instead of faulting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "base/arch/constants.h"

namespace km::library {

namespace detail {

/// Copies through the CPU plugin's fault handler if a driver that has one is loaded, and otherwise
/// by a system call.
bool copy_host(void* to, const void* from, size_t size_bytes) noexcept;

}  // namespace detail

/// True for memory on the stack page of the caller's frame, which is certainly mapped.
inline bool is_beside_frame(const void* place, size_t size_bytes) {
  constexpr uintptr_t kPageBytes = arch::kLeastPageBytes;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto at = reinterpret_cast<uintptr_t>(place);
  return (here ^ at) < kPageBytes && at % kPageBytes + size_bytes <= kPageBytes;
}

/// Returns false if the program's memory at `from` cannot be read.
inline bool read_host(void* to, const void* from, size_t size_bytes) noexcept {
  if (is_beside_frame(from, size_bytes)) {
    std::memcpy(to, from, size_bytes);
    return true;
  }
  return detail::copy_host(to, from, size_bytes);
}
/// Returns false if the program's memory at `to` cannot be written.
inline bool write_host(void* to, const void* from, size_t size_bytes) noexcept {
  if (is_beside_frame(to, size_bytes)) {
    std::memcpy(to, from, size_bytes);
    return true;
  }
  return detail::copy_host(to, from, size_bytes);
}

/// Reads a value through a program's pointer.
template <class T>
bool read_host(const T* from, T* to) noexcept {
  return read_host(to, from, sizeof(T));
}
template <class T>
bool write_host(T* to, const T& value) noexcept {
  return write_host(static_cast<void*>(to), &value, sizeof(T));
}

/// Reads a program's string without its terminating zero. Returns false if it cannot be read to its
/// end or is longer than `most_bytes`.
bool read_host_text(const char* text, size_t most_bytes, std::string* out);

/// Reads `count` strings of a program's list. Returns how many were read: fewer than `count` if the
/// next one cannot be read or is longer than `most_bytes`.
size_t read_host_words(const char* const* words, size_t count, size_t most_bytes,
                       std::vector<std::string>* out);

/// The bytes of a log that a program gets: none of an empty log, otherwise a zero at the end.
inline std::string_view with_zero(const std::string& log) {
  return log.empty() ? std::string_view() : std::string_view(log.c_str(), log.size() + 1);
}

}  // namespace km::library
