#include "simt/runtime/tensors/tensor_copy.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "simt/runtime/tensors/tensor_reduce.h"

namespace km::simt {
namespace {

constexpr uint32_t kLineBytes = 16, kLowLineBits = 7;
constexpr uint64_t kBoxAlignment = 128;
constexpr uint32_t kMostRowBytes = 256 * sizeof(uint64_t);  // of a valid map

/// Rounds to the nearest tf32, ties to even.
uint32_t round_to_tf32(uint32_t bits) {
  if ((bits & 0x7f800000) == 0x7f800000) {
    return (bits & 0x7fffff) != 0 ? 0x7fffffff : bits;
  }
  return (bits + 0xfff + (bits >> 13 & 1)) & ~uint32_t{0x1fff};
}

/// Moves one box between a tensor and shared memory, row by row. The elements of a row are
/// contiguous in shared memory.
class BoxCopy {
 public:
  BoxCopy(const TensorMap& map, TensorOperation operation, const TensorPlace& place)
      : map_(map),
        operation_(operation),
        place_(place),
        element_bytes_(map.element_bytes()),
        row_bytes_(static_cast<uint32_t>(map.row_bytes())),
        swizzle_units_(map.swizzle_bytes() / kLineBytes) {}

  /// Moves a row whose innermost elements start at coordinates[0]; if it returns false, fault() has
  /// the reason.
  bool move_row(uint64_t row, const int64_t* coordinates) {
    const bool skips = map_.mode == static_cast<uint8_t>(TensorMode::tiled) && map_.interleave != 0;
    step_ = skips ? map_.steps[0] : 1;
    first_ = coordinates[0];
    bool inside = true;
    address_ = map_.address;
    for (uint32_t i = 1; i < map_.rank(); ++i) {
      inside =
          inside && coordinates[i] >= 0 && static_cast<uint64_t>(coordinates[i]) < map_.sizes[i];
      address_ += static_cast<uint64_t>(coordinates[i]) * map_.strides_bytes[i - 1];
    }
    find_elements(inside);
    if (place_.may_access != nullptr) {
      const bool is_apart = step_ != 1 && operation_ == TensorOperation::store;
      if (is_apart) return store_elements(row);
      if (!check_row(row)) return false;
    }
    for (uint32_t offset = 0; offset < row_bytes_; offset += kLineBytes) {
      move_line(line_at(row * row_bytes_ + offset), offset / element_bytes_);
    }
    return true;
  }

  const TensorFault& fault() const { return fault_; }

 private:
  /// Determines the elements [begin_, end_) of the row that are within the tensor.
  void find_elements(bool inside) {
    const int64_t count = row_bytes_ / element_bytes_, size = static_cast<int64_t>(map_.sizes[0]);
    begin_ = end_ = 0;
    if (!inside) return;
    begin_ = std::clamp<int64_t>((step_ - 1 - first_) / step_, 0, count);
    if (first_ >= 0) begin_ = 0;
    end_ = first_ >= size ? 0 : std::clamp<int64_t>((size - first_ + step_ - 1) / step_, 0, count);
    end_ = std::max(begin_, end_);
  }

  uint64_t address_of(int64_t index) const {
    return address_ + static_cast<uint64_t>((first_ + index * step_) * int64_t{element_bytes_});
  }

  /// Checks and stores the elements of a row between which others lie, each before the next one is
  /// checked: a store that is told is made before another one is.
  bool store_elements(uint64_t row) {
    for (int64_t i = begin_; i < end_; ++i) {
      if (!check_elements(row, i, i + 1)) return false;
      give_element(address_of(i), content_);
    }
    return true;
  }

  /// Checks the elements of a row, one by one if others lie between them.
  bool check_row(uint64_t row) {
    if (step_ == 1) return begin_ == end_ || check_elements(row, begin_, end_);
    for (int64_t i = begin_; i < end_; ++i) {
      if (!check_elements(row, i, i + 1)) return false;
    }
    return true;
  }

  bool check_elements(uint64_t row, int64_t begin, int64_t end) {
    const uint64_t from = address_of(begin);
    const auto size_bytes = static_cast<uint64_t>(end - begin) * element_bytes_;
    const uint8_t* const content =
        operation_ == TensorOperation::store ? gather(row, begin, size_bytes) : nullptr;
    if (place_.may_access(place_.context, from, size_bytes, content)) return true;
    fault_ = {FaultKind::illegal_address, from, size_bytes};
    return false;
  }

