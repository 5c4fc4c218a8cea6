// Kernel launches: arguments in each form that CUDA accepts.
#pragma once

#include <cstddef>
#include <vector>

#include "core/launch/launch.h"
#include "core/launch/occupancy.h"
#include "dropin/cuda/module/module.h"
#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

/// A kernel's arguments in the layout of its parameters.
class Arguments {
 public:
  /// Reads the arguments from `params` (a pointer to each one) or, if that is null, from `extra` (a
  /// buffer).
  CUresult read(const Function& function, void** params, void** extra);
  const void* data() const { return bytes_; }
  uint64_t size_bytes() const { return size_bytes_; }

 private:
  CUresult read_buffer(const Function& function, void** extra);

  std::byte inline_[512];
  std::vector<std::byte> more_;
  std::byte* bytes_ = inline_;
  uint64_t size_bytes_ = 0;
};

struct LaunchCall {
  CUfunction function;
  LaunchShape shape;
  CUstream stream;
  void** params;
  void** extra;
};
CUresult launch(const LaunchCall& call);
/// Checks that a cluster of this shape can run; CUDA_ERROR_INVALID_CLUSTER_SIZE if not.
CUresult check_cluster(const km::Function& function, const LaunchShape& shape);

/// The limits and requirements from which occupancy is computed.
struct Occupancy {
  MultiprocessorLimits limits;
  KernelNeeds needs;
  CUresult read(const Function& function);
  /// The number of blocks of this size that are resident on one multiprocessor at a time.
  CUresult active_blocks(int block_size, uint64_t dynamic_bytes, int* out) const;
};

}  // namespace km::dropin
