#include "backends/cpu/command.h"

#include <new>

namespace km::cpu {

uint8_t* Command::allocate_params(uint64_t size_bytes) {
  if (size_bytes <= kInlineParamBytes) return params;
  large_params = new (std::nothrow) uint8_t[size_bytes];
  return large_params;
}

void Command::release() {
  if (staging != nullptr) {
    delete[] staging;
    staging = nullptr;
  }
  if (large_params != nullptr) {
    delete[] large_params;
    large_params = nullptr;
  }
  failure = nullptr;
  marker = nullptr;
}

}  // namespace km::cpu
