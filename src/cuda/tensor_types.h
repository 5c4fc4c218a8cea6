// Structures of the CUDA driver for tensor maps and multicast objects.
#pragma once

#include "cuda/driver.h"

namespace km::cu {

struct CUtensorMap {
  alignas(64) cuuint64_t opaque[16];
};
struct CUmulticastObjectProp {
  unsigned numDevices;
  size_t size;
  unsigned long long handleTypes, flags;
};

}  // namespace km::cu
