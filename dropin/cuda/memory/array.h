// CUDA arrays: rows of texels in device memory, with mipmap levels.
#pragma once

#include <array>
#include <vector>

#include "backend/images.h"
#include "core/memory/memory.h"
#include "dropin/cuda/context/context.h"

namespace km::dropin {

class Array;
class MipmappedArray;

template <>
struct HandleOf<Array> {
  using Type = cu::CUarray;
};
template <>
struct HandleOf<MipmappedArray> {
  using Type = cu::CUmipmappedArray;
};
extern Table table_of_Array, table_of_MipmappedArray;
template <>
inline HandleTable& table_of<Array>() {
  return table_of_Array.table;
}
template <>
inline HandleTable& table_of<MipmappedArray>() {
  return table_of_MipmappedArray.table;
}

/// The texels of an array format. The channel kinds have the numbers of kmb_image::channel_kind.
struct TexelFormat {
  uint32_t kind = 0, channel_bytes = 0, channels = 0;
  bool is_fraction = false;  // the format itself makes texels normalized values
  uint32_t texel_bytes() const { return channel_bytes * channels; }
  bool is_float() const { return kind >= 6; }
};
/// CUDA_ERROR_INVALID_VALUE if the format is unknown, CUDA_ERROR_NOT_SUPPORTED if it is compressed
/// or a video format.
CUresult read_format(CUarray_format format, unsigned channels, TexelFormat* out);

/// An array's shape, with its extent in texels; unused dimensions are 1.
struct ArrayShape {
  CUDA_ARRAY3D_DESCRIPTOR description{};
  TexelFormat texels;
  uint32_t dimensions = 0, layers = 1;  // a cube has six layers
  uint32_t width = 0, height = 1, depth = 1;
  bool is_layered() const { return (description.Flags & 1) != 0; }
  bool is_cube() const { return (description.Flags & 4) != 0; }
  bool may_be_surface() const { return (description.Flags & 2) != 0; }
  /// The number of layers, or of depth planes if there are no layers.
  uint64_t slices() const { return layers > 1 ? layers : depth; }
  /// The shape of a mipmap level.
  ArrayShape level(uint32_t index) const;
  static CUresult read(const CUDA_ARRAY3D_DESCRIPTOR& description, ArrayShape* out);
};

class Array final : public Handled {
 public:
  static constexpr bool kEndWaits = true;

  Array(Context& context, Ref<km::Memory> memory, const ArrayShape& shape,
        const kmb_image_level& place, bool is_level)
      : context_(Ref<Context>::share(context)),
        memory_(std::move(memory)),
        shape_(shape),
        place_(place),
        is_level_(is_level) {}
  static CUresult create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& description,
                         CUarray* out);

  Context& context() const { return *context_; }
  const Ref<km::Memory>& memory() const { return memory_; }
  const ArrayShape& shape() const { return shape_; }
  const kmb_image_level& place() const { return place_; }
  /// True for an array that a mipmap owns.
  bool is_level() const { return is_level_; }
  /// Releases the memory and the handle's reference; queued work that uses the array completes.
  void handle_gone() override;

 private:
  const Ref<Context> context_;
  const Ref<km::Memory> memory_;
  const ArrayShape shape_;
  const kmb_image_level place_;
  const bool is_level_;
};

class MipmappedArray final : public Handled {
 public:
  static constexpr bool kEndWaits = true;

  MipmappedArray(Context& context, Ref<km::Memory> memory, const ArrayShape& shape,
                 std::vector<Ref<Array>> levels)
      : context_(Ref<Context>::share(context)),
        memory_(std::move(memory)),
        shape_(shape),
        levels_(std::move(levels)) {}
  static CUresult create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& description,
                         uint32_t levels, CUmipmappedArray* out);

  Context& context() const { return *context_; }
  const Ref<km::Memory>& memory() const { return memory_; }
  const ArrayShape& shape() const { return shape_; }
  const std::vector<Ref<Array>>& levels() const { return levels_; }
  void handle_gone() override;

 private:
  const Ref<Context> context_;
  const Ref<km::Memory> memory_;
  const ArrayShape shape_;
  const std::vector<Ref<Array>> levels_;
};

/// A box of an array, as rows in memory.
struct ArrayRows {
  CUdeviceptr address = 0;
  size_t pitch_bytes = 0, layer_rows = 0;
  /// Finds a box that begins at `at`: bytes, rows, layers or planes. CUDA_ERROR_INVALID_VALUE if
  /// the box exceeds the array.
  CUresult find(CUarray array, const size_t (&at)[3], size_t width_bytes, size_t height,
                size_t depth);
};

/// Finds the live array that contains a device address, and the position in it: bytes, rows, layers
/// or planes. Programs do not know arrays' addresses, but graph nodes of copies hold them. Returns
/// false if there is none.
bool find_array(CUdeviceptr address, CUarray* out, size_t (&at)[3]);

/// Ends the handles of a context's arrays.
void retire_arrays(const Context& context);

}  // namespace km::dropin
