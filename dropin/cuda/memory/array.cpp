#include "dropin/cuda/memory/array.h"

#include <algorithm>
#include <bit>

#include "base/assert.h"
#include "dropin/cuda/context/allocation.h"
#include "dropin/cuda/stream/capture_rules.h"

namespace km::dropin {
namespace {

void release(Object* object) { object->handle_gone(); }

constexpr unsigned kLayered = 0x1, kSurface = 0x2, kCube = 0x4, kGather = 0x8, kDepth = 0x10,
                   kColor = 0x20;
constexpr unsigned kFlags = kLayered | kSurface | kCube | kGather | kDepth | kColor;

// The limits of compute capability 9.0 (CUDA C++ Programming Guide, "Technical Specifications").
constexpr size_t kMostWidth = 131072, kMostHeight = 65536, kMostSide = 16384, kMostLayers = 2048,
                 kMostFaces = 2046, kMostLayeredSide = 32768;

constexpr uint64_t kRowAlignBytes = 32, kLevelAlignBytes = 512;

struct NamedFormat {
  CUarray_format format;
  uint32_t kind, channel_bytes, channels;  // channels 0: the descriptor says how many
  bool is_fraction;
};
constexpr NamedFormat kFormats[] = {
    {CU_AD_FORMAT_UNSIGNED_INT8, 0, 1, 0, false},  {CU_AD_FORMAT_UNSIGNED_INT16, 1, 2, 0, false},
    {CU_AD_FORMAT_UNSIGNED_INT32, 2, 4, 0, false}, {CU_AD_FORMAT_SIGNED_INT8, 3, 1, 0, false},
    {CU_AD_FORMAT_SIGNED_INT16, 4, 2, 0, false},   {CU_AD_FORMAT_SIGNED_INT32, 5, 4, 0, false},
    {CU_AD_FORMAT_HALF, 6, 2, 0, false},           {CU_AD_FORMAT_FLOAT, 7, 4, 0, false},
    {CU_AD_FORMAT_UNORM_INT8X1, 0, 1, 1, true},    {CU_AD_FORMAT_UNORM_INT8X2, 0, 1, 2, true},
    {CU_AD_FORMAT_UNORM_INT8X4, 0, 1, 4, true},    {CU_AD_FORMAT_UNORM_INT16X1, 1, 2, 1, true},
    {CU_AD_FORMAT_UNORM_INT16X2, 1, 2, 2, true},   {CU_AD_FORMAT_UNORM_INT16X4, 1, 2, 4, true},
    {CU_AD_FORMAT_SNORM_INT8X1, 3, 1, 1, true},    {CU_AD_FORMAT_SNORM_INT8X2, 3, 1, 2, true},
    {CU_AD_FORMAT_SNORM_INT8X4, 3, 1, 4, true},    {CU_AD_FORMAT_SNORM_INT16X1, 4, 2, 1, true},
    {CU_AD_FORMAT_SNORM_INT16X2, 4, 2, 2, true},   {CU_AD_FORMAT_SNORM_INT16X4, 4, 2, 4, true},
};

CUresult bad_extent(const CUDA_ARRAY3D_DESCRIPTOR& d) {
  return fail(CUDA_ERROR_INVALID_VALUE, "there are no arrays of %zu x %zu x %zu with flags 0x%x",
              d.Width, d.Height, d.Depth, d.Flags);
}

bool fits(const ArrayShape& shape) {
  const CUDA_ARRAY3D_DESCRIPTOR& d = shape.description;
  if (shape.layers > (shape.is_cube() ? kMostFaces : kMostLayers)) return false;
  if (shape.is_layered() || shape.is_cube()) {
    return d.Width <= kMostLayeredSide && d.Height <= kMostLayeredSide;
  }
  if (shape.dimensions == 3) {
    return d.Width <= kMostSide && d.Height <= kMostSide && d.Depth <= kMostSide;
  }
  return d.Width <= kMostWidth && d.Height <= kMostHeight;
}

/// Lays out a level from `offset` on; returns its end.
uint64_t lay_out(const ArrayShape& shape, uint64_t offset, kmb_image_level* out) {
  const uint64_t row = uint64_t{shape.width} * shape.texels.texel_bytes();
  *out = {};
  out->address = offset;
  out->row_bytes = (row + kRowAlignBytes - 1) / kRowAlignBytes * kRowAlignBytes;
  out->layer_bytes = out->row_bytes * shape.height;
  out->width = shape.width;
  out->height = shape.height;
  out->depth = shape.depth;
  const uint64_t end = offset + out->layer_bytes * shape.slices();
  return (end + kLevelAlignBytes - 1) / kLevelAlignBytes * kLevelAlignBytes;
}

/// Allocates device memory that counts as the program's.
CUresult allocate(Context& context, uint64_t size_bytes, Ref<km::Memory>* out) {
  CU_TRY(require_no_capture_of("allocating memory"));
  CU_TRY(create_counted_memory(context, size_bytes, out));
  // Recorded so that copies in other contexts find it.
  keep_allocation(context, *out, AllocationKind::kVariable, 0, (*out)->address());
  return CUDA_SUCCESS;
}

void give_back(Context& context, const km::Memory& memory) {
  static_cast<void>(wait_for_work(MayBlock::at_end(), memory.context()));
  Driver::instance().drop(memory.address(), memory);
  context.device().unreserve(memory.size_bytes());
}

/// Frees memory unless the object that it was allocated for is created.
class UnusedMemory {
 public:
  UnusedMemory(Context& context, const Ref<km::Memory>& memory)
      : context_(context), memory_(Ref<km::Memory>::share(*memory)) {}
  ~UnusedMemory() {
    if (!is_used_) give_back(context_, *memory_);
  }
  UnusedMemory(const UnusedMemory&) = delete;
  UnusedMemory& operator=(const UnusedMemory&) = delete;
  void note_use() {
    KM_ASSERT(!is_used_, "memory is used for one object");
    is_used_ = true;
  }

