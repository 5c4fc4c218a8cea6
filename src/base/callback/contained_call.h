// Functions of the host program, called so that nothing but their return reaches the library's own
// frames. A function that ends its thread (pthread_exit, a cancellation that it allows, what Python
// does to threads while it ends) would unwind them, and destructors and exported functions are
// frames that must not be unwound. The thread goes on instead until the library's frames are
// complete, and ends then (docs/guide/threads.md).
#pragma once

#include <atomic>
#include <memory>
#include <type_traits>

namespace km {

/// How a function of the host's came to its end.
enum class CallEnd {
  returned,
  threw,         // a C++ exception, which is dropped
  ended_thread,  // it has begun to end the thread; the library's frames are left as they are
};

/// Calls function(argument), with cancellation disabled. A child that it forks and returns in ends.
/// `function` itself has no destructors to run and leads straight to the host's function.
CallEnd call_contained(void (*function)(void*), void* argument) noexcept;

/// call_contained() for a lambda.
template <class Function>
CallEnd call_contained(Function&& function) noexcept {
  using Plain = std::remove_reference_t<Function>;
  return call_contained([](void* itself) { (*static_cast<Plain*>(itself))(); },
                        const_cast<void*>(static_cast<const void*>(std::addressof(function))));
}

namespace detail {
/// Threads that have yet to end: one word that every call can look at.
extern std::atomic<unsigned> ending_threads;
void end_this_thread();
}  // namespace detail

/// Ends the thread if a contained function has begun to. Its caller's frames are unwound: they must
/// allow it, and have no destructors to run.
inline void end_thread_if_begun() {
  if (detail::ending_threads.load(std::memory_order_relaxed) != 0) [[unlikely]]
    detail::end_this_thread();
}

/// True if a contained function has begun to end this thread. The caller then ends it by itself, or
/// lets it continue.
bool take_thread_end();

}  // namespace km
