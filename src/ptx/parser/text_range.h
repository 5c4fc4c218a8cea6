// A part of a text that is read as if it stood alone, with the places of its tokens in the text.
#pragma once

#include <cstddef>
#include <cstdint>

namespace km::ptx {

/// The bytes [begin, end) of a text; `line` and `column` are the place of the first one.
struct TextRange {
  size_t begin = 0, end = 0;
  uint32_t line = 1, column = 1;
};

}  // namespace km::ptx
