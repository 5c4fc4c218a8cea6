// Textures and surfaces in the runtime, and the operations on them that generated code calls
// (ImageRuntime::image).
#pragma once

#include <cstdint>

#include "simt/abi.h"
#include "simt/machine/machine_facts.h"

namespace km::simt {

/// The format of a channel in memory.
enum class ChannelKind : uint8_t {
  u8,
  u16,
  u32,
  s8,
  s16,
  s32,
  f16,
  f32,
};
constexpr uint32_t bytes_of(ChannelKind kind) {
  switch (kind) {
    case ChannelKind::u8:
    case ChannelKind::s8:
      return 1;
    case ChannelKind::u16:
    case ChannelKind::s16:
    case ChannelKind::f16:
      return 2;
    default:
      return 4;
  }
}

/// The conversion of a channel by a read: unchanged, as a fraction of its largest value, or from
/// sRGB.
enum class ReadMode : uint8_t { element, normalized, srgb };
/// The values are those of CUaddress_mode.
enum class AddressMode : uint8_t { wrap, clamp, mirror, border };

constexpr uint32_t kMostImageLevels = 17;
constexpr uint32_t kChannels = 4;
/// The unit of a coordinate's fraction and of the weights of a fetch, whose sum is this number.
constexpr int32_t kWeightOne = 256;

/// One level of a mipmap, or all of an image without one.
struct ImageLevel {
  uint64_t address;
  uint64_t row_bytes, layer_bytes;  // distances of rows, and of layers or planes
  uint32_t width, height, depth;    // size in texels; 1 for unused dimensions
  uint32_t reserved;
};

/// A texture or surface. It must not change while code can use its handle.
struct Image {
  ImageLevel levels[kMostImageLevels];
  uint32_t level_count;
  uint32_t layers;  // 1 without layers; six per cube of a cube map
  uint32_t channels, texel_bytes;
  ChannelKind kind;
  ReadMode read;
  bool is_surface, is_normalized, is_cube, filters, filters_levels;
  uint8_t dimensions;  // dimensions of a layer, 1 to 3
  AddressMode address[3];
  uint8_t reserved[3];
  float level_bias, least_level, most_level;
  uint32_t border[kChannels];  // in the form of a fetch's result: bits of a float or integer
  // The results of the queries txq and suq.
  uint32_t channel_order, channel_type;
};

enum class ImageOperation : uint8_t {
  fetch,
  gather,   // tld4
  load,     // suld
  store,    // sust
  reduce,   // sured
  query,    // txq, suq
  is_kind,  // istypep
};
enum class ImageReduction : uint8_t { add, min, max, and_, or_ };
/// The treatment of accesses outside of a surface.
enum class ImageBounds : uint8_t { trap, clamp, zero };
enum class ImageQuery : uint8_t {
  width,
  height,
  depth,
  channel_type,
  channel_order,
  normalized,
  array_size,
  level_count,
  samples,
  unnormalized,
  filter,
  address_0,
  address_1,
  address_2,
  memory_layout,
};
/// The mipmap level that a fetch reads.
enum class LevelChoice : uint8_t { base, given, gradients };

/// One form of an instruction, a constant of the object. The lanes' operands are passed in memory,
/// with 128 bytes per slot.
struct ImageForm {
  ImageOperation operation = ImageOperation::fetch;
  uint8_t dimensions = 0;  // 1 to 3
  bool is_layered = false, is_cube = false;
  bool integer_coordinates = false, has_offsets = false;
  // Results are halves: one in the low bits, or two per word.
  bool halves = false, packed_halves = false;
  LevelChoice level = LevelChoice::base;
  uint8_t component = 0;                    // component that a gather reads
  uint8_t element_bytes = 0, elements = 0;  // for surfaces: the size of an access is their product
  bool is_formatted = false;                // sust.p, sured.p: coordinates count texels
  bool is_signed = false;                   // sured: signed comparison
  ImageReduction reduction = ImageReduction::add;
  ImageBounds bounds = ImageBounds::trap;
  ImageQuery query = ImageQuery::width;
  bool wants_surface = false;  // istypep: asks for a surface, not a texture
  KernelSet kernel_set = KernelSet::plain;
  // Lanes of a packet: 8, 16 or 32; further elements of a slot are undefined.
  uint8_t lanes = kWarpLanes;
  uint32_t line = 0;  // in the PTX text
};

/// Operand slots of 32 lanes each; results overwrite the first ones.
namespace image_slot {
constexpr uint32_t kLayer = 0, kX = 1, kY = 2, kZ = 3, kLevel = 4, kGradients = 5, kOffsets = 11;
constexpr uint32_t kData = 5;  // data of stores and reductions: up to 16 bytes, as words
constexpr uint32_t kCount = 14;
}  // namespace image_slot
using ImageSlot = uint32_t[kWarpLanes];

/// Extends RuntimeTable by the entry for textures and surfaces; LaunchRecord::runtime points to
/// one.
struct ImageRuntime {
  RuntimeTable base;
  /// Runs the form's operation for the active `lanes`: on `handle`, or on each lane's element of
  /// `handles` if that is not null. Operands and results of 32 lanes are in `slots`.
  void (*image)(BlockState*, const ImageForm* form, uint64_t handle, const uint64_t* handles,
                uint32_t lanes, ImageSlot* slots);
};

// Faults of accesses to images, in addition to those of FaultKind.
/// The handle is invalid, or its image is not of the kind that the code accesses.
constexpr auto kNoImage = static_cast<FaultKind>(0x100);
/// An access outside of a surface with the mode .trap.
constexpr auto kOutsideImage = static_cast<FaultKind>(0x101);

}  // namespace km::simt
