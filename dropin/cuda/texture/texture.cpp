#include "dropin/cuda/texture/texture.h"

#include <algorithm>

#include "core/object/backend_call.h"
#include "dropin/cuda/memory/place.h"

namespace km::dropin {
namespace {

constexpr size_t kPitchAlignBytes = 32;
constexpr unsigned kTextureFlags = CU_TRSF_READ_AS_INTEGER | CU_TRSF_NORMALIZED_COORDINATES |
                                   CU_TRSF_SRGB | CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION |
                                   CU_TRSF_SEAMLESS_CUBEMAP;

// The answers of txq and suq are OpenCL's numbers, because PTX's queries serve OpenCL compilers.
uint32_t channel_order(uint32_t channels) {
  return channels == 1 ? 0x10B0 : channels == 2 ? 0x10B2 : 0x10B5;
}

uint32_t channel_type(const TexelFormat& texels, bool is_fraction) {
  constexpr uint32_t kTypes[] = {0x10DA, 0x10DB, 0x10DC, 0x10D7, 0x10D8, 0x10D9, 0x10DD, 0x10DE};
  constexpr uint32_t kFractions[] = {0x10D2, 0x10D3, 0x10DC, 0x10D0, 0x10D1, 0x10D9};
  return is_fraction && texels.kind < 6 ? kFractions[texels.kind] : kTypes[texels.kind];
}

void set_texels(const TexelFormat& texels, kmb_image* image) {
  image->channels = texels.channels;
  image->channel_kind = texels.kind;
  image->read_mode = texels.is_fraction ? 1 : 0;
  image->channel_order = channel_order(texels.channels);
  image->channel_type = channel_type(texels, texels.is_fraction);
}

void set_shape(const ArrayShape& shape, ImageSource* out) {
  out->texels = shape.texels;
  set_texels(shape.texels, &out->image);
  out->image.dimensions = shape.dimensions;
  out->image.layers = shape.layers;
  out->image.is_cube = shape.is_cube() ? 1 : 0;
}

CUresult require_surface(const ArrayShape& shape, bool is_surface) {
  if (!is_surface || shape.may_be_surface()) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "the array was made without CUDA_ARRAY3D_SURFACE_LDST");
}

CUresult read_array(CUarray handle, bool is_surface, ImageSource* out) {
  CU_GET(Array, array, handle);
  CU_TRY(require_surface(array->shape(), is_surface));
  set_shape(array->shape(), out);
  out->image.level_count = 1;
  out->image.levels[0] = array->place();
  out->memory = array->memory();
  return CUDA_SUCCESS;
}

CUresult read_mipmap(CUmipmappedArray handle, bool is_surface, ImageSource* out) {
  if (is_surface) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a surface needs an array: take a level of the mipmap");
  }
  CU_GET(MipmappedArray, array, handle);
  set_shape(array->shape(), out);
  out->image.level_count = static_cast<uint32_t>(array->levels().size());
  for (uint32_t i = 0; i < out->image.level_count; ++i) {
    out->image.levels[i] = array->levels()[i]->place();
  }
  out->memory = array->memory();
  return CUDA_SUCCESS;
}

CUresult find_memory(Context& context, CUdeviceptr address, size_t size_bytes, ImageSource* out) {
  Place place;
  CU_TRY(place.find(context, address, size_bytes, "the texture"));
  out->memory = Ref<km::Memory>::share(place.memory());
  return CUDA_SUCCESS;
}

CUresult read_linear(Context& context, const CUDA_RESOURCE_DESC& resource, ImageSource* out) {
  const auto& linear = resource.res.linear;
  CU_TRY(read_format(linear.format, linear.numChannels, &out->texels));
  set_texels(out->texels, &out->image);
  const size_t width = linear.sizeInBytes / out->texels.texel_bytes();
  if (width == 0 || width > kMostLinearTexels || linear.devPtr % kTextureAlignBytes != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "%zu bytes at 0x%llx: at most 2^28 texels, from a multiple "
                "of %zu on",
                linear.sizeInBytes, linear.devPtr, kTextureAlignBytes);
  }
  CU_TRY(find_memory(context, linear.devPtr, linear.sizeInBytes, out));
  out->image.dimensions = 1;
  out->image.layers = 1;
  out->image.level_count = 1;
  out->image.levels[0] = {
      linear.devPtr, linear.sizeInBytes, linear.sizeInBytes, static_cast<uint32_t>(width), 1, 1, 0};
  return CUDA_SUCCESS;
}

