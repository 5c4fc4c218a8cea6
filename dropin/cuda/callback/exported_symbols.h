// The functions that libcuda.so.1 exports, by name.
#pragma once

#include <span>

#include "cuda/driver.h"

namespace km::dropin {

struct ExportedSymbol {
  const char* base;    // the name without its version and kind of default stream
  const char* suffix;  // "_ptsz", "_ptds" or ""
  int version;         // of CUDA, that brought this form
  void* address;
};

std::span<const ExportedSymbol> exported_symbols();

}  // namespace km::dropin
