#include "base/arch/processor.h"

#include <cstdio>

namespace km::arch {

/// Processors of this architecture have numbers and no name: those of the maker and of the design.
std::string processor_name() {
  constexpr const char* kPath = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";
  std::FILE* const file = std::fopen(kPath, "re");
  if (file == nullptr) return {};
  unsigned long long number = 0;
  const bool is_read = std::fscanf(file, "%llx", &number) == 1;
  std::fclose(file);
  if (!is_read) return {};
  char text[64];
  std::snprintf(text, sizeof text, "AArch64 implementer 0x%02x part 0x%03x",
                static_cast<unsigned>(number >> 24 & 0xff),
                static_cast<unsigned>(number >> 4 & 0xfff));
  return text;
}

}  // namespace km::arch
