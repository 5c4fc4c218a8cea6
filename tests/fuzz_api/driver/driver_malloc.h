// The allocation functions of the process, one of whose calls can be made to fail.
#pragma once

#include <cstdint>

namespace km::fuzz {

/// On this thread the allocation after so many gives null; 0: none does.
void fail_malloc(uint64_t after);

}  // namespace km::fuzz
