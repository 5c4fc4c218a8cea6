// Texts in the arrays of C structures.
#pragma once

#include <algorithm>
#include <string_view>

namespace km {

/// Copies a text into an array, with a zero behind it; what does not fit is left out.
template <size_t Size>
void copy_text(char (&to)[Size], std::string_view text) {
  const size_t length = std::min(text.size(), Size - 1);
  std::copy_n(text.data(), length, to);
  to[length] = '\0';
}

}  // namespace km
