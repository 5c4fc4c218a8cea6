// The calls by which the sanitizers follow a change of stacks. Nothing in other builds.
#pragma once

#include <cstddef>

#include "base/no_sanitize.h"

#if defined(__SANITIZE_ADDRESS__)
#define KM_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define KM_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define KM_TSAN 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define KM_TSAN 1
#endif
#endif

#if defined(KM_ASAN)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if defined(KM_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace km::cpu {

/// Before a switch to the stack [low, low + size). `save` keeps this stack's state; null: it ends.
inline void before_switch([[maybe_unused]] void** save, [[maybe_unused]] const void* low,
                          [[maybe_unused]] size_t size) {
#if defined(KM_ASAN)
  __sanitizer_start_switch_fiber(save, low, size);
#endif
}

/// After a switch, on the new stack. `saved` is what its last before_switch kept (null: fresh).
inline void after_switch([[maybe_unused]] void* saved, [[maybe_unused]] const void** old_low,
                         [[maybe_unused]] size_t* old_size) {
#if defined(KM_ASAN)
  __sanitizer_finish_switch_fiber(saved, old_low, old_size);
#endif
}

/// A stack was abandoned with frames on it: they must not poison its next use.
inline void stack_abandoned([[maybe_unused]] void* low, [[maybe_unused]] size_t size) {
#if defined(KM_ASAN)
  __asan_unpoison_memory_region(low, size);
#endif
}

// ThreadSanitizer keeps a call stack per fiber.
inline void* make_tsan_fiber() {
#if defined(KM_TSAN)
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}
inline void free_tsan_fiber([[maybe_unused]] void* fiber) {
#if defined(KM_TSAN)
  if (fiber != nullptr) __tsan_destroy_fiber(fiber);
#endif
}
inline void* current_tsan_fiber() {
#if defined(KM_TSAN)
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}
inline void switch_tsan_fiber([[maybe_unused]] void* fiber) {
#if defined(KM_TSAN)
  __tsan_switch_to_fiber(fiber, 0);
#endif
}

}  // namespace km::cpu
