// Texture and surface objects, on top of the driver's.
#include <cstring>

#include "dropin/cudart/device/context.h"
#include "dropin/cudart/memory/array.h"

namespace km::cudart {

namespace {

cudaError_t driver_resource(const cudaResourceDesc& from, CUDA_RESOURCE_DESC* out) {
  CUDA_RESOURCE_DESC made{};
  ArrayFormat format{};
  made.resType = from.resType;
  switch (from.resType) {
    case cudaResourceTypeArray:
      made.res.array.hArray = from.res.array.array;
      break;
    case cudaResourceTypeMipmappedArray:
      made.res.mipmap.hMipmappedArray = from.res.mipmap.mipmap;
      break;
    case cudaResourceTypeLinear:
      LIB_TRY(driver_format(from.res.linear.desc, &format));
      made.res.linear = {device_address(from.res.linear.devPtr), format.format, format.channels,
                         from.res.linear.sizeInBytes};
      break;
    case cudaResourceTypePitch2D:
      LIB_TRY(driver_format(from.res.pitch2D.desc, &format));
      made.res.pitch2D = {device_address(from.res.pitch2D.devPtr),
                          format.format,
                          format.channels,
                          from.res.pitch2D.width,
                          from.res.pitch2D.height,
                          from.res.pitch2D.pitchInBytes};
      break;
    default:
      return cudaErrorInvalidValue;
  }
  *out = made;
  return cudaSuccess;
}

cudaResourceDesc runtime_resource(const CUDA_RESOURCE_DESC& from) {
  cudaResourceDesc made{};
  made.resType = from.resType;
  const auto& linear = from.res.linear;
  const auto& rows = from.res.pitch2D;
  switch (from.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      made.res.array.array = from.res.array.hArray;
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      made.res.mipmap.mipmap = from.res.mipmap.hMipmappedArray;
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      made.res.linear = {host_address(linear.devPtr),
                         runtime_format({linear.format, linear.numChannels}), linear.sizeInBytes};
      break;
    default:
      made.res.pitch2D = {host_address(rows.devPtr),
                          runtime_format({rows.format, rows.numChannels}), rows.width, rows.height,
                          rows.pitchInBytes};
      break;
  }
  return made;
}

unsigned driver_flags(const cudaTextureDesc& from) {
  unsigned flags = 0;
  if (from.readMode == cudaReadModeElementType) flags |= CU_TRSF_READ_AS_INTEGER;
  if (from.normalizedCoords != 0) flags |= CU_TRSF_NORMALIZED_COORDINATES;
  if (from.sRGB != 0) flags |= CU_TRSF_SRGB;
  if (from.disableTrilinearOptimization != 0) flags |= CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION;
  if (from.seamlessCubemap != 0) flags |= CU_TRSF_SEAMLESS_CUBEMAP;
  return flags;
}

CUDA_TEXTURE_DESC driver_texture(const cudaTextureDesc& from) {
  CUDA_TEXTURE_DESC made{};
  std::memcpy(made.addressMode, from.addressMode, sizeof made.addressMode);
  made.filterMode = from.filterMode;
  made.flags = driver_flags(from);
  made.maxAnisotropy = from.maxAnisotropy;
  made.mipmapFilterMode = from.mipmapFilterMode;
  made.mipmapLevelBias = from.mipmapLevelBias;
  made.minMipmapLevelClamp = from.minMipmapLevelClamp;
  made.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  std::memcpy(made.borderColor, from.borderColor, sizeof made.borderColor);
  return made;
}

cudaTextureDesc runtime_texture(const CUDA_TEXTURE_DESC& from) {
  const auto has = [&](unsigned flag) { return (from.flags & flag) != 0 ? 1 : 0; };
  cudaTextureDesc made{};
  std::memcpy(made.addressMode, from.addressMode, sizeof made.addressMode);
  made.filterMode = from.filterMode;
  made.readMode =
      has(CU_TRSF_READ_AS_INTEGER) != 0 ? cudaReadModeElementType : cudaReadModeNormalizedFloat;
  made.sRGB = has(CU_TRSF_SRGB);
  std::memcpy(made.borderColor, from.borderColor, sizeof made.borderColor);
  made.normalizedCoords = has(CU_TRSF_NORMALIZED_COORDINATES);
  made.maxAnisotropy = from.maxAnisotropy;
  made.mipmapFilterMode = from.mipmapFilterMode;
  made.mipmapLevelBias = from.mipmapLevelBias;
  made.minMipmapLevelClamp = from.minMipmapLevelClamp;
  made.maxMipmapLevelClamp = from.maxMipmapLevelClamp;
  made.disableTrilinearOptimization = has(CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION);
  made.seamlessCubemap = has(CU_TRSF_SEAMLESS_CUBEMAP);
  return made;
}

/// Rejects linear filtering of integers that are not normalized, and normalization of 32-bit
/// integers.
cudaError_t check_sampling(const CUDA_RESOURCE_DESC& resource, const cudaTextureDesc& texture) {
  cudaChannelFormatDesc channels = {0, 0, 0, 0, cudaChannelFormatKindNone};
  CUDA_ARRAY3D_DESCRIPTOR found{};
  CUarray array = nullptr;
  switch (resource.resType) {
    case CU_RESOURCE_TYPE_ARRAY:
      array = resource.res.array.hArray;
      break;
    case CU_RESOURCE_TYPE_MIPMAPPED_ARRAY:
      LIB_TRY(driver.cuMipmappedArrayGetLevel(&array, resource.res.mipmap.hMipmappedArray, 0));
      break;
    case CU_RESOURCE_TYPE_LINEAR:
      channels = runtime_format({resource.res.linear.format, resource.res.linear.numChannels});
      break;
    default:
      channels = runtime_format({resource.res.pitch2D.format, resource.res.pitch2D.numChannels});
      break;
  }
  if (array != nullptr) {
    LIB_TRY(driver.cuArray3DGetDescriptor_v2(&found, array));
    channels = runtime_format({found.Format, found.NumChannels});
  }
  const bool integers =
      channels.f == cudaChannelFormatKindSigned || channels.f == cudaChannelFormatKindUnsigned;
  const bool as_they_are = texture.readMode == cudaReadModeElementType;
  const bool is_linear = resource.resType == CU_RESOURCE_TYPE_LINEAR;
  if (integers && !as_they_are && channels.x == 32) return cudaErrorInvalidNormSetting;
  const bool filters = texture.filterMode == cudaFilterModeLinear && !is_linear;
  return integers && as_they_are && filters ? cudaErrorInvalidFilterSetting : cudaSuccess;
}

CUDA_RESOURCE_VIEW_DESC driver_view(const cudaResourceViewDesc& from) {
  CUDA_RESOURCE_VIEW_DESC made{};
  // identical except for the reserved part
  std::memcpy(static_cast<void*>(&made), &from, sizeof from);
  return made;
}

cudaError_t create(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                   const cudaTextureDesc* texture, const cudaResourceViewDesc* view) {
  LIB_REQUIRE(out);
  LIB_REQUIRE(resource);
  CUDA_RESOURCE_DESC given{};
  LIB_TRY(driver_resource(*resource, &given));
  CUDA_TEXTURE_DESC sampling{};
  if (texture != nullptr) {
    LIB_TRY(check_sampling(given, *texture));
    sampling = driver_texture(*texture);
  }
  CUDA_RESOURCE_VIEW_DESC seen{};
  if (view != nullptr) seen = driver_view(*view);
  return driver.cuTexObjectCreate(out, &given, texture != nullptr ? &sampling : nullptr,
                                  view != nullptr ? &seen : nullptr);
}

}  // namespace

extern "C" {

cudaError_t cudaCreateTextureObject(cudaTextureObject_t* out, const cudaResourceDesc* resource,
                                    const cudaTextureDesc* texture,
                                    const cudaResourceViewDesc* view) {
  return call_context([&] { return create(out, resource, texture, view); });
}

cudaError_t cudaDestroyTextureObject(cudaTextureObject_t object) {
  return call_context([&] { return driver.cuTexObjectDestroy(object); });
}

cudaError_t cudaGetTextureObjectResourceDesc(cudaResourceDesc* out, cudaTextureObject_t object) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUDA_RESOURCE_DESC found{};
    LIB_TRY(driver.cuTexObjectGetResourceDesc(&found, object));
    *out = runtime_resource(found);
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectTextureDesc(cudaTextureDesc* out, cudaTextureObject_t object) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUDA_TEXTURE_DESC found{};
    LIB_TRY(driver.cuTexObjectGetTextureDesc(&found, object));
    *out = runtime_texture(found);
    return cudaSuccess;
  });
}

