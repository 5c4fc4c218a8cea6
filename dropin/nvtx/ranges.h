// NVTX ranges as ranges in the traces of Kernelmill's driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace km::nvtx {

/// NVTX_NO_PUSH_POP_TRACKING.
inline constexpr int kNoTracking = -2;

/// Opens a range on the calling thread; returns its nesting level in the domain, from 0.
int push(uint64_t domain, const std::string& name);
/// Closes the thread's innermost range; returns its level, or kNoTracking if none is open.
int pop(uint64_t domain);
/// Opens a range that any thread may close; returns 0 if no trace is recorded.
uint64_t start(uint64_t domain, const std::string& name);
void end(uint64_t range);
/// Records an instantaneous event.
void mark(uint64_t domain, const std::string& name);

uint64_t create_domain(std::string name);
void destroy_domain(uint64_t domain);
uint64_t register_string(std::string text);
/// Empty if the id is not a registered string.
std::string registered_string(uint64_t id);

/// Converts NVTX's wide characters to UTF-8, up to `most_bytes` of them; empty if the program's
/// memory cannot be read up to the text's end.
std::string narrow(const wchar_t* text, size_t most_bytes);

}  // namespace km::nvtx
