// Launches: arguments in the forms that CUDA has for them.
#pragma once

#include <cstddef>
#include <vector>

#include "core/launch/launch.h"
#include "core/launch/occupancy.h"
#include "dropin/cuda/module/module.h"
#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

/// A kernel's arguments, laid out.
class Arguments {
 public:
  /// From `params` (a pointer to each), or else from `extra` (a buffer).
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
/// That a cluster of this size can be; CUDA_ERROR_INVALID_CLUSTER_SIZE.
CUresult check_cluster(const km::Function& function, const LaunchShape& shape);

/// The numbers that occupancy is computed from.
struct Occupancy {
  MultiprocessorLimits limits;
  KernelNeeds needs;
  CUresult read(const Function& function);
  /// How many blocks of this size one multiprocessor holds at a time.
  CUresult active_blocks(int block_size, uint64_t dynamic_bytes, int* out) const;
};

}  // namespace km::dropin
