// Files of /proc and /sys, which the kernel writes when they are read.
#pragma once

#include <cstdint>
#include <optional>
#include <sstream>
#include <string>

namespace km {

/// Reads a file of /proc or /sys; an absent one reads as empty.
std::istringstream system_file(const std::string& path);
/// The first line of the file; nullopt if there is none.
std::optional<std::string> first_line(const std::string& path);
/// The number that begins the file; nullopt if none does.
std::optional<uint64_t> number_in(const std::string& path);

}  // namespace km