 private:
  Context& context_;
  const Ref<km::Memory> memory_;
  bool is_used_ = false;
};

/// A mipmap's levels with their handles, which end unless the mipmap is created.
struct Levels {
  std::vector<Ref<Array>> arrays;
  ~Levels() {
    for (const Ref<Array>& array : arrays) retire<Array>(MayBlock::at_end(), handle_of(*array));
  }
};

/// Creates the handle of an object that belongs to a context; fails if the context has ended
/// meanwhile.
template <class T>
CUresult publish_array(Context& context, Ref<T> object, UnusedMemory* memory, Handle<T>* out) {
  const Ref<km::Context> core = context.core();
  const Handle<T> handle = publish(std::move(object));
  memory->note_use();
  if (!context.has_core(*core)) {
    retire<T>(MayBlock::at_end(), handle);
    return fail(CUDA_ERROR_CONTEXT_IS_DESTROYED, "the context was destroyed during the call");
  }
  *out = handle;
  return CUDA_SUCCESS;
}

template <class T>
void retire_all_of(const Context& context) {
  std::vector<Handle<T>> handles;
  table_of<T>().for_each_live([&](uint64_t, Object& object) {
    auto& each = static_cast<T&>(object);
    if (&each.context() == &context) handles.push_back(handle_of(each));
  });
  for (const Handle<T> handle : handles) retire<T>(MayBlock::at_end(), handle);
}

}  // namespace

constinit Table table_of_Array(static_cast<int>(0xBE), release);
constinit Table table_of_MipmappedArray(static_cast<int>(0xBF), release);

CUresult read_format(CUarray_format format, unsigned channels, TexelFormat* out) {
  for (const NamedFormat& each : kFormats) {
    if (each.format != format) continue;
    if ((channels != 1 && channels != 2 && channels != 4) ||
        (each.channels != 0 && each.channels != channels)) {
      return fail(CUDA_ERROR_INVALID_VALUE, "format 0x%x has no texels of %u channels", format,
                  channels);
    }
    *out = {each.kind, each.channel_bytes, channels, each.is_fraction};
    return CUDA_SUCCESS;
  }
  const bool is_known = format >= CU_AD_FORMAT_UNORM_INT_101010_2 && format < 0x100;
  if (!is_known) return fail(CUDA_ERROR_INVALID_VALUE, "there is no array format 0x%x", format);
  return fail(CUDA_ERROR_NOT_SUPPORTED,
              "arrays of format 0x%x, compressed or for video, are not supported", format);
}

CUresult ArrayShape::read(const CUDA_ARRAY3D_DESCRIPTOR& d, ArrayShape* out) {
  ArrayShape made;
  made.description = d;
  CU_TRY(read_format(d.Format, d.NumChannels, &made.texels));
  if ((d.Flags & ~kFlags) != 0) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "arrays with flags 0x%x are not supported",
                d.Flags & ~kFlags);
  }
  if (d.Width == 0) return bad_extent(d);
  const bool planes = d.Depth != 0 && !made.is_layered() && !made.is_cube();
  if (planes && d.Height == 0) return bad_extent(d);
  made.dimensions = planes ? 3 : d.Height != 0 ? 2 : 1;
  if (made.is_cube()) {
    const bool whole = made.is_layered() ? d.Depth % 6 == 0 && d.Depth != 0 : d.Depth == 6;
    if (d.Width != d.Height || !whole) return bad_extent(d);
  } else if (made.is_layered() && d.Depth == 0) {
    return bad_extent(d);
  }
  if (d.Depth > UINT16_MAX || d.Height > UINT32_MAX || d.Width > UINT32_MAX) return bad_extent(d);
  made.layers = made.is_layered() || made.is_cube() ? static_cast<uint32_t>(d.Depth) : 1;
  made.width = static_cast<uint32_t>(d.Width);
  made.height = static_cast<uint32_t>(std::max<size_t>(d.Height, 1));
  made.depth = planes ? static_cast<uint32_t>(d.Depth) : 1;
  if (!fits(made)) return bad_extent(d);
  *out = made;
  return CUDA_SUCCESS;
}

