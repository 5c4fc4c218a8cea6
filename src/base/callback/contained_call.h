// Calls of the host program's functions that contain an unwinding of the thread. A function that
// ends its thread (pthread_exit, a cancellation that it allows, Python's treatment of threads at
// its end) would unwind the library's frames, but destructors and exported functions must not be
// unwound. The call returns instead; the thread ends once the library's frames are complete
// (docs/guide/threads.md).
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>

namespace km {

/// The outcome of a host function.
enum class CallEnd {
  returned,
  threw,         // threw a C++ exception, which is dropped
  ended_thread,  // began to end the thread; the unwinding stopped before the library's frames
};

/// Calls function(argument) with cancellation disabled. A child that the function forks and that
/// returns from it is ended. `function` itself must have no destructors to run and must call the
/// host's function directly.
CallEnd call_contained(void (*function)(void*), void* argument) noexcept;

/// Like call_contained(), for a lambda.
template <class Function>
CallEnd call_contained(Function&& function) noexcept {
  using Plain = std::remove_reference_t<Function>;
  return call_contained([](void* itself) { (*static_cast<Plain*>(itself))(); },
                        const_cast<void*>(static_cast<const void*>(std::addressof(function))));
}

namespace detail {
/// The number of threads that have yet to end. It is one global word, so that a check costs one
/// load.
extern std::atomic<unsigned> ending_threads;
void end_this_thread();
}  // namespace detail

/// Ends the thread if a contained function began to end it. The frames of the caller are unwound,
/// so they must allow that and have no destructors to run.
inline void end_thread_if_begun() {
  if (detail::ending_threads.load(std::memory_order_relaxed) != 0) [[unlikely]]
    detail::end_this_thread();
}

/// True if a contained function began to end this thread. The caller takes over the decision to end
/// it or to continue.
bool take_thread_end();

}  // namespace km
