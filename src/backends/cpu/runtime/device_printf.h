// Device printf and assertion texts: everything that the kernel's pointers lead to is copied under
// guard before it is looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace km::cpu {

/// The zero-terminated text at a device address, cut after `limit` bytes; nothing when there is no
/// memory.
std::optional<std::string> read_text(const char* text, uint64_t limit);

/// Formats one device printf. Nothing when a pointer leads nowhere; then *out_address is where.
std::optional<std::string> format_device_printf(const char* format, const void* arguments,
                                                int32_t* out_count, uint64_t* out_address);

}  // namespace km::cpu
