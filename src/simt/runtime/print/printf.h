// The arguments of a device printf, for runtimes that have to copy them from memory that they do
// not trust before they call format_printf().
#pragma once

#include <cstdint>
#include <vector>

namespace km::simt {

struct PrintfArgument {
  enum class Kind : uint8_t {
    word32,  // 4 bytes, aligned to 4
    word64,  // 8 bytes, aligned to 8
    string,  // a pointer of 8 bytes to text, read up to its end or `most_bytes`
  };
  Kind kind = Kind::word32;
  uint64_t most_bytes = UINT64_MAX;
  bool most_from_previous = false;  // the previous argument limits the text, unless it is negative
};

/// Exactly the arguments that format_printf() reads for this format, in order.
std::vector<PrintfArgument> printf_arguments(const char* format);

}  // namespace km::simt
