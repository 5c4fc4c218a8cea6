// Findings of the checker about calls of the host: addresses that are none of the context's, frees
// that free nothing, and memory that is alive in the end.
#pragma once

#include <cstdint>
#include <string>

#include "kernelmill/check.h"

namespace km {

class Context;

/// A call that names memory which it must not.
struct BadCall {
  const char* kind;     // of the tool "memory": "double-free" ...
  std::string message;  // a sentence
  uint64_t address = 0, size_bytes = 0;
};
/// Makes a finding of a call of the host, if the context's checker looks for them. The call's own
/// status stays as it is. Never fails: without memory there is no finding.
[[gnu::noinline]] void report_bad_call(Context& context, const BadCall& call) noexcept;

/// Has the memory of a context that is alive when the process ends reported, if its checker looks
/// for it.
void report_leaked_memory_at_exit(Context& context);
/// Forgets a context, which is being destroyed.
void forget_leak_reports(Context& context);
/// Reports the memory of a context that is alive.
void report_leaked_memory(Context& context) noexcept;

}  // namespace km
