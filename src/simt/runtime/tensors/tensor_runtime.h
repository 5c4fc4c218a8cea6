// The runtime functions for instructions of compute capabilities 9.0 and 10.0.
#pragma once

#include "simt/runtime/device_call.h"
#include "simt/runtime/tensors/tensor_core_form.h"

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
  /// tcgen05.alloc, which writes a tensor address to `out`, dealloc or relinquish_alloc_permit of a
  /// warp; nothing if `lanes` is 0.
  void (*manage_tensors)(BlockState*, const TensorManagementForm* form, uint32_t lanes,
                         uint32_t columns, uint32_t address, uint64_t out);
  /// tcgen05.ld or st of a warp with its registers (runtime/tensors/tensor_move.h).
  void (*move_tensor)(BlockState*, const TensorMoveForm* form, uint32_t lanes, uint32_t address,
                      uint32_t* registers);
  /// tcgen05.mma, cp or shift of each of `lanes`.
  void (*run_tensor_core)(BlockState*, const TensorCoreForm* form, uint32_t lanes,
                          const TensorCoreSlots* slots);
};

}  // namespace km::simt
