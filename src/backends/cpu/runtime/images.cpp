#include "backends/cpu/runtime/images.h"

#include <atomic>
#include <cinttypes>
#include <cstring>
#include <deque>
#include <mutex>

#include "backends/cpu/device/entries.h"
#include "backends/cpu/fault/runtime_code.h"
#include "backends/cpu/runtime/caller.h"
#include "backends/cpu/threads/sanitizers.h"
#include "simt/runtime/surface.h"
#include "simt/runtime/texture.h"

namespace km::cpu {

namespace {

using simt::BlockState;
using simt::FaultKind;
using simt::Image;
using simt::ImageForm;
using simt::ImageOperation;
using simt::ImageSlot;

constexpr uint32_t kChunkSlots = 1024, kMostChunks = 4096;
// Removed slots kept unused: a kernel may still read their images.
constexpr size_t kRestingSlots = 4096;
constexpr uint64_t kTag = 0x3D;  // the upper byte of every handle
constexpr uint32_t kIndexBits = 22, kTagShift = 56;
static_assert(uint64_t{1} << kIndexBits == uint64_t{kChunkSlots} * kMostChunks);

/// A place for an image. `handle` is stored after the image, so that a lookup without a lock sees a
/// complete one.
struct Slot {
  std::atomic<uint64_t> handle{0};  // 0: no image
  uint64_t generation = 0;
  Image image{};
};

// Chunks are never freed, because kernels read them without a lock.
std::atomic<Slot*> chunks[kMostChunks];

/// The slots that are free, and the lock for all changes of the table.
struct Free {
  std::mutex mutex;
  uint32_t used = 0;             // slots that were ever in use
  std::deque<uint32_t> resting;  // slots of removed images, oldest first
};
Free& free_slots() {
  static Free* const all = new Free;  // never destroyed, because streams may outlive static objects
  return *all;
}

Slot* slot_at(uint32_t index) {
  Slot* const chunk = chunks[index / kChunkSlots].load(std::memory_order_acquire);
  return chunk != nullptr ? chunk + index % kChunkSlots : nullptr;
}

Slot* slot_of(uint64_t handle) {
  if (handle >> kTagShift != kTag) return nullptr;
  Slot* const slot = slot_at(static_cast<uint32_t>(handle & ((1U << kIndexBits) - 1)));
  if (slot == nullptr || slot->handle.load(std::memory_order_acquire) != handle) return nullptr;
  return slot;
}

Status check_level(const kmb_image& from, uint32_t index) {
  const kmb_image_level& level = from.levels[index];
  const uint64_t row = uint64_t{level.width} * from.channels *
                       simt::bytes_of(static_cast<simt::ChannelKind>(from.channel_kind));
  const uint64_t planes = from.layers > 1 ? from.layers : level.depth;
  const bool fits = level.width != 0 && level.height != 0 && level.depth != 0 &&
                    level.width <= INT32_MAX / 2 && level.height <= INT32_MAX / 2 &&
                    planes <= INT32_MAX / 2 && (level.height == 1 || row <= level.row_bytes) &&
                    (planes == 1 || level.row_bytes <= level.layer_bytes / level.height);
  if (fits) return {};
  return make_error(
      KM_ERROR_INVALID_ARGUMENT,
      "level %u of %u x %u x %u texels has rows of %" PRIu64 " bytes, layers of %" PRIu64 " bytes",
      index, level.width, level.height, level.depth, level.row_bytes, level.layer_bytes);
}

Status check(const kmb_image& from) {
  const bool known = from.level_count != 0 && from.level_count <= simt::kMostImageLevels &&
                     from.channels >= 1 && from.channels <= simt::kChannels &&
                     from.channel_kind <= static_cast<uint32_t>(simt::ChannelKind::f32) &&
                     from.read_mode <= static_cast<uint32_t>(simt::ReadMode::srgb) &&
                     from.dimensions >= 1 && from.dimensions <= 3 && from.layers != 0 &&
                     (from.is_cube == 0 || from.layers % 6 == 0);
  if (!known) return make_error(KM_ERROR_INVALID_ARGUMENT, "an image of no known form");
  for (const uint32_t mode : from.address_modes) {
    if (mode > static_cast<uint32_t>(simt::AddressMode::border)) {
      return make_error(KM_ERROR_INVALID_ARGUMENT, "there is no address mode %u", mode);
    }
  }
  for (uint32_t i = 0; i < from.level_count; ++i) KM_TRY(check_level(from, i));
  return {};
}

Image image_of(const kmb_image& from) {
  Image image{};
  image.level_count = from.level_count;
  image.layers = from.layers;
  image.channels = from.channels;
  image.kind = static_cast<simt::ChannelKind>(from.channel_kind);
  image.texel_bytes = from.channels * simt::bytes_of(image.kind);
  image.read = static_cast<simt::ReadMode>(from.read_mode);
  image.is_surface = from.is_surface != 0;
  image.is_cube = from.is_cube != 0;
  image.is_normalized = from.is_normalized != 0 || image.is_cube;
  image.filters = from.filters != 0;
  image.filters_levels = from.filters_levels != 0;
  image.dimensions = static_cast<uint8_t>(from.dimensions);
  image.level_bias = from.level_bias;
  image.least_level = from.least_level;
  image.most_level = from.most_level;
  image.channel_order = from.channel_order;
  image.channel_type = from.channel_type;
  for (uint32_t i = 0; i < 3; ++i) {
    image.address[i] = static_cast<simt::AddressMode>(from.address_modes[i]);
  }
  for (uint32_t i = 0; i < from.level_count; ++i) {
    const kmb_image_level& level = from.levels[i];
    image.levels[i] = {level.address,
                       level.row_bytes,
                       level.layer_bytes,
                       level.width,
                       level.height,
                       level.depth,
                       0};
  }
  simt::set_border(image, from.border);
  return image;
}

/// Finds a free slot and returns its index. The caller holds the lock.
Result<uint32_t> take_slot(Free& all) {
  if (all.resting.size() > kRestingSlots || all.used == kChunkSlots * kMostChunks) {
    if (all.resting.empty()) {
      return make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY, "there are %u textures and surfaces already",
                        all.used);
    }
    const uint32_t index = all.resting.front();
    all.resting.pop_front();
    return index;
  }
  std::atomic<Slot*>& chunk = chunks[all.used / kChunkSlots];
  if (chunk.load(std::memory_order_relaxed) == nullptr) {
    chunk.store(new Slot[kChunkSlots], std::memory_order_release);
  }
  return all.used++;
}

/// The accesses of one call of access_image().
class Access {
 public:
  Access(BlockState* state, const ImageForm& form, uint64_t pc, ImageSlot* slots)
      : executor_(executor_of(state)), state_(state), form_(form), pc_(pc), slots_(slots) {}