ArrayShape ArrayShape::level(uint32_t index) const {
  ArrayShape made = *this;
  const auto smaller = [&](uint32_t size) { return std::max(size >> index, 1U); };
  made.width = smaller(width);
  made.height = smaller(height);
  made.depth = smaller(depth);
  made.description.Width = made.width;
  if (description.Height != 0) made.description.Height = made.height;
  if (dimensions == 3) made.description.Depth = made.depth;
  return made;
}

CUresult Array::create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& description, CUarray* out) {
  ArrayShape shape;
  CU_TRY(ArrayShape::read(description, &shape));
  kmb_image_level place;
  const uint64_t size_bytes = lay_out(shape, 0, &place);
  Ref<km::Memory> memory;
  CU_TRY(allocate(context, size_bytes, &memory));
  UnusedMemory unused(context, memory);
  KM_ASSERT(place.layer_bytes * shape.slices() <= memory->size_bytes(),
            "an array lies in its memory");
  place.address = memory->address();
  Ref<Array> array = make_ref<Array>(context, std::move(memory), shape, place, false);
  return publish_array(context, std::move(array), &unused, out);
}

void Array::handle_gone() {
  if (!is_level_) give_back(*context_, *memory_);
  Handled::handle_gone();
}

CUresult MipmappedArray::create(Context& context, const CUDA_ARRAY3D_DESCRIPTOR& description,
                                uint32_t levels, CUmipmappedArray* out) {
  ArrayShape shape;
  CU_TRY(ArrayShape::read(description, &shape));
  const uint32_t side = std::max({shape.width, shape.height, shape.depth});
  const auto most = static_cast<uint32_t>(std::bit_width(side));
  const uint32_t count = std::min({levels, most, uint32_t{KMB_MOST_IMAGE_LEVELS}});
  if (count == 0) return fail(CUDA_ERROR_INVALID_VALUE, "numMipmapLevels is 0");
  std::vector<kmb_image_level> places(count);
  uint64_t size_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) size_bytes = lay_out(shape.level(i), size_bytes, &places[i]);
  Ref<km::Memory> memory;
  CU_TRY(allocate(context, size_bytes, &memory));
  UnusedMemory unused(context, memory);
  Levels levels_made;
  std::vector<Ref<Array>>& arrays = levels_made.arrays;
  arrays.reserve(count);
  for (uint32_t i = 0; i < count; ++i) {
    KM_ASSERT(
        places[i].address + places[i].layer_bytes * shape.level(i).slices() <= memory->size_bytes(),
        "each level lies in the mipmap's memory");
    places[i].address += memory->address();
    arrays.push_back(make_ref<Array>(context, memory, shape.level(i), places[i], true));
    publish(Ref<Array>(arrays.back()));
  }
  std::vector<Ref<Array>> own = arrays;
  Ref<MipmappedArray> mipmap =
      make_ref<MipmappedArray>(context, std::move(memory), shape, std::move(own));
  CUmipmappedArray handle = nullptr;
  const CUresult published = publish_array(context, std::move(mipmap), &unused, &handle);
  arrays.clear();  // the mipmap owns them and ends them
  if (published == CUDA_SUCCESS) *out = handle;
  return published;
}