CUresult read_rows(Context& context, const CUDA_RESOURCE_DESC& resource, ImageSource* out) {
  const auto& rows = resource.res.pitch2D;
  CU_TRY(read_format(rows.format, rows.numChannels, &out->texels));
  set_texels(out->texels, &out->image);
  constexpr size_t kMostWidth = 131072, kMostHeight = 65000, kMostPitch = 2097120;
  const size_t row_bytes = rows.width * out->texels.texel_bytes();
  const bool is_good = rows.width != 0 && rows.width <= kMostWidth && rows.height != 0 &&
                       rows.height <= kMostHeight && rows.pitchInBytes >= row_bytes &&
                       rows.pitchInBytes <= kMostPitch &&
                       rows.pitchInBytes % kPitchAlignBytes == 0 &&
                       rows.devPtr % kPitchAlignBytes == 0;
  if (!is_good) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "%zu x %zu texels at 0x%llx, rows %zu bytes apart: at most %zu x %zu, address and "
                "pitch are multiples of %zu, and the pitch is at most %zu",
                rows.width, rows.height, rows.devPtr, rows.pitchInBytes, kMostWidth, kMostHeight,
                kPitchAlignBytes, kMostPitch);
  }
  const size_t extent = rows.pitchInBytes * (rows.height - 1) + row_bytes;
  CU_TRY(find_memory(context, rows.devPtr, extent, out));
  out->image.dimensions = 2;
  out->image.layers = 1;
  out->image.level_count = 1;
  out->image.levels[0] = {rows.devPtr,
                          rows.pitchInBytes,
                          rows.pitchInBytes * rows.height,
                          static_cast<uint32_t>(rows.width),
                          static_cast<uint32_t>(rows.height),
                          1,
                          0};
  return CUDA_SUCCESS;
}

/// Finds the texels of a resource view's format; returns false for unknown and compressed formats.
bool texels_of_view(CUresourceViewFormat format, TexelFormat* out) {
  if (format < CU_RES_VIEW_FORMAT_UINT_1X8 || format > CU_RES_VIEW_FORMAT_FLOAT_4X32) return false;
  const auto index = static_cast<uint32_t>(format) - CU_RES_VIEW_FORMAT_UINT_1X8;
  constexpr uint32_t kChannelCounts[] = {1, 2, 4};
  constexpr struct {
    uint32_t kind, bytes;
  } kKinds[] = {{0, 1}, {3, 1}, {1, 2}, {4, 2}, {2, 4}, {5, 4}, {6, 2}, {7, 4}};
  *out = {kKinds[index / 3].kind, kKinds[index / 3].bytes, kChannelCounts[index % 3], false};
  return true;
}

}  // namespace

CUresult ImageSource::read(Context& context, const CUDA_RESOURCE_DESC& resource, bool is_surface) {
  if (resource.flags != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "flags of the resource are 0x%x; must be 0",
                resource.flags);
  }
  image.is_surface = is_surface ? 1 : 0;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      return read_array(resource.res.array.hArray, is_surface, this);
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      return read_mipmap(resource.res.mipmap.hMipmappedArray, is_surface, this);
    case CU_RESOURCE_TYPE_LINEAR:
      if (!is_surface) return read_linear(context, resource, this);
      break;
    case CU_RESOURCE_TYPE_PITCH2D:
      if (!is_surface) return read_rows(context, resource, this);
      break;
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no resource type %d", resource.resType);
  }
  return fail(CUDA_ERROR_INVALID_VALUE, "a surface needs an array");
}

