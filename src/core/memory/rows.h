// Shapes of copies and fills of rows and layers that are not contiguous.
#pragma once

#include "core/memory/place.h"

namespace km {

/// One side of a copy, with all defaults filled in.
struct Layout3d {
  uint64_t offset_bytes = 0;
  uint64_t pitch_bytes = 0;   // from row to row
  uint64_t layer_rows = 0;    // from layer to layer
  uint64_t extent_bytes = 0;  // from the first byte to the end of the last row
};

/// A valid copy: its rows do not overlap each other, and no size exceeds 64 bits.
struct Copy3d {
  uint64_t width_bytes = 0, height = 0, depth = 0;
  Layout3d destination, source;

  static Result<Copy3d> make(const km_copy_3d& shape);
  bool is_empty() const { return width_bytes == 0 || height == 0 || depth == 0; }
  uint64_t size_bytes() const { return width_bytes * height * depth; }
  /// True if both sides are contiguous, so that one contiguous copy suffices.
  bool is_flat() const;
  /// The form that backends take, with both sides on the device.
  kmb_copy_3d native(uint64_t destination, uint64_t source) const;
};
/// Fails if a row of the source overlaps one of the destination.
Status require_rows_apart(const Copy3d& shape, const DevicePlace& destination,
                          const DevicePlace& source);

/// The place that one side of a copy covers in a slice.
inline Result<DevicePlace> place_rows_in_slice(Context& context, Slice& slice,
                                               const Layout3d& layout, const char* what) {
  return place_in_slice(context, slice, layout.offset_bytes, layout.extent_bytes, what);
}

/// A fill of rows with one value.
struct Fill2d {
  uint64_t pitch_bytes = 0;
  uint32_t value = 0;
  uint32_t value_size_bytes = 0;
  uint64_t width_count = 0, height = 0;
  uint64_t extent_bytes = 0;

  static Result<Fill2d> make(uint64_t pitch_bytes, uint32_t value, uint32_t value_size_bytes,
                             uint64_t width_count, uint64_t height);
};

}  // namespace km
