// Ranges of NVTX as ranges in the traces of our driver.
#pragma once

#include <cstdint>
#include <string>

namespace km::nvtx {

/// NVTX_NO_PUSH_POP_TRACKING.
inline constexpr int kNoTracking = -2;

/// Opens a range of the calling thread; its level in the domain, from 0.
int push(uint64_t domain, const std::string& name);
/// Closes the thread's last one; its level, or kNoTracking when there is none.
int pop(uint64_t domain);
/// A range that any thread may end; 0 when nothing records.
uint64_t start(uint64_t domain, const std::string& name);
void end(uint64_t range);
/// A range without length.
void mark(uint64_t domain, const std::string& name);

uint64_t create_domain(std::string name);
void destroy_domain(uint64_t domain);
uint64_t register_string(std::string text);
/// Empty for what is no registered string.
std::string registered_string(uint64_t id);

/// UTF-8 of what NVTX has as wide characters; empty for null.
std::string narrow(const wchar_t* text);

}  // namespace km::nvtx
