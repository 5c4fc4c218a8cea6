// The one door to what a program's pointers name in the host's memory. None of it has to be there:
// a read or a write says so, and the process goes on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/arch/constants.h"

namespace km::library {

namespace detail {

/// The copy by the CPU plugin's fault handler once a driver with one is loaded, else by the system.
bool copy_host(void* to, const void* from, size_t size_bytes) noexcept;

/// True for memory on the page of the stack that the caller's frame is on: it is there.
inline bool is_beside_frame(const void* place, size_t size_bytes) {
  constexpr uintptr_t kPageBytes = arch::kLeastPageBytes;
  const auto here = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  const auto at = reinterpret_cast<uintptr_t>(place);
  return (here ^ at) < kPageBytes && at % kPageBytes + size_bytes <= kPageBytes;
}

}  // namespace detail

/// False when `from`, which is the program's, cannot be read.
inline bool read_host(void* to, const void* from, size_t size_bytes) noexcept {
  if (detail::is_beside_frame(from, size_bytes)) {
    std::memcpy(to, from, size_bytes);
    return true;
  }
  return detail::copy_host(to, from, size_bytes);
}
/// False when `to`, which is the program's, cannot be written.
inline bool write_host(void* to, const void* from, size_t size_bytes) noexcept {
  if (detail::is_beside_frame(to, size_bytes)) {
    std::memcpy(to, from, size_bytes);
    return true;
  }
  return detail::copy_host(to, from, size_bytes);
}

/// One value that the program points to.
template <class T>
bool read_host(const T* from, T* to) noexcept {
  return read_host(to, from, sizeof(T));
}
template <class T>
bool write_host(T* to, const T& value) noexcept {
  return write_host(static_cast<void*>(to), &value, sizeof(T));
}

/// A text of the program's, without its zero. False when it cannot be read to its end, or is longer
/// than `most_bytes`.
bool read_host_text(const char* text, size_t most_bytes, std::string* out);

}  // namespace km::library
