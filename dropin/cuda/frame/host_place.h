// Structures and lists of the host that a program's pointers name. The memory need not be mapped:
// reads and writes report bad addresses instead of faulting.
#pragma once

#include <cstddef>
#include <cstring>

#include "dropin/cuda/frame/call.h"
#include "dropin/library/host_memory.h"
#include "dropin/library/table.h"

namespace km::dropin {

/// The CPU plugin's function for such copies; null if there is no such plugin.
library::CopyHost host_copy_function();

/// Returns false if memory of the host at one of the addresses is not there, or is not writable.
bool copy_host(void* to, const void* from, size_t size_bytes) noexcept;

/// copy_host(), but for what lies on the caller's stack page, which is certainly there: `place` is
/// the program's, `to` or `from`.
inline bool copy_place(void* to, const void* from, const void* place, size_t size_bytes) noexcept {
  if (!library::is_beside_frame(place, size_bytes)) return copy_host(to, from, size_bytes);
  std::memcpy(to, from, size_bytes);
  return true;
}

/// Reads `count` values. CUDA_ERROR_INVALID_VALUE if the program's memory is not there.
template <class T>
CUresult read_places(const char* name, const T* from, size_t count, T* out) {
  const size_t size_bytes = count * sizeof(T);
  if (from == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "%s is null", name);
  if (copy_place(out, from, from, size_bytes)) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "%s: %zu bytes cannot be read at %p", name, size_bytes,
              static_cast<const void*>(from));
}
template <class T>
CUresult read_place(const char* name, const T* from, T* out) {
  return read_places(name, from, 1, out);
}

/// Writes a value. CUDA_ERROR_INVALID_VALUE if the program's memory is not there.
template <class T>
CUresult write_place(const char* name, T* to, const T& value) {
  if (to == nullptr) return fail(CUDA_ERROR_INVALID_VALUE, "%s is null", name);
  if (copy_place(to, &value, to, sizeof value)) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "%s: %zu bytes cannot be written at %p", name, sizeof value,
              static_cast<void*>(to));
}

/// Fails with CUDA_ERROR_INVALID_VALUE if a value cannot be read from the place and written to it:
/// for results of calls that cannot be undone.
template <class T>
CUresult require_place(const char* name, T* place) {
  T value;
  CU_TRY(read_place(name, place, &value));
  return write_place(name, place, value);
}

}  // namespace km::dropin
