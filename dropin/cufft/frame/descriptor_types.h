// Types of cuFFT's interface that its headers take from other headers of NVIDIA.
#pragma once

#include "dropin/library/cuda_types.h"

extern "C" {

constexpr int kMostDescriptorDevices = 64;

/// The parts of an array: one for each device.
struct cudaXtDesc {
  int version;
  int nGPUs;
  int GPUs[kMostDescriptorDevices];
  void* data[kMostDescriptorDevices];
  size_t size[kMostDescriptorDevices];
  void* cudaXtState;
};

enum libFormat : int32_t {
  LIB_FORMAT_CUFFT = 0x0,
  LIB_FORMAT_UNDEFINED = 0x1,
};

/// An array of a library, as programs read it.
struct cudaLibXtDesc {
  int version;
  cudaXtDesc* descriptor;
  libFormat library;
  int subFormat;
  void* libDescriptor;
};

}  // extern "C"
