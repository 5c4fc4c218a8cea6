// Small text helpers for messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace km {

/// The edit distance of two words: insertions, deletions, replacements and swaps of neighbours. It
/// takes time proportional to the product of the lengths.
size_t edit_distance(std::string_view a, std::string_view b);

/// The candidate most similar to `word`; empty if none is close enough to be the intended word.
std::string_view nearest_word(std::string_view word, std::span<const std::string_view> candidates);

/// " Did you mean 'x'?" with the candidate most similar to `word`; empty if none is close enough.
std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

/// The parts between separators; one more than there are separators.
std::vector<std::string> split(std::string_view text, char separator);

/// "1 argument", "2 arguments": the count with its noun, which is passed in the singular.
std::string counted(uint64_t count, std::string_view noun);

/// "0x7f00..." without leading zeros.
std::string hex(unsigned long long value);

/// A kernel's name in its source: "image::blur" for "_ZN5image4blurEv", "scale<float>" for an
/// instance of a template. A name that is not mangled is returned unchanged.
std::string source_name(const std::string& mangled);

/// The index of the kernel that `word` most likely means: its name in the PTX is similar, or its
/// name in the source, with or without namespaces and template arguments. Nothing if none is
/// similar.
std::optional<size_t> nearest_kernel(std::string_view word, std::span<const std::string> names);

}  // namespace km
