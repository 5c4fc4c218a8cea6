// Threads of the backend, which have names and block asynchronous signals, so that the host's
// threads handle those.
#pragma once

#include <cstdint>
#include <functional>

namespace km {

namespace detail {
extern __thread bool is_engine_thread __attribute__((tls_model("initial-exec")));
}
/// True if start_thread() created this thread.
inline bool on_engine_thread() { return detail::is_engine_thread; }

/// Starts a detached thread. `cpu` is the processor to pin it to (-1: none); `name` has at most 15
/// characters; `body` has `stack_bytes` of stack. Returns false if the system has no more threads.
bool start_thread(const char* name, uint64_t stack_bytes, int cpu, std::function<void()> body);

}  // namespace km
