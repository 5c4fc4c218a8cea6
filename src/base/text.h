// Small helpers for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace km {

/// Insertions, deletions, replacements and swaps of neighbours between two words.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate nearest to `word`, empty when none is near enough to be what was meant.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

/// " Did you mean 'x'?" with the candidate nearest to `word`; empty when none is near enough.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

/// "1 argument", "2 arguments": the count with its noun, which is given in the singular.
std::string counted(uint64_t count, std::string_view noun);

/// "0x7f00..." with no leading zeros.
std::string hex(unsigned long long value);

/// The name that a kernel has in its source: "image::blur" for "_ZN5image4blurEv", "scale<float>"
/// for an instance of a template. A name that is not mangled stays as it is.
std::string source_name(const std::string& mangled);

/// The index of the kernel that `word` means, most likely: its name in the PTX is near, or that in
/// its source, with or without namespaces and template arguments. Nothing when none is.
std::optional<size_t> nearest_kernel(std::string_view word, std::span<const std::string> names);

}  // namespace km