cudaError_t cudaGetTextureObjectResourceViewDesc(cudaResourceViewDesc* out,
                                                 cudaTextureObject_t object) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUDA_RESOURCE_VIEW_DESC found{};
    LIB_TRY(driver.cuTexObjectGetResourceViewDesc(&found, object));
    std::memcpy(static_cast<void*>(out), &found, sizeof *out);
    return cudaSuccess;
  });
}

cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t* out, const cudaResourceDesc* resource) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(resource);
    CUDA_RESOURCE_DESC given{};
    LIB_TRY(driver_resource(*resource, &given));
    return driver.cuSurfObjectCreate(out, &given);
  });
}

cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t object) {
  return call_context([&] { return driver.cuSurfObjectDestroy(object); });
}

cudaError_t cudaGetSurfaceObjectResourceDesc(cudaResourceDesc* out, cudaSurfaceObject_t object) {
  return call_context([&]() -> cudaError_t {
    LIB_REQUIRE(out);
    CUDA_RESOURCE_DESC found{};
    LIB_TRY(driver.cuSurfObjectGetResourceDesc(&found, object));
    *out = runtime_resource(found);
    return cudaSuccess;
  });
}

cudaError_t cudaDeviceGetTexture1DLinearMaxWidth(size_t* out, const cudaChannelFormatDesc* channels,
                                                 int device) {
  return call_driver([&]() -> cudaError_t {
    LIB_REQUIRE(channels);
    ArrayFormat format{};
    LIB_TRY(driver_format(*channels, &format));
    return driver.cuDeviceGetTexture1DLinearMaxWidth(out, format.format, format.channels, device);
  });
}

}  // extern "C"

}  // namespace km::cudart
