// Text of profiles: what the table, the page and its timeline share.
#pragma once

#include <string>

#include "core/profiler/profiler.h"

namespace km {

/// Appends what printf would print, up to 511 bytes.
[[gnu::format(printf, 2, 3)]] void append_format(std::string* out, const char* format, ...);

/// `amount` in 1e9 per second of `ns`, "-" for no amount.
std::string giga_per_second(uint64_t amount, uint64_t ns);
/// "25%" of a kernel, "-" of others.
std::string occupancy_text(const Profiler::Row& row);
/// "1.25 ms": a time with three digits that count, in the unit that fits.
std::string time_text(uint64_t ns);
/// "3.5 MiB".
std::string bytes_text(uint64_t size_bytes);
/// The text with the characters that HTML gives a meaning written as entities.
std::string escaped(const std::string& text);

/// Appends the timeline of a profile, and its memory in use, as HTML. `number` tells the profiles
/// of a page apart.
void append_timeline(const Profiler::Snapshot& profile, size_t number, std::string* out);

}  // namespace km
