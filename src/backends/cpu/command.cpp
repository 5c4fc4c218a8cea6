#include "backends/cpu/command.h"

#include <new>

namespace km::cpu {

uint8_t* Command::allocate_params(uint64_t size_bytes) {
  if (size_bytes <= kInlineParamBytes) return params;
  large_params.reset(new (std::nothrow) uint8_t[size_bytes]);
  return large_params.get();
}

void Command::release() {
  staging.reset();
  large_params.reset();
  failure = nullptr;
  marker = nullptr;
}

}  // namespace km::cpu