  /// Copies a part of a row from shared memory, where its lines may be anywhere in the box.
  const uint8_t* gather(uint64_t row, int64_t begin, uint64_t size_bytes) {
    const uint64_t first = row * row_bytes_ + static_cast<uint64_t>(begin) * element_bytes_;
    for (uint64_t i = 0; i < size_bytes; ++i) {
      content_[i] = line_at(first + i - (first + i) % kLineBytes)[(first + i) % kLineBytes];
    }
    return content_;
  }

  uint8_t* line_at(uint64_t offset_bytes) const {
    const uint64_t at = place_.box + offset_bytes;
    const uint64_t window = reinterpret_cast<uint64_t>(place_.shared_window);
    const uint64_t row = (at - window) >> kLowLineBits;
    const uint64_t swizzled = (at - window) ^ (row & (swizzle_units_ - 1)) * kLineBytes;
    return reinterpret_cast<uint8_t*>(window + swizzled);
  }

  /// Moves the 16 bytes of a row that start with element `index`.
  void move_line(uint8_t* line, int64_t index) {
    const int64_t count = kLineBytes / element_bytes_;
    const bool whole = index >= begin_ && index + count <= end_ && step_ == 1;
    if (operation_ == TensorOperation::load) {
      alignas(16) uint8_t content[kLineBytes];
      if (whole) {
        std::memcpy(content, reinterpret_cast<const void*>(address_of(index)), kLineBytes);
      } else {
        load_elements(content, index, count);
      }
      convert(content, index, count);
      std::memcpy(line, content, kLineBytes);
    } else if (whole && operation_ == TensorOperation::store) {
      std::memcpy(reinterpret_cast<void*>(address_of(index)), line, kLineBytes);
    } else {
      for (int64_t i = std::max(index, begin_); i < std::min(index + count, end_); ++i) {
        give_element(address_of(i), line + (i - index) * element_bytes_);
      }
    }
  }

  void load_elements(uint8_t* content, int64_t index, int64_t count) const {
    fill(content);
    for (int64_t i = std::max(index, begin_); i < std::min(index + count, end_); ++i) {
      std::memcpy(content + (i - index) * element_bytes_,
                  reinterpret_cast<const void*>(address_of(i)), element_bytes_);
    }
  }

  /// Sets the elements outside of the tensor.
  void fill(uint8_t* content) const {
    std::memset(content, 0, kLineBytes);
    if (map_.fill == static_cast<uint8_t>(TensorFill::zeros)) return;
    // The fill value is a positive NaN with all fraction bits set.
    std::memset(content, 0xff, kLineBytes);
    for (uint32_t end = element_bytes_; end <= kLineBytes; end += element_bytes_) {
      content[end - 1] = 0x7f;
    }
  }

  /// Converts elements of types that have another format in the tensor than in shared memory.
  void convert(uint8_t* content, int64_t index, int64_t count) const {
    const TensorElement type = map_.element_type();
    const bool flushes = type == TensorElement::f32_ftz || type == TensorElement::tf32_ftz;
    const bool rounds = type == TensorElement::tf32 || type == TensorElement::tf32_ftz;
    if (!flushes && !rounds) return;
    for (int64_t i = std::max(index, begin_); i < std::min(index + count, end_); ++i) {
      uint32_t bits = 0;
      uint8_t* const at = content + (i - index) * element_bytes_;
      std::memcpy(&bits, at, sizeof bits);
      if (flushes && (bits & 0x7f800000) == 0) bits &= 0x80000000;
      if (rounds) bits = round_to_tf32(bits);
      std::memcpy(at, &bits, sizeof bits);
    }
  }

  void give_element(uint64_t to, const uint8_t* from) const {
    if (operation_ == TensorOperation::store) {
      std::memcpy(reinterpret_cast<void*>(to), from, element_bytes_);
      return;
    }
    uint64_t value = 0;
    std::memcpy(&value, from, element_bytes_);
    reduce_element(operation_, map_.element_type(), reinterpret_cast<void*>(to), value);
  }

