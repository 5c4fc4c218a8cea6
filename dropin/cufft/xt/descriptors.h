// Arrays of the Xt functions, on one device.
#pragma once

#include "dropin/cufft/plan/plan.h"

namespace km::cufft {

/// An array that cufftXtMalloc has made.
struct Descriptor {
  cudaXtDesc memory{};
  cudaLibXtDesc described{};  // for the program; its address is the handle
  cu::CUdeviceptr address = 0;
  size_t size_bytes = 0;
  const Driver* driver = nullptr;
};

/// Allocates an array for one side of a plan, or for both.
cufftResult make_descriptor(const Plan& plan, cufftXtSubFormat format, cudaLibXtDesc** out);
cufftResult free_descriptor(cudaLibXtDesc* descriptor);
/// Null unless the pointer is one that make_descriptor() has given; it is not followed.
std::shared_ptr<Descriptor> find_descriptor(const void* pointer);
/// Copies a whole array, and waits for it.
cufftResult copy_descriptor(const Plan& plan, void* to, void* from, cufftXtCopyType type);

}  // namespace km::cufft
