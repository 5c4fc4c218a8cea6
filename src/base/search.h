// Searches long texts.
#pragma once

#include <cstring>
#include <string_view>

namespace km {

/// Like text.find(word, at). std::string_view looks for the word's first letter, which is slow if
/// that is as frequent as a dot is in PTX.
inline size_t find_word(std::string_view text, std::string_view word, size_t at = 0) {
  if (at > text.size()) return std::string_view::npos;
  const void* const found = memmem(text.data() + at, text.size() - at, word.data(), word.size());
  if (found == nullptr) return std::string_view::npos;
  return static_cast<size_t>(static_cast<const char*>(found) - text.data());
}

}  // namespace km