CUresult ImageSource::apply(const CUDA_RESOURCE_VIEW_DESC& view) {
  if (view.format != CU_RES_VIEW_FORMAT_NONE) {
    TexelFormat other;
    if (!texels_of_view(view.format, &other)) {
      return fail(CUDA_ERROR_NOT_SUPPORTED, "views of format 0x%x are not supported", view.format);
    }
    if (other.texel_bytes() != texels.texel_bytes()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "texels of %u bytes viewed as ones of %u",
                  texels.texel_bytes(), other.texel_bytes());
    }
    texels = other;
    set_texels(texels, &image);
  }
  const kmb_image_level& base =
      image.levels[std::min(view.firstMipmapLevel, image.level_count - 1)];
  const bool same = (view.width == 0 || view.width == base.width) &&
                    (view.height == 0 || view.height == base.height || image.dimensions < 2) &&
                    (view.depth == 0 || view.depth == base.depth || image.dimensions < 3);
  if (view.lastMipmapLevel >= image.level_count || view.firstMipmapLevel > view.lastMipmapLevel ||
      view.lastLayer >= image.layers || view.firstLayer > view.lastLayer || !same) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "a view of levels %u to %u of %u, layers %u to %u of %u, %zu x %zu x %zu texels",
                view.firstMipmapLevel, view.lastMipmapLevel, image.level_count, view.firstLayer,
                view.lastLayer, image.layers, view.width, view.height, view.depth);
  }
  image.level_count = view.lastMipmapLevel - view.firstMipmapLevel + 1;
  for (uint32_t i = 0; i < image.level_count; ++i) {
    image.levels[i] = image.levels[view.firstMipmapLevel + i];
    image.levels[i].address += view.firstLayer * image.levels[i].layer_bytes;
  }
  image.layers = view.lastLayer - view.firstLayer + 1;
  if (image.is_cube != 0 && image.layers % 6 != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a cube of %u layers", image.layers);
  }
  return CUDA_SUCCESS;
}

CUresult check_texture_flags(unsigned flags) {
  if ((flags & ~kTextureFlags) == 0) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "there are no texture flags 0x%x", flags & ~kTextureFlags);
}

CUresult set_sampling(const CUDA_TEXTURE_DESC& texture, const TexelFormat& texels,
                      CUresourcetype resource, kmb_image* image) {
  CU_TRY(check_texture_flags(texture.flags));
  const bool is_small =
      texels.kind == 0 || texels.kind == 1 || texels.kind == 3 || texels.kind == 4;
  const bool reads_fractions =
      is_small && (texels.is_fraction || (texture.flags & CU_TRSF_READ_AS_INTEGER) == 0);
  const bool is_srgb = (texture.flags & CU_TRSF_SRGB) != 0 && texels.kind == 0 && reads_fractions;
  image->read_mode = is_srgb ? 2 : reads_fractions ? 1 : 0;
  image->channel_type = channel_type(texels, reads_fractions);
  for (int i = 0; i < 3; ++i) {
    if (static_cast<unsigned>(texture.addressMode[i]) > CU_TR_ADDRESS_MODE_BORDER) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no address mode %d", texture.addressMode[i]);
    }
    image->address_modes[i] = static_cast<uint32_t>(texture.addressMode[i]);
  }
  if (static_cast<unsigned>(texture.filterMode) > CU_TR_FILTER_MODE_LINEAR ||
      static_cast<unsigned>(texture.mipmapFilterMode) > CU_TR_FILTER_MODE_LINEAR) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there is no filter mode %d or %d", texture.filterMode,
                texture.mipmapFilterMode);
  }
  const bool filters = texture.filterMode == CU_TR_FILTER_MODE_LINEAR;
  const bool is_linear = resource == CU_RESOURCE_TYPE_LINEAR;
  if (filters && !texels.is_float() && !reads_fractions && !is_linear) {
    return fail(CUDA_ERROR_INVALID_VALUE, "integers are not filtered: read them as fractions");
  }
  image->filters = filters && !is_linear ? 1 : 0;
  image->filters_levels = texture.mipmapFilterMode == CU_TR_FILTER_MODE_LINEAR ? 1 : 0;
  image->is_normalized =
      (texture.flags & CU_TRSF_NORMALIZED_COORDINATES) != 0 && !is_linear ? 1 : 0;
  image->level_bias = texture.mipmapLevelBias;
  image->least_level = texture.minMipmapLevelClamp;
  image->most_level = texture.maxMipmapLevelClamp;
  std::copy(std::begin(texture.borderColor), std::end(texture.borderColor), image->border);
  return CUDA_SUCCESS;
}

CUresult image_entries_of(Context& context, const kmb_image_entries** out) {
  km::Device& device = *context.device().device;
  int64_t value = 0;
  const Status found = call_backend(device.backend().device_attribute, device.native(),
                                    KMB_DEVICE_ATTRIBUTE_IMAGES, &value);
  const auto* entries = reinterpret_cast<const kmb_image_entries*>(value);
  if (!found || entries == nullptr || entries->size < sizeof *entries) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "the device has no textures");
  }
  *out = entries;
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
