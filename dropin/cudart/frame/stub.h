// Weak definitions of all names that NVIDIA's library exports, so that a program that looks them
// all up can start. An implemented function's definition replaces the weak one. The headers with
// prototypes are not included, because the parameters are not read.
#pragma once

#include <cstdint>

namespace km::cudart {

int32_t not_supported(const char* function) noexcept;  // not_supported.cpp

}  // namespace km::cudart

#define KM_CUDART_FUNCTION(symbol) \
  extern "C" [[gnu::weak]] int32_t symbol() { return km::cudart::not_supported(#symbol); }
