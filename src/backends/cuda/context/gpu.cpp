#include "backends/cuda/context/gpu.h"

#include "backends/cuda/driver/status.h"

namespace km::cuda {

Status Gpu::read() {
  KM_TRY(check(driver().cuDeviceGet(&device_, static_cast<int>(ordinal_))));
  KM_ASSIGN(const int pools, attribute(cu::CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED));
  KM_ASSIGN(const int pageable, attribute(cu::CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS));
  has_pools_ = pools != 0;
  reads_pageable_ = pageable != 0;
  return {};
}

Result<int> Gpu::attribute(cu::CUdevice_attribute attribute) const {
  int value = 0;
  KM_TRY(check(driver().cuDeviceGetAttribute(&value, attribute, device_)));
  return value;
}

}  // namespace km::cuda