  /// Accesses one image for the given lanes. `out` receives their results.
  void run(uint64_t handle, uint32_t lanes, ImageSlot* out) {
    const Image* const image = Images::find(handle);
    if (form_.operation == ImageOperation::is_kind) {
      const bool is = image != nullptr && image->is_surface == form_.wants_surface;
      return fill(is ? 1 : 0, lanes, out);
    }
    const bool surface = is_of_surface(form_.operation);
    const bool asks = form_.operation == ImageOperation::query;
    if (image == nullptr || (!asks && surface != image->is_surface) || !suits(*image)) {
      raise(simt::kNoImage, handle, lanes);
    }
    switch (form_.operation) {
      case ImageOperation::fetch:
      case ImageOperation::gather:
        return fetch_texture(*image, form_, out);
      case ImageOperation::query:
        return query(*image, lanes, out);
      default:
        return access(*image, handle, lanes, out);
    }
  }

 private:
  static bool is_of_surface(ImageOperation operation) {
    return operation == ImageOperation::load || operation == ImageOperation::store ||
           operation == ImageOperation::reduce;
  }

  /// Only a cube can be read as a cube. Other forms need not match the image: dimensions that the
  /// image lacks have a size of 1, and coordinates that the form lacks are 0.
  bool suits(const Image& image) const {
    if (form_.operation != ImageOperation::fetch && form_.operation != ImageOperation::gather) {
      return true;
    }
    return !form_.is_cube || image.is_cube;
  }

  void fill(uint32_t value, uint32_t lanes, ImageSlot* out) const {
    for (; lanes != 0; lanes &= lanes - 1) out[0][__builtin_ctz(lanes)] = value;
  }

  void query(const Image& image, uint32_t lanes, ImageSlot* out) const {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
      const bool leveled = form_.level == simt::LevelChoice::given;
      const uint32_t level = leveled ? slots_[simt::image_slot::kLevel][lane] : 0;
      out[0][lane] = query_image(image, form_.query, level);
    }
  }

