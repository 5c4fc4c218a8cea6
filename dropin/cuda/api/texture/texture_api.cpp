// Texture and surface objects.
#include "dropin/cuda/texture/texture.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

extern "C" {

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* out, CUarray_format format, unsigned channels,
                                            CUdevice device) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_DEVICE(state, device);
    static_cast<void>(state);
    TexelFormat texels;
    CU_TRY(read_format(format, channels, &texels));
    *out = kMostLinearTexels;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectCreate(CUtexObject* out, const CUDA_RESOURCE_DESC* resource,
                           const CUDA_TEXTURE_DESC* texture, const CUDA_RESOURCE_VIEW_DESC* view) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_REQUIRE(resource);
    CU_REQUIRE(texture);
    CU_CURRENT(context);
    const bool is_array = resource->resType == CU_RESOURCE_TYPE_ARRAY ||
                          resource->resType == CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    if (view != nullptr && !is_array) {
      return fail(CUDA_ERROR_INVALID_VALUE, "only arrays have views");
    }
    ImageObject object;
    object.resource = *resource;
    object.texture = *texture;
    object.has_view = view != nullptr;
    if (view != nullptr) object.view = *view;
    uint64_t handle = 0;
    CU_TRY(create_image(*context, std::move(object), &handle));
    *out = handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectDestroy(CUtexObject handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    static_cast<void>(context);
    return destroy_image(handle, false);
  });
}

CUresult cuTexObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUtexObject handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    ImageObject object;
    CU_TRY(find_image(handle, false, &object));
    *out = object.resource;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectGetTextureDesc(CUDA_TEXTURE_DESC* out, CUtexObject handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    ImageObject object;
    CU_TRY(find_image(handle, false, &object));
    *out = object.texture;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexObjectGetResourceViewDesc(CUDA_RESOURCE_VIEW_DESC* out, CUtexObject handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    ImageObject object;
    CU_TRY(find_image(handle, false, &object));
    if (!object.has_view) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the texture was made without a view");
    }
    *out = object.view;
    return CUDA_SUCCESS;
  });
}

CUresult cuSurfObjectCreate(CUsurfObject* out, const CUDA_RESOURCE_DESC* resource) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_REQUIRE(resource);
    CU_CURRENT(context);
    ImageObject object;
    object.resource = *resource;
    object.is_surface = true;
    uint64_t handle = 0;
    CU_TRY(create_image(*context, std::move(object), &handle));
    *out = handle;
    return CUDA_SUCCESS;
  });
}

CUresult cuSurfObjectDestroy(CUsurfObject handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    static_cast<void>(context);
    return destroy_image(handle, true);
  });
}

CUresult cuSurfObjectGetResourceDesc(CUDA_RESOURCE_DESC* out, CUsurfObject handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    ImageObject object;
    CU_TRY(find_image(handle, true, &object));
    *out = object.resource;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
