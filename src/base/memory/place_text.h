// The place of an address relative to an allocation, in words.
#pragma once

#include <cstdint>
#include <string>

namespace km {

/// "in the 1024-byte allocation at 0x7f...", "4 bytes into" it, "4 bytes past the end of" it, or "4
/// bytes before" it.
std::string place_text(uint64_t address, uint64_t begin, uint64_t size_bytes);
/// The distance of an address from an allocation; 0 within it.
uint64_t distance_from(uint64_t address, uint64_t begin, uint64_t size_bytes);

}  // namespace km
