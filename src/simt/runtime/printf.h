// The arguments that a device printf takes, for runtimes that must copy them out of memory that
// they do not trust before format_printf() reads them.
#pragma once

#include <cstdint>
#include <vector>

namespace km::simt {

struct PrintfArgument {
  enum class Kind : uint8_t {
    word32,  // 4 bytes, aligned to 4
    word64,  // 8 bytes, aligned to 8
    string,  // a pointer, 8 bytes: text up to its end or to `most_bytes`
  };
  Kind kind = Kind::word32;
  uint64_t most_bytes = UINT64_MAX;
  bool most_from_previous = false;  // the argument before this one limits the text, unless negative
};

/// The arguments that format_printf() reads for this format, in order and no others.
std::vector<PrintfArgument> printf_arguments(const char* format);

}  // namespace km::simt
