#include "core/memory/rows.h"

#include <cinttypes>

#include "base/assert.h"
#include "base/text.h"

namespace km {
namespace {

Error too_large(const char* what) {
  return make_error(KM_ERROR_OUT_OF_BOUNDS, "the rows of the %s reach beyond 2^64 bytes", what);
}

// Computes the extent of `rows` rows; false if it does not fit 64 bits.
bool extent_of(uint64_t rows, uint64_t pitch_bytes, uint64_t width_bytes, uint64_t* out_bytes) {
  KM_ASSERT(rows != 0 && width_bytes <= pitch_bytes, "rows have been checked not to overlap");
  uint64_t last = 0;
  return !__builtin_mul_overflow(rows - 1, pitch_bytes, &last) &&
         !__builtin_add_overflow(last, width_bytes, out_bytes);
}

Result<Layout3d> make_layout(const km_copy_3d& shape, uint64_t offset_bytes, uint64_t pitch_bytes,
                             uint64_t layer_rows, const char* what) {
  Layout3d layout{offset_bytes, pitch_bytes != 0 ? pitch_bytes : shape.width_bytes,
                  layer_rows != 0 ? layer_rows : shape.height, 0};
  if (layout.pitch_bytes < shape.width_bytes) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "%s_pitch_bytes is %" PRIu64 ", less than the width of %s", what,
                      layout.pitch_bytes, counted(shape.width_bytes, "byte").c_str());
  }
  if (layout.layer_rows < shape.height) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "%s_layer_rows is %" PRIu64 ", less than the height of %" PRIu64, what,
                      layout.layer_rows, shape.height);
  }
  uint64_t rows = 0, end = 0;
  if (shape.width_bytes == 0 || shape.height == 0 || shape.depth == 0) return layout;
  if (__builtin_mul_overflow(shape.depth - 1, layout.layer_rows, &rows) ||
      __builtin_add_overflow(rows, shape.height, &rows) ||
      !extent_of(rows, layout.pitch_bytes, shape.width_bytes, &layout.extent_bytes) ||
      __builtin_add_overflow(offset_bytes, layout.extent_bytes, &end)) {
    return too_large(what);
  }
  return layout;
}

bool is_tight(const Copy3d& shape, const Layout3d& layout) {
  const bool rows = shape.height * shape.depth == 1 || layout.pitch_bytes == shape.width_bytes;
  return rows && (shape.depth == 1 || layout.layer_rows == shape.height);
}

// The rows of one side of a copy in the order of their addresses.
class Rows {
 public:
  Rows(uint64_t address, const Copy3d& shape, const Layout3d& layout)
      : layer_(address), row_(address), shape_(shape), layout_(layout) {}
  bool at_end() const { return layers_ == shape_.depth; }
  uint64_t begin() const { return row_; }
  uint64_t end() const { return row_ + shape_.width_bytes; }
  void next() {
    row_ += layout_.pitch_bytes;
    if (++rows_ < shape_.height) return;
    rows_ = 0;
    ++layers_;
    layer_ += layout_.pitch_bytes * layout_.layer_rows;
    row_ = layer_;
  }

 private:
  uint64_t layer_, row_, rows_ = 0, layers_ = 0;
  const Copy3d& shape_;
  const Layout3d& layout_;
};

bool overlap(const Copy3d& shape, uint64_t destination, uint64_t source) {
  if (destination >= source + shape.source.extent_bytes ||
      source >= destination + shape.destination.extent_bytes) {
    return false;
  }
  Rows to(destination, shape, shape.destination), from(source, shape, shape.source);
  while (!to.at_end() && !from.at_end()) {
    if (to.begin() < from.end() && from.begin() < to.end()) return true;
    if (to.begin() < from.begin()) {
      to.next();
    } else {
      from.next();
    }
  }
  return false;
}

}  // namespace

Result<Copy3d> Copy3d::make(const km_copy_3d& shape) {
  Copy3d copy{shape.width_bytes, shape.height, shape.depth, {}, {}};
  KM_ASSIGN(copy.destination,
            make_layout(shape, shape.destination_offset_bytes, shape.destination_pitch_bytes,
                        shape.destination_layer_rows, "destination"));
  KM_ASSIGN(copy.source, make_layout(shape, shape.source_offset_bytes, shape.source_pitch_bytes,
                                     shape.source_layer_rows, "source"));
  return copy;
}

kmb_copy_3d Copy3d::native(uint64_t to, uint64_t from) const {
  return {to,
          from,
          KMB_SPACE_DEVICE,
          KMB_SPACE_DEVICE,
          width_bytes,
          height,
          depth,
          destination.pitch_bytes,
          destination.layer_rows,
          source.pitch_bytes,
          source.layer_rows};
}

bool is_onto_itself(const Copy3d& shape, uint64_t destination, uint64_t source) {
  return destination == source && shape.destination.pitch_bytes == shape.source.pitch_bytes &&
         (shape.depth == 1 || shape.destination.layer_rows == shape.source.layer_rows);
}

Status require_rows_apart(const Copy3d& shape, const DevicePlace& destination,
                          const DevicePlace& source) {
  if (is_onto_itself(shape, destination.address, source.address)) return {};
  if (shape.is_empty() || !overlap(shape, destination.address, source.address)) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "rows of source 0x%" PRIx64 " and destination 0x%" PRIx64 " overlap",
                    source.address, destination.address);
}

bool Copy3d::is_flat() const { return is_tight(*this, destination) && is_tight(*this, source); }

Result<Fill2d> Fill2d::make(uint64_t pitch_bytes, uint32_t value, uint32_t value_size_bytes,
                            uint64_t width_count, uint64_t height) {
  KM_ASSIGN(const uint64_t width, fill_size(width_count, value_size_bytes));
  Fill2d fill{
      pitch_bytes != 0 ? pitch_bytes : width, value, value_size_bytes, width_count, height, 0};
  if (fill.pitch_bytes < width || fill.pitch_bytes % value_size_bytes != 0) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "pitch_bytes is %" PRIu64 "; expected a multiple of %u, at least %" PRIu64,
                      pitch_bytes, value_size_bytes, width);
  }
  if (width == 0 || height == 0) return fill;
  if (!extent_of(height, fill.pitch_bytes, width, &fill.extent_bytes)) return too_large("fill");
  return fill;
}

}  // namespace km
