// The runtime functions for instructions of compute capability 9.0.
#pragma once

#include "simt/runtime/device_call.h"

namespace km::simt {

struct WgmmaForm;
struct TensorCopyForm;
struct TensorCopySlots;

/// Extends DeviceRuntime by these entries; LaunchRecord::runtime points to one.
struct TensorRuntime {
  DeviceRuntime base;
  /// wgmma.mma_async of a warp with its registers (runtime/tensors/warpgroup.h); if `adds` is 0,
  /// the sums start at zero.
  void (*wgmma)(BlockState*, const WgmmaForm* form, uint32_t* registers, uint64_t a_descriptor,
                uint64_t b_descriptor, uint32_t adds);
  /// A copy or reduction by a tensor map for each of `lanes` (runtime/tensors/tensor_copy.h).
  void (*copy_tensor)(BlockState*, const TensorCopyForm* form, uint32_t lanes,
                      TensorCopySlots* slots);
  /// tensormap.replace for each of `lanes`: `field` is a TensorMapField, `ordinal` the dimension;
  /// addresses and values are arrays over all lanes.
  void (*replace_tensor_field)(BlockState*, uint32_t field, uint32_t ordinal, uint32_t lanes,
                               uint32_t line, const uint64_t* addresses, const uint64_t* values);
};

}  // namespace km::simt
