// Small helpers for messages.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace km {

/// Insertions, deletions and replacements between two words.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, empty when none is near enough to be what was meant.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

/// "0x7f00..." with no leading zeros.
std::string hex(unsigned long long value);

}  // namespace km
