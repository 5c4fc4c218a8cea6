// Weak definitions of all names that NVIDIA's library exports, so that a program that looks them
// all up can start. An implemented function's definition replaces the weak one. The headers with
// prototypes are not included, because the parameters are not read.
#pragma once

#include <cstdint>

#include "base/arch/symbol_name.h"

namespace km::cudart {

int32_t not_supported(const char* function) noexcept;  // not_supported.cpp

}  // namespace km::cudart

// Both names of functions that have one of their own (generated/calls*.def) are defined.
#define KM_CUDART_FUNCTION(symbol)                                                 \
  extern "C" [[gnu::weak]] int32_t own_##symbol() KM_SYMBOL_NAME("km_" #symbol);   \
  extern "C" int32_t own_##symbol() { return km::cudart::not_supported(#symbol); } \
  extern "C" [[gnu::weak]] int32_t symbol() { return km::cudart::not_supported(#symbol); }
