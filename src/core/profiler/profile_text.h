// Text that the table, the page and the timeline of profiles share.
#pragma once

#include <string>

#include "core/profiler/profiler.h"

namespace km {

/// Appends like printf, at most 511 bytes.
[[gnu::format(printf, 2, 3)]] void append_format(std::string* out, const char* format, ...);

/// The rate of `amount` over `ns` in 1e9 per second; "-" if the amount is 0.
std::string giga_per_second(uint64_t amount, uint64_t ns);
/// The occupancy of a kernel, "25%"; "-" for other rows.
std::string occupancy_text(const Profiler::Row& row);
/// A time with three significant digits in a fitting unit: "1.25 ms".
std::string time_text(uint64_t ns);
/// A size with three significant digits in a binary unit: "3.5 MiB".
std::string bytes_text(uint64_t size_bytes);

/// Appends a profile's timeline and memory use as HTML. `number` distinguishes the profiles of a
/// page.
void append_timeline(const Profiler::Snapshot& profile, size_t number, std::string* out);

}  // namespace km
