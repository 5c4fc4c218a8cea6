// A launch in the form that graphs keep and streams take.
#pragma once

#include <cstdint>
#include <span>

#include "core/kernel/launch_shape.h"
#include "core/memory/submission.h"
#include "core/module/module.h"

namespace km {

/// A launch whose arguments and shape were checked.
struct KernelLaunch {
  Function& function;
  const LaunchShape& shape;
  const void* arguments;  // in the layout of the kernel's parameters, with addresses filled in
  uint64_t arguments_size_bytes;
  // The memory that each parameter is known to point into; null: none.
  std::span<Memory* const> memories;
  std::span<MemoryUse> uses = {};  // the ordered uses of that memory
  uint64_t update_handle = 0;      // for a node of a graph: see KernelOperation
};

}  // namespace km