void MipmappedArray::handle_gone() {
  for (const Ref<Array>& level : levels_) retire<Array>(MayBlock::at_end(), handle_of(*level));
  give_back(*context_, *memory_);
  Handled::handle_gone();
}

CUresult ArrayRows::find(CUarray handle, const size_t (&at)[3], size_t width_bytes, size_t height,
                         size_t depth) {
  const Pin<Array> array(handle);
  if (!array) return fail(CUDA_ERROR_INVALID_VALUE, "the array is not a live handle");
  const kmb_image_level& place = array->place();
  const size_t row = size_t{place.width} * array->shape().texels.texel_bytes();
  const size_t slices = array->shape().slices();
  const auto is_inside = [](size_t begin, size_t count, size_t size) {
    return begin <= size && count <= size - begin;
  };
  if (!is_inside(at[0], width_bytes, row) || !is_inside(at[1], height, place.height) ||
      !is_inside(at[2], depth, slices)) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "%zu bytes x %zu x %zu at (%zu, %zu, %zu) exceed the array's %zu bytes x %u x %zu",
                width_bytes, height, depth, at[0], at[1], at[2], row, place.height, slices);
  }
  KM_ASSERT(row <= place.row_bytes, "rows do not overlap");
  pitch_bytes = place.row_bytes;
  layer_rows = place.height;
  address = place.address + at[0] + at[1] * place.row_bytes + at[2] * place.layer_bytes;
  return CUDA_SUCCESS;
}

bool find_array(CUdeviceptr address, CUarray* out, size_t (&at)[3]) {
  bool found = false;
  table_of<Array>().for_each_live([&](uint64_t, Object& object) {
    const auto& array = static_cast<Array&>(object);
    const kmb_image_level& place = array.place();
    const uint64_t distance = address - place.address;
    if (found || distance >= place.layer_bytes * array.shape().slices()) return;
    found = true;
    *out = handle_of(array);
    at[2] = distance / place.layer_bytes;
    at[1] = distance % place.layer_bytes / place.row_bytes;
    at[0] = distance % place.row_bytes;
  });
  return found;
}

void retire_arrays(const Context& context) {
  retire_all_of<MipmappedArray>(context);
  retire_all_of<Array>(context);
}

}  // namespace km::dropin
