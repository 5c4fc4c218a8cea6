// Annotations by which sanitizers follow switches between stacks. Other builds compile them to
// nothing.
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

/// Announces a switch to the stack [low, low + size). `save` receives the state of the current
/// stack; null if that stack ends.
inline void before_switch([[maybe_unused]] void** save, [[maybe_unused]] const void* low,
                          [[maybe_unused]] size_t size) {
#if defined(KM_ASAN)
  __sanitizer_start_switch_fiber(save, low, size);
#endif
}

/// Completes a switch, on the new stack. `saved` is the state that before_switch() stored when the
/// stack was last left; null for a new stack.
inline void after_switch([[maybe_unused]] void* saved, [[maybe_unused]] const void** old_low,
                         [[maybe_unused]] size_t* old_size) {
#if defined(KM_ASAN)
  __sanitizer_finish_switch_fiber(saved, old_low, old_size);
#endif
}

/// Announces that a stack was left with frames on it, whose poison would cause false reports when
/// it is used again.
inline void stack_abandoned([[maybe_unused]] void* low, [[maybe_unused]] size_t size) {
#if defined(KM_ASAN)
  __asan_unpoison_memory_region(low, size);
#endif
}

// ThreadSanitizer keeps a call stack per fiber. In other builds, fibers are null.
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
