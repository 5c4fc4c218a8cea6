// The texts of device printf and assertions. A kernel's pointers may be invalid, so everything that
// they point to is copied by guarded copies before it is used.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace km::cpu {

/// Copies the zero-terminated text at a device address, up to `limit` bytes. Returns nothing if the
/// memory is inaccessible.
std::optional<std::string> read_text(const char* text, uint64_t limit);

/// Formats a device printf. If a pointer is invalid, returns nothing and stores the inaccessible
/// address.
std::optional<std::string> format_device_printf(const char* format, const void* arguments,
                                                int32_t* out_count, uint64_t* out_address);

}  // namespace km::cpu
