#include "base/arch/processor.h"

#include <cpuid.h>

#include <cstring>

namespace km::arch {

std::string processor_name() {
  constexpr unsigned kFirstLeaf = 0x80000002, kLeaves = 3;
  unsigned words[4 * kLeaves] = {};
  for (unsigned i = 0; i < kLeaves; ++i) {
    unsigned* part = words + 4 * i;
    if (!__get_cpuid(kFirstLeaf + i, part, part + 1, part + 2, part + 3)) return {};
  }
  char text[sizeof words + 1] = {};
  std::memcpy(text, words, sizeof words);
  return text;
}

}  // namespace km::arch