  const TensorMap& map_;
  const TensorOperation operation_;
  const TensorPlace& place_;
  const uint32_t element_bytes_, row_bytes_, swizzle_units_;
  int64_t step_ = 1, first_ = 0;    // position along the row
  int64_t begin_ = 0, end_ = 0;     // range of its elements within the tensor
  uint64_t address_ = 0;            // address of the row's coordinate 0
  uint8_t content_[kMostRowBytes];  // what a checked store writes
  TensorFault fault_;
};

/// Moves all rows of a box of a tiled map, inner dimensions first.
bool move_tile(BoxCopy& copy, const TensorMap& map, const int64_t* start) {
  uint32_t index[kMostTensorDimensions] = {};
  uint64_t rows = 1;
  for (uint32_t i = 1; i < map.rank(); ++i) rows *= map.box_count(i);
  for (uint64_t row = 0; row < rows; ++row) {
    int64_t coordinates[kMostTensorDimensions] = {start[0]};
    for (uint32_t i = 1; i < map.rank(); ++i) {
      coordinates[i] = start[i] + int64_t{index[i]} * map.steps[i];
    }
    if (!copy.move_row(row, coordinates)) return false;
    for (uint32_t i = 1; i < map.rank() && ++index[i] == map.box_count(i); ++i) index[i] = 0;
  }
  return true;
}

/// Moves the pixels of an im2col map, from the start of the copy, in the order of the bounding
/// box's rows, then of images.
bool move_pixels(BoxCopy& copy, const TensorMap& map, const int64_t* start,
                 const uint32_t* offsets) {
  const uint32_t dimensions = map.rank() - 2;
  int64_t base[kMostTensorDimensions];
  std::copy_n(start, map.rank(), base);
  for (uint64_t pixel = 0; pixel < map.pixels; ++pixel) {
    int64_t coordinates[kMostTensorDimensions];
    std::copy_n(base, map.rank(), coordinates);
    for (uint32_t i = 0; i < dimensions; ++i) coordinates[i + 1] += offsets[i];
    if (!copy.move_row(pixel, coordinates)) return false;
    uint32_t i = 0;
    for (; i < dimensions; ++i) {
      const auto size = static_cast<int64_t>(map.sizes[i + 1]);
      base[i + 1] += map.steps[i + 1];
      if (base[i + 1] < size + map.upper_corner[i]) break;
      base[i + 1] = map.lower_corner[i];
    }
    if (i == dimensions) ++base[dimensions + 1];
  }
  return true;
}

/// Makes a box's content in the place's image, and reports it before the box gets it. Swizzled
/// lines stay within multiples of a box's alignment, which other bytes share.
template <class Move>
TensorFault load_by_image(const TensorPlace& place, uint64_t size_bytes, const Move& move) {
  const uint64_t before = place.box - reinterpret_cast<uint64_t>(place.shared_window);
  const uint64_t reach = (size_bytes + kBoxAlignment - 1) / kBoxAlignment * kBoxAlignment;
  const uint64_t moved = std::min(reach, place.shared_bytes - before);
  void* const box = reinterpret_cast<void*>(place.box);
  std::memcpy(place.image, box, moved);
  TensorPlace own = place;
  own.box = reinterpret_cast<uint64_t>(place.image);
  own.shared_window = reinterpret_cast<uint8_t*>(own.box - before);
  const TensorFault fault = move(own);
  if (fault.kind != FaultKind::none) return fault;
  place.report_box(place.context, size_bytes, place.image);
  std::memcpy(box, place.image, moved);
  return {};
}

/// True if the box lies in the shared memory whose size is known.
bool has_box(const TensorPlace& place, uint64_t size_bytes) {
  const uint64_t before = place.box - reinterpret_cast<uint64_t>(place.shared_window);
  return before <= place.shared_bytes && size_bytes <= place.shared_bytes - before;
}

template <class Problem>
TensorFault bad_map(uint64_t address, Problem problem) {
  return {kBadTensorMap, address, static_cast<uint64_t>(problem)};
}

/// The fault if the instruction cannot use the map.
TensorFault check_use(const TensorCopyForm& form, const TensorMap& map, uint64_t address) {
  const TensorMapCheck found = check(map);
  if (found.problem != TensorMapProblem::none) return bad_map(address, found.problem);
  if (map.rank() != form.rank) return bad_map(address, TensorCopyProblem::other_rank);
  if (map.mode != static_cast<uint8_t>(form.mode)) {
    return bad_map(address, TensorCopyProblem::other_mode);
  }
  if (is_reduction(form.operation) && !reduces(form.operation, map.element_type())) {
    return bad_map(address, TensorCopyProblem::operation_of_type);
  }
  return {};
}

}  // namespace

const char* tensor_problem_text(uint64_t problem) {
  switch (static_cast<TensorCopyProblem>(problem)) {
    case TensorCopyProblem::other_rank:
      return "it has another number of dimensions than the instruction";
    case TensorCopyProblem::other_mode:
      return "the instruction is for a tiled map and this is an im2col map, or the reverse";
    case TensorCopyProblem::operation_of_type:
      return "the reduction has no operation for its type of elements";
    case TensorCopyProblem::out_of_range:
      return "tensormap.replace names a dimension that there is not, or a value that fits nowhere";
  }
  return text_of(static_cast<TensorMapProblem>(problem));
}

TensorFault copy_tensor(const TensorCopyForm& form, const TensorCopySlots& slots, uint32_t lane,
                        const TensorPlace& place, uint64_t* out_size_bytes) {
  // The alignment of kernel parameters, which usually contain the maps.
  constexpr uint64_t kMapAlignment = 8;
  const uint64_t at = slots.maps[lane];
  if (at % kMapAlignment != 0) return {FaultKind::misaligned, at, kMapAlignment};
  const bool is_checked = place.may_access != nullptr;
  if (is_checked && !place.may_access(place.context, at, sizeof(TensorMap), nullptr)) {
    return {FaultKind::illegal_address, at, sizeof(TensorMap)};
  }
  TensorMap map;
  std::memcpy(static_cast<void*>(&map), reinterpret_cast<const void*>(at), sizeof map);
  TensorFault fault = check_use(form, map, at);
  if (fault.kind != FaultKind::none) return fault;
  if (place.box % kBoxAlignment != 0) return {FaultKind::misaligned, place.box, kBoxAlignment};
  int64_t start[kMostTensorDimensions];
  for (uint32_t i = 0; i < kMostTensorDimensions; ++i) start[i] = slots.coordinates[i][lane];
  uint32_t offsets[kMostPixelDimensions];
  for (uint32_t i = 0; i < kMostPixelDimensions; ++i) offsets[i] = slots.offsets[i][lane];
  const auto move = [&](const TensorPlace& to) {
    BoxCopy copy(map, form.operation, to);
    const bool tiled = form.mode == TensorMode::tiled;
    const bool moved = tiled ? move_tile(copy, map, start) : move_pixels(copy, map, start, offsets);
    return moved ? TensorFault{} : copy.fault();
  };
  *out_size_bytes = map.box_bytes();
  const bool reports = form.operation == TensorOperation::load && place.report_box != nullptr;
  if (reports && place.image != nullptr && has_box(place, *out_size_bytes)) {
    return load_by_image(place, *out_size_bytes, move);
  }
  fault = move(place);
  if (reports && fault.kind == FaultKind::none) {
    place.report_box(place.context, *out_size_bytes, nullptr);
  }
  return fault;
}

uint64_t replace_field(TensorMap* map, TensorMapField field, uint32_t ordinal, uint64_t value) {
  constexpr auto kOutOfRange = static_cast<uint64_t>(TensorCopyProblem::out_of_range);
  if (map->mark != TensorMap::kMark) {
    if (map->mark != 0) return static_cast<uint64_t>(TensorMapProblem::no_map);
    map->mark = TensorMap::kMark;
  }
  const bool is_stride = field == TensorMapField::global_stride;
  if (ordinal >= kMostTensorDimensions - (is_stride ? 1 : 0)) return kOutOfRange;
  const bool is_byte = field >= TensorMapField::elemtype || field == TensorMapField::rank ||
                       field == TensorMapField::element_stride;
  if (is_byte && value > UINT8_MAX) return kOutOfRange;
  if (field == TensorMapField::box_dim && value > UINT16_MAX) return kOutOfRange;
  const auto byte = static_cast<uint8_t>(value);
  switch (field) {
    case TensorMapField::global_address:
      map->address = value;
      break;
    case TensorMapField::rank:
      map->last_dimension = byte;
      break;
    case TensorMapField::box_dim:
      map->box[ordinal] = static_cast<uint16_t>(value);
      break;
    case TensorMapField::global_dim:
      map->sizes[ordinal] = value;
      break;
    case TensorMapField::global_stride:
      map->strides_bytes[ordinal] = value;
      break;
    case TensorMapField::element_stride:
      map->steps[ordinal] = byte;
      break;
    case TensorMapField::elemtype:
      map->element = byte;
      break;
    case TensorMapField::interleave_layout:
      map->interleave = byte;
      break;
    case TensorMapField::swizzle_mode:
      map->swizzle = byte;
      break;
    case TensorMapField::swizzle_atomicity:
      map->swizzle_atomicity = byte;
      break;
    case TensorMapField::fill_mode:
      map->fill = byte;
      break;
  }
  return 0;
}

}  // namespace km::simt
