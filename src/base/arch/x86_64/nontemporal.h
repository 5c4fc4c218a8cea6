// base/arch/nontemporal.h for x86-64.
#pragma once

namespace km::arch {

inline void copy_line_nontemporal(void* to, const void* from) {
  asm volatile(
      "movups (%1), %%xmm0\n movups 16(%1), %%xmm1\n movups 32(%1), %%xmm2\n movups 48(%1), "
      "%%xmm3\n"
      "movntps %%xmm0, (%0)\n movntps %%xmm1, 16(%0)\n movntps %%xmm2, 32(%0)\n"
      "movntps %%xmm3, 48(%0)" ::"r"(to),
      "r"(from)
      : "xmm0", "xmm1", "xmm2", "xmm3", "memory");
}

}  // namespace km::arch
