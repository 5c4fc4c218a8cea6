// base/arch/nontemporal.h for AArch64.
#pragma once

namespace km::arch {

inline void copy_line_nontemporal(void* to, const void* from) {
  asm volatile(
      "ldp q0, q1, [%1]\n ldp q2, q3, [%1, #32]\n"
      "stnp q0, q1, [%0]\n stnp q2, q3, [%0, #32]" ::"r"(to),
      "r"(from)
      : "v0", "v1", "v2", "v3", "memory");
}

}  // namespace km::arch
