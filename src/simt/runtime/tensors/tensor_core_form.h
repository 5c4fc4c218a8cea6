// The instructions of tensor memory, as generated code passes them to the runtime.
#pragma once

#include <cstdint>

#include "simt/abi.h"
#include "simt/runtime/tensors/tensor_storage.h"

namespace km::simt {

enum class TensorMove : uint8_t { load, store, load_reduce };
/// The shapes of loads and stores: lanes and bits of a column group.
enum class TensorMoveShape : uint8_t { _16x64b, _16x128b, _16x256b, _16x32bx2, _32x32b };
enum class TensorReduction : uint8_t { none, u32, s32, f32 };

/// One form of tcgen05.ld or tcgen05.st; a constant of the object.
struct TensorMoveForm {
  uint32_t line = 0;        // line in the PTX text
  int32_t half_offset = 0;  // .16x32bx2: columns from the first half to the second
  uint16_t registers = 0;   // of each lane, without the result of a reduction
  TensorMove move = TensorMove::load;
  TensorMoveShape shape = TensorMoveShape::_32x32b;
  TensorReduction reduction = TensorReduction::none;
  bool packs = false;  // two 16-bit columns for each register
  bool finds_maximum = false, by_magnitude = false, keeps_nan = false;
  uint8_t reserved[3] = {};
};
/// The register of a lane that gets the result of a reduction.
constexpr uint32_t kTensorReduction = 128, kTensorRegisters = 129;

enum class TensorManagement : uint8_t { allocate, release, relinquish };
/// One form of tcgen05.alloc, dealloc or relinquish_alloc_permit.
struct TensorManagementForm {
  uint32_t line = 0;
  TensorManagement operation = TensorManagement::allocate;
  bool pair = false;  // of both blocks of a pair
  uint8_t reserved[2] = {};
};

enum class TensorCoreOperation : uint8_t { multiply, copy, shift };
enum class TensorCoreKind : uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4, mxf4, mxf4nvf4 };
/// The shapes of copies: lanes and bits.
enum class TensorCopyShape : uint8_t { _128x256b, _4x256b, _128x128b, _64x128b, _32x128b };
/// The elements of a copy's source: as they are, or narrow ones that get a byte each.
enum class TensorCopyFormat : uint8_t { plain, six_bits, four_bits };

/// One form of tcgen05.mma, cp or shift.
struct TensorCoreForm {
  uint32_t line = 0;
  TensorCoreOperation operation = TensorCoreOperation::multiply;
  bool pair = false;  // .cta_group::2
  // multiply
  TensorCoreKind kind = TensorCoreKind::f16;
  bool a_in_tensor = false, weight_stationary = false, sparse = false;
  bool disables_lanes = false, zeros_columns = false;
  uint8_t scale_d = 0;     // D is multiplied by 2 to the power of -scale_d first
  uint8_t block_size = 0;  // elements for each scale; 0: not scaled
  bool wide = false;       // the processor has AVX2 and FMA
  // copy
  TensorCopyShape shape = TensorCopyShape::_128x256b;
  TensorCopyFormat format = TensorCopyFormat::plain;
  bool pairs_02_13 = false;  // .warpx2::02_13, otherwise .warpx2::01_23
  uint8_t reserved[2] = {};
};

constexpr uint32_t kTensorMaskWords = 8;

/// The operands of all lanes.
struct TensorCoreSlots {
  uint64_t target[kWarpLanes];       // D, or where a copy or shift goes: tensor addresses
  uint64_t a[kWarpLanes];            // descriptor or tensor address; a copy's source
  uint64_t b[kWarpLanes];            // descriptor
  uint64_t instruction[kWarpLanes];  // descriptor
  uint64_t metadata[kWarpLanes];     // tensor address
  uint64_t scale_a[kWarpLanes], scale_b[kWarpLanes];  // tensor addresses
  uint64_t adds[kWarpLanes];                          // 0: D is not read
  uint64_t zero_columns[kWarpLanes];                  // descriptor
  uint64_t disabled[kTensorMaskWords][kWarpLanes];    // lanes of D that are not written
};

}  // namespace km::simt
