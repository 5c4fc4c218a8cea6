// A launch as graphs keep it and streams take it.
#pragma once

#include <cstdint>
#include <span>

#include "core/kernel/launch_shape.h"
#include "core/memory/submission.h"
#include "core/module/module.h"

namespace km {

/// A launch that has been checked.
struct KernelLaunch {
  Function& function;
  const LaunchShape& shape;
  const void* arguments;  // laid out, with all addresses in place
  uint64_t arguments_size_bytes;
  std::span<Memory* const> memories;  // what it is known to use; null: nothing
  std::span<MemoryUse> uses = {};     // the same of memory whose uses are ordered
  uint64_t update_handle = 0;         // of a node: see KernelOperation
};

}  // namespace km