  void access(const Image& image, uint64_t handle, uint32_t lanes, ImageSlot* out) {
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
      const simt::SurfaceFault fault = access_surface(image, form_, lane, out);
      if (fault == simt::SurfaceFault::none) continue;
      const bool outside = fault == simt::SurfaceFault::outside;
      raise(outside ? simt::kOutsideImage : FaultKind::misaligned, handle, 1U << lane);
    }
  }

  [[noreturn]] void raise(FaultKind kind, uint64_t handle, uint32_t lanes) {
    const auto lane = static_cast<uint32_t>(__builtin_ctz(lanes));
    const uint32_t size_bytes = uint32_t{form_.element_bytes} * form_.elements;
    in_image_access = 0;
    executor_.raise(kind, pc_, handle, size_bytes, state_->first_thread + lane, form_.line);
  }

  Executor& executor_;
  BlockState* state_;
  const ImageForm& form_;
  uint64_t pc_;
  ImageSlot* slots_;
};

// For fetches that filter mipmap levels, which need most.
constexpr uint64_t kImageStackBytes = 40 << 10;

/// Runs one access for each distinct image among the lanes.
void access_each(Access& access, const uint64_t* handles, uint32_t lanes, ImageSlot* slots) {
  alignas(64) ImageSlot results[simt::image_slot::kCount], part[simt::image_slot::kCount];
  while (lanes != 0) {
    const uint64_t handle = handles[__builtin_ctz(lanes)];
    uint32_t same = 0;
    for (uint32_t left = lanes; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
      if (handles[lane] == handle) same |= 1U << lane;
    }
    memcpy(part, slots, sizeof part);
    access.run(handle, same, part);
    for (uint32_t left = same; left != 0; left &= left - 1) {
      const auto lane = static_cast<uint32_t>(__builtin_ctz(left));
      for (uint32_t i = 0; i < simt::image_slot::kCount; ++i) results[i][lane] = part[i][lane];
    }
    lanes &= ~same;
  }
  memcpy(slots, results, sizeof results);
}

}  // namespace

Images& Images::instance() {
  static Images images;
  return images;
}

Result<uint64_t> Images::add(const kmb_image& description) {
  KM_TRY(check(description));
  Free& all = free_slots();
  const std::lock_guard lock(all.mutex);
  KM_ASSIGN(const uint32_t index, take_slot(all));
  Slot* const slot = slot_at(index);
  slot->image = image_of(description);
  ++slot->generation;
  constexpr uint64_t kGenerations = (uint64_t{1} << (kTagShift - kIndexBits)) - 1;
  const uint64_t handle =
      kTag << kTagShift | (slot->generation & kGenerations) << kIndexBits | index;
  slot->handle.store(handle, std::memory_order_release);
  return handle;
}

bool Images::remove(uint64_t handle) {
  Free& all = free_slots();
  const std::lock_guard lock(all.mutex);
  Slot* const slot = slot_of(handle);
  if (slot == nullptr) return false;
  slot->handle.store(0, std::memory_order_release);
  all.resting.push_back(static_cast<uint32_t>(handle & ((1U << kIndexBits) - 1)));
  return true;
}

const Image* Images::find(uint64_t handle) {
  const Slot* const slot = slot_of(handle);
  return slot != nullptr ? &slot->image : nullptr;
}

KM_NO_SANITIZE void access_image(BlockState* state, const ImageForm* form, uint64_t handle,
                                 const uint64_t* handles, uint32_t lanes, ImageSlot* slots) {
  if (lanes == 0) return;
  Executor& executor = executor_of(state);
  executor.check_stack(kImageStackBytes, KM_CALLER_PC);
  state->line = form->line;
  Access access(state, *form, KM_CALLER_PC, slots);
  in_image_access = 1;
  if (handles == nullptr) {
    access.run(handle, lanes, slots);
  } else {
    access_each(access, handles, lanes, slots);
  }
  in_image_access = 0;
}

namespace {

km_status image_create(const kmb_image* image, uint64_t* out_handle, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(*out_handle, Images::instance().add(*image));
    return {};
  });
}

void image_destroy(uint64_t handle) {
  try {
    Images::instance().remove(handle);
  } catch (const std::bad_alloc&) {  // the slot is lost, since `resting` could not grow
  }
}

constexpr kmb_image_entries kEntries = {sizeof(kmb_image_entries), image_create, image_destroy};

}  // namespace

const kmb_image_entries& image_entries() { return kEntries; }

}  // namespace km::cpu
