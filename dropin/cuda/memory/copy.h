// Copies between host memory and device memory.
#pragma once

#include "core/queue/copy_3d.h"
#include "dropin/cuda/memory/place.h"
#include "dropin/cuda/stream/stream.h"

namespace km::dropin {

enum class Side : uint8_t { kHost, kDevice, kUnified };

/// A copy of contiguous bytes. For kUnified the address decides whether the memory is the host's.
struct Copy {
  Side to_side, from_side;
  uint64_t to, from;
  uint64_t size_bytes;
};
CUresult queue_copy(Stream& stream, Copy copy);
/// Queues the copy in the handle's stream; with `waits` it returns when the copy has completed.
CUresult run_copy(CUstream handle, const Copy& copy, bool waits);

/// One side of a CUDA_MEMCPY3D.
struct Side3d {
  Side side = Side::kHost;
  uint64_t address = 0;  // address of the first byte
  size_t pitch_bytes = 0, layer_rows = 0;
};

/// A copy of rows and layers with both sides resolved.
struct Sides3d {
  Copy3d shape;
  Side3d to, from;
  Place to_place, from_place;  // for sides in device memory
  CUresult read(Context& context, const CUDA_MEMCPY3D& copy);
};
CUresult run_copy_3d(CUstream handle, const CUDA_MEMCPY3D& copy, bool waits);
CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY2D& copy);

/// A fill of `height` rows of `width` elements.
struct Fill {
  CUdeviceptr to;
  size_t pitch_bytes;
  uint32_t value, value_size_bytes;
  size_t width, height;
};
CUresult run_fill(CUstream handle, const Fill& fill, bool waits);

}  // namespace km::dropin
