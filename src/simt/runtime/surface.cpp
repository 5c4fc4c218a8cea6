#include "simt/runtime/surface.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include "simt/runtime/half_bits.h"

namespace km::simt {
namespace {

constexpr uint32_t kMostBytes = 32;  // size limit of one access

struct Place {
  uint8_t* address = nullptr;  // null: outside of the surface, no access
  SurfaceFault fault = SurfaceFault::none;
};

/// Applies the form's mode to a coordinate, so that it is within [0, size - count]; clamping uses
/// the last multiple of `count`. Returns false if there is no access.
bool bound(const ImageForm& form, int64_t size, int64_t count, int64_t* inout, Place* out) {
  if (*inout >= 0 && *inout <= size - count) return true;
  switch (form.bounds) {
    case ImageBounds::trap:
      out->fault = SurfaceFault::outside;
      return false;
    case ImageBounds::zero:
      return false;
    default:
      *inout = *inout < 0 || size < count ? 0 : (size - count) / count * count;
      return size >= count;
  }
}

int64_t coordinate(const ImageSlot* slots, uint32_t slot, uint32_t lane) {
  return static_cast<int32_t>(slots[slot][lane]);
}

/// The address of the lane's access.
Place find_place(const Image& image, const ImageForm& form, uint32_t lane, uint32_t size_bytes,
                 const ImageSlot* slots) {
  Place place;
  const ImageLevel& level = image.levels[0];
  int64_t x = coordinate(slots, image_slot::kX, lane), y = 0, z = 0;
  if (form.is_formatted) x *= image.texel_bytes;
  if (!bound(form, int64_t{level.width} * image.texel_bytes, size_bytes, &x, &place)) return place;
  if (form.dimensions > 1) {
    y = coordinate(slots, image_slot::kY, lane);
    if (!bound(form, level.height, 1, &y, &place)) return place;
  }
  if (form.dimensions > 2) {
    z = coordinate(slots, image_slot::kZ, lane);
    if (!bound(form, level.depth, 1, &z, &place)) return place;
  }
  if (form.is_layered) {
    z = slots[image_slot::kLayer][lane];
    if (!bound(form, image.layers, 1, &z, &place)) return place;
  }
  const uint64_t address = level.address + static_cast<uint64_t>(z) * level.layer_bytes +
                           static_cast<uint64_t>(y) * level.row_bytes + static_cast<uint64_t>(x);
  const uint32_t unit = form.is_formatted ? bytes_of(image.kind) : size_bytes;
  if (std::has_single_bit(unit) && x % unit != 0) {
    place.fault = SurfaceFault::misaligned;
    return place;
  }
  place.address = reinterpret_cast<uint8_t*>(address);
  return place;
}

/// Loads the elements into one slot each, or two for 64 bits.
void load_elements(const ImageForm& form, const uint8_t* from, uint32_t lane, ImageSlot* slots) {
  uint32_t slot = 0;
  for (uint32_t i = 0; i < form.elements; ++i) {
    uint64_t value = 0;
    if (from != nullptr) std::memcpy(&value, from + i * form.element_bytes, form.element_bytes);
    slots[slot++][lane] = static_cast<uint32_t>(value);
    if (form.element_bytes == 8) slots[slot++][lane] = static_cast<uint32_t>(value >> 32);
  }
}

void store_elements(const ImageForm& form, uint8_t* to, uint32_t lane, const ImageSlot* slots) {
  uint32_t slot = image_slot::kData;
  for (uint32_t i = 0; i < form.elements; ++i) {
    uint64_t value = slots[slot++][lane];
    if (form.element_bytes == 8) value |= uint64_t{slots[slot++][lane]} << 32;
    std::memcpy(to + i * form.element_bytes, &value, form.element_bytes);
  }
}

/// sust.p: converts a word to a channel, saturated to its range.
uint32_t channel_of(ChannelKind kind, uint32_t word) {
  const auto number = static_cast<int32_t>(word);
  switch (kind) {
    case ChannelKind::u8:
      return std::min(word, 255U);
    case ChannelKind::u16:
      return std::min(word, 65535U);
    case ChannelKind::s8:
      return static_cast<uint32_t>(std::clamp(number, -128, 127));
    case ChannelKind::s16:
      return static_cast<uint32_t>(std::clamp(number, -32768, 32767));
    case ChannelKind::f16:
      return half_of(std::bit_cast<float>(word));
    default:
      return word;
  }
}

void store_formatted(const Image& image, const ImageForm& form, uint8_t* to, uint32_t lane,
                     const ImageSlot* slots) {
  const uint32_t size_bytes = bytes_of(image.kind);
  for (uint32_t c = 0; c < image.channels; ++c) {
    const uint32_t word = c < form.elements ? slots[image_slot::kData + c][lane] : 0;
    const uint32_t channel = channel_of(image.kind, word);
    std::memcpy(to + c * size_bytes, &channel, size_bytes);
  }
}

template <class Word>
Word reduced(ImageReduction operation, Word old, Word value) {
  switch (operation) {
    case ImageReduction::add:
      return static_cast<Word>(static_cast<uint64_t>(old) + static_cast<uint64_t>(value));
    case ImageReduction::min:
      return std::min(old, value);
    case ImageReduction::max:
      return std::max(old, value);
    case ImageReduction::and_:
      return old & value;
    default:
      return old | value;
  }
}

template <class Word>
void reduce(const ImageForm& form, uint8_t* at, uint64_t value) {
  std::atomic_ref<Word> memory(*reinterpret_cast<Word*>(at));
  Word old = memory.load(std::memory_order_relaxed);
  while (!memory.compare_exchange_weak(old, reduced(form.reduction, old, static_cast<Word>(value)),
                                       std::memory_order_relaxed)) {
  }
}

void reduce_element(const Image& image, const ImageForm& form, uint8_t* at, uint32_t lane,
                    const ImageSlot* slots) {
  uint64_t value = slots[image_slot::kData][lane];
  const bool is_signed = form.is_signed || (form.is_formatted && image.kind >= ChannelKind::s8 &&
                                            image.kind <= ChannelKind::s32);
  if (form.element_bytes == 8) {
    value |= uint64_t{slots[image_slot::kData + 1][lane]} << 32;
    return is_signed ? reduce<int64_t>(form, at, value) : reduce<uint64_t>(form, at, value);
  }
  return is_signed ? reduce<int32_t>(form, at, value) : reduce<uint32_t>(form, at, value);
}

}  // namespace

SurfaceFault access_surface(const Image& image, const ImageForm& form, uint32_t lane,
                            ImageSlot* slots) {
  const uint32_t size_bytes = form.is_formatted && form.operation == ImageOperation::store
                                  ? image.texel_bytes
                                  : uint32_t{form.element_bytes} * form.elements;
  if (size_bytes > kMostBytes) return SurfaceFault::outside;
  const Place place = find_place(image, form, lane, size_bytes, slots);
  if (place.fault != SurfaceFault::none) return place.fault;
  if (form.operation == ImageOperation::load) {
    load_elements(form, place.address, lane, slots);
  } else if (place.address == nullptr) {
    return SurfaceFault::none;
  } else if (form.operation == ImageOperation::reduce) {
    // There are no reductions of texels smaller than a word.
    if (reinterpret_cast<uint64_t>(place.address) % form.element_bytes != 0) {
      return SurfaceFault::misaligned;
    }
    reduce_element(image, form, place.address, lane, slots);
  } else if (form.is_formatted) {
    store_formatted(image, form, place.address, lane, slots);
  } else {
    store_elements(form, place.address, lane, slots);
  }
  return SurfaceFault::none;
}

uint32_t query_image(const Image& image, ImageQuery query, uint32_t level) {
  const ImageLevel& at = image.levels[std::min(level, image.level_count - 1)];
  const uint32_t groups = image.is_cube ? image.layers / 6 : image.layers;
  switch (query) {
    case ImageQuery::width:
      return at.width;
    case ImageQuery::height:
      return image.dimensions > 1 ? at.height : 0;
    case ImageQuery::depth:
      return image.dimensions > 2 ? at.depth : 0;
    case ImageQuery::channel_type:
      return image.channel_type;
    case ImageQuery::channel_order:
      return image.channel_order;
    case ImageQuery::normalized:
      return image.is_normalized ? 1 : 0;
    case ImageQuery::array_size:
      return groups;
    case ImageQuery::level_count:
      return image.level_count;
    case ImageQuery::unnormalized:
      return image.is_normalized ? 0 : 1;
    case ImageQuery::filter:
      return image.filters ? 1 : 0;
    case ImageQuery::address_0:
    case ImageQuery::address_1:
    case ImageQuery::address_2: {
      const auto axis = static_cast<uint32_t>(query) - static_cast<uint32_t>(ImageQuery::address_0);
      return static_cast<uint32_t>(image.address[axis]);
    }
    case ImageQuery::samples:
      return 1;
    default:
      return 0;  // memory_layout: only one exists
  }
}

}  // namespace km::simt
