// Weak definitions of names that NVIDIA's library exports, so that a program that asks for all of
// them can start: what is implemented elsewhere takes their place. The headers with the prototypes
// are left out, because none of the parameters is looked at.
#pragma once

#include <cstdint>

namespace km::cudart {

int32_t not_supported(const char* function) noexcept;  // not_supported.cpp

}  // namespace km::cudart

#define KM_CUDART_FUNCTION(symbol) \
  extern "C" [[gnu::weak]] int32_t symbol() { return km::cudart::not_supported(#symbol); }
