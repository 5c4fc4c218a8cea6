// Stores that bypass the caches. The folder of each architecture implements them.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include "base/arch/x86_64/nontemporal.h"
#elif defined(__aarch64__)
#include "base/arch/aarch64/nontemporal.h"
#endif

namespace km::arch {

constexpr uint64_t kLineBytes = 64;

/// Copies kLineBytes by non-temporal stores; `to` is aligned to as many. store_fence() makes them
/// visible to other threads.
void copy_line_nontemporal(void* to, const void* from);

}  // namespace km::arch
