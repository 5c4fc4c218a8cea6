// Texture and surface references.
#include <algorithm>

#include "dropin/cuda/module/module.h"
#include "dropin/cuda/texture/texture_reference.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

constexpr unsigned kOverrideFormat = 0x1;  // CU_TRSA_OVERRIDE_FORMAT

/// Calls body(reference) if the reference is a texture's, not a surface's.
template <class Body>
CUresult with_texture(const char* function, CUtexref handle, Body&& body) {
  return guard(function, [&]() -> CUresult {
    CU_CURRENT(context);
    static_cast<void>(context);
    CU_GET(TextureReference, reference, handle);
    if (reference->is_surface()) {
      return fail(CUDA_ERROR_INVALID_HANDLE, "the reference is a surface reference");
    }
    return body(*reference);
  });
}

/// Changes a texture's sampling parameters.
template <class Change>
CUresult set(const char* function, CUtexref handle, Change&& change) {
  return with_texture(function, handle,
                      [&](TextureReference& reference) { return reference.change(false, change); });
}

/// Stores the result of get(state) in `out`.
template <class Value, class Get>
CUresult get(const char* function, CUtexref handle, Value* out, Get&& get) {
  return with_texture(function, handle, [&](TextureReference& reference) -> CUresult {
    CU_REQUIRE(out);
    const ReferenceState state = reference.state();
    return get(state, out);
  });
}

CUresult not_bound(const char* what) {
  return fail(CUDA_ERROR_INVALID_VALUE, "the reference is bound to no %s", what);
}

CUresult bind_linear(TextureReference& reference, size_t* offset, CUdeviceptr address,
                     size_t size_bytes) {
  const size_t rest = address % kTextureAlignBytes;
  if (offset == nullptr && rest != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "0x%llx is not a multiple of %zu, and ByteOffset is null",
                address, kTextureAlignBytes);
  }
  if (size_bytes > SIZE_MAX - rest) {
    return fail(CUDA_ERROR_INVALID_VALUE, "%zu bytes from 0x%llx on exceed the address space",
                size_bytes, address);
  }
  CU_TRY(reference.change(true, [&](ReferenceState& state) -> CUresult {
    state.resource = {};
    state.resource.resType = CU_RESOURCE_TYPE_LINEAR;
    state.resource.res.linear = {address - rest, state.format,
                                 static_cast<unsigned>(state.channels), size_bytes + rest};
    state.is_bound = address != 0 && size_bytes != 0;
    return CUDA_SUCCESS;
  }));
  if (offset != nullptr) *offset = rest;
  return CUDA_SUCCESS;
}

CUresult bind_rows(TextureReference& reference, const CUDA_ARRAY_DESCRIPTOR& description,
                   CUdeviceptr address, size_t pitch_bytes) {
  return reference.change(true, [&](ReferenceState& state) -> CUresult {
    state.format = description.Format;
    state.channels = static_cast<int>(description.NumChannels);
    state.resource = {};
    state.resource.resType = CU_RESOURCE_TYPE_PITCH2D;
    state.resource.res.pitch2D = {address,           description.Format, description.NumChannels,
                                  description.Width, description.Height, pitch_bytes};
    state.is_bound = address != 0;
    return CUDA_SUCCESS;
  });
}

/// Sets the format of the texels from the array.
CUresult take_format(CUarray handle, ReferenceState& state) {
  CU_GET(Array, array, handle);
  state.format = array->shape().description.Format;
  state.channels = static_cast<int>(array->shape().description.NumChannels);
  return CUDA_SUCCESS;
}

CUresult bind_array(TextureReference& reference, CUarray array) {
  return reference.change(true, [&](ReferenceState& state) -> CUresult {
    state.resource = {};
    state.is_bound = array != nullptr;
    if (array == nullptr) return CUDA_SUCCESS;
    state.resource.resType = CU_RESOURCE_TYPE_ARRAY;
    state.resource.res.array.hArray = array;
    return take_format(array, state);
  });
}

CUresult bind_mipmap(TextureReference& reference, CUmipmappedArray handle) {
  return reference.change(true, [&](ReferenceState& state) -> CUresult {
    CU_GET(MipmappedArray, array, handle);
    state.resource = {};
    state.resource.resType = CU_RESOURCE_TYPE_MIPMAPPED_ARRAY;
    state.resource.res.mipmap.hMipmappedArray = handle;
    state.is_bound = true;
    return take_format(handle_of(*array->levels()[0]), state);
  });
}

CUresult check_array_flags(unsigned flags) {
  if (flags == kOverrideFormat) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "Flags is 0x%x; must be CU_TRSA_OVERRIDE_FORMAT", flags);
}

CUresult check_dimension(int dimension) {
  if (dimension >= 0 && dimension < 3) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "there is no dimension %d", dimension);
}

CUresult find_in_module(CUmodule handle, const char* name, bool is_surface, CUtexref* out) {
  CU_REQUIRE(name);
  CU_GET(Module, module, handle);
  return find_reference({module->id(), module->context(), module->core()}, name, is_surface, out);
}

}  // namespace

extern "C" {

CUresult cuModuleGetTexRef(CUtexref* out, CUmodule module, const char* name) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    return find_in_module(module, name, false, out);
  });
}

CUresult cuModuleGetSurfRef(CUsurfref* out, CUmodule module, const char* name) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CUtexref found = nullptr;
    CU_TRY(find_in_module(module, name, true, &found));
    *out = reinterpret_cast<CUsurfref>(found);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefCreate(CUtexref* out) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_CURRENT(context);
    *out = publish(make_ref<TextureReference>(*context, Ref<km::Memory>(), false));
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefDestroy(CUtexref handle) {
  return guard(__func__, [&]() -> CUresult {
    {
      CU_GET(TextureReference, reference, handle);
      if (reference->is_of_module()) {
        return fail(CUDA_ERROR_INVALID_HANDLE, "the texture reference is its module's");
      }
    }
    CU_ASSIGN(const MayBlock may_block, require_may_block());
    if (retire<TextureReference>(may_block, handle)) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_HANDLE, "the texture reference is not a live handle");
  });
}

CUresult cuTexRefSetArray(CUtexref handle, CUarray array, unsigned int flags) {
  return with_texture(__func__, handle, [&](TextureReference& reference) -> CUresult {
    CU_TRY(check_array_flags(flags));
    return bind_array(reference, array);
  });
}

CUresult cuTexRefSetMipmappedArray(CUtexref handle, CUmipmappedArray array, unsigned int flags) {
  return with_texture(__func__, handle, [&](TextureReference& reference) -> CUresult {
    CU_TRY(check_array_flags(flags));
    return bind_mipmap(reference, array);
  });
}

CUresult cuTexRefSetAddress_v2(size_t* offset, CUtexref handle, CUdeviceptr address,
                               size_t size_bytes) {
  return with_texture(__func__, handle, [&](TextureReference& reference) {
    return bind_linear(reference, offset, address, size_bytes);
  });
}

CUresult cuTexRefSetAddress2D_v3(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* description,
                                 CUdeviceptr address, size_t pitch_bytes) {
  return with_texture(__func__, handle, [&](TextureReference& reference) -> CUresult {
    CU_REQUIRE(description);
    return bind_rows(reference, *description, address, pitch_bytes);
  });
}

CUresult cuTexRefSetAddress2D_v2(CUtexref handle, const CUDA_ARRAY_DESCRIPTOR* description,
                                 CUdeviceptr address, size_t pitch_bytes) {
  return cuTexRefSetAddress2D_v3(handle, description, address, pitch_bytes);
}

CUresult cuTexRefSetFormat(CUtexref handle, CUarray_format format, int channels) {
  return set(__func__, handle, [&](ReferenceState& state) -> CUresult {
    TexelFormat texels;
    CU_TRY(read_format(format, static_cast<unsigned>(channels), &texels));
    state.format = format;
    state.channels = channels;
    if (state.resource.resType != CU_RESOURCE_TYPE_LINEAR) return CUDA_SUCCESS;
    state.resource.res.linear.format = format;
    state.resource.res.linear.numChannels = static_cast<unsigned>(channels);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetAddressMode(CUtexref handle, int dimension, CUaddress_mode mode) {
  return set(__func__, handle, [&](ReferenceState& state) -> CUresult {
    CU_TRY(check_dimension(dimension));
    if (static_cast<unsigned>(mode) > CU_TR_ADDRESS_MODE_BORDER) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no address mode %d", mode);
    }
    state.texture.addressMode[dimension] = mode;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetFilterMode(CUtexref handle, CUfilter_mode mode) {
  return set(__func__, handle, [&](ReferenceState& state) -> CUresult {
    if (static_cast<unsigned>(mode) > CU_TR_FILTER_MODE_LINEAR) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no filter mode %d", mode);
    }
    state.texture.filterMode = mode;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmapFilterMode(CUtexref handle, CUfilter_mode mode) {
  return set(__func__, handle, [&](ReferenceState& state) -> CUresult {
    if (static_cast<unsigned>(mode) > CU_TR_FILTER_MODE_LINEAR) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no filter mode %d", mode);
    }
    state.texture.mipmapFilterMode = mode;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmapLevelBias(CUtexref handle, float bias) {
  return set(__func__, handle, [&](ReferenceState& state) -> CUresult {
    state.texture.mipmapLevelBias = bias;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMipmapLevelClamp(CUtexref handle, float least, float most) {
  return set(__func__, handle, [&](ReferenceState& state) -> CUresult {
    state.texture.minMipmapLevelClamp = least;
    state.texture.maxMipmapLevelClamp = most;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetMaxAnisotropy(CUtexref handle, unsigned int most) {
  return set(__func__, handle, [&](ReferenceState& state) -> CUresult {
    state.texture.maxAnisotropy = most;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetBorderColor(CUtexref handle, float* color) {
  return set(__func__, handle, [&](ReferenceState& state) -> CUresult {
    CU_REQUIRE(color);
    std::copy(color, color + 4, state.texture.borderColor);
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefSetFlags(CUtexref handle, unsigned int flags) {
  return set(__func__, handle, [&](ReferenceState& state) -> CUresult {
    CU_TRY(check_texture_flags(flags));
    state.texture.flags = flags;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetAddress_v2(CUdeviceptr* out, CUtexref handle) {
  return get(__func__, handle, out, [](const ReferenceState& state, CUdeviceptr* to) -> CUresult {
    if (!state.is_bound) return not_bound("memory");
    if (state.resource.resType == CU_RESOURCE_TYPE_LINEAR) {
      *to = state.resource.res.linear.devPtr;
    } else if (state.resource.resType == CU_RESOURCE_TYPE_PITCH2D) {
      *to = state.resource.res.pitch2D.devPtr;
    } else {
      return not_bound("memory");
    }
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetArray(CUarray* out, CUtexref handle) {
  return get(__func__, handle, out, [](const ReferenceState& state, CUarray* to) -> CUresult {
    if (!state.is_bound || state.resource.resType != CU_RESOURCE_TYPE_ARRAY) {
      return not_bound("array");
    }
    *to = state.resource.res.array.hArray;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMipmappedArray(CUmipmappedArray* out, CUtexref handle) {
  return get(__func__, handle, out,
             [](const ReferenceState& state, CUmipmappedArray* to) -> CUresult {
               if (!state.is_bound || state.resource.resType != CU_RESOURCE_TYPE_MIPMAPPED_ARRAY) {
                 return not_bound("mipmapped array");
               }
               *to = state.resource.res.mipmap.hMipmappedArray;
               return CUDA_SUCCESS;
             });
}

CUresult cuTexRefGetAddressMode(CUaddress_mode* out, CUtexref handle, int dimension) {
  return get(__func__, handle, out,
             [&](const ReferenceState& state, CUaddress_mode* to) -> CUresult {
               CU_TRY(check_dimension(dimension));
               *to = state.texture.addressMode[dimension];
               return CUDA_SUCCESS;
             });
}

CUresult cuTexRefGetFilterMode(CUfilter_mode* out, CUtexref handle) {
  return get(__func__, handle, out, [](const ReferenceState& state, CUfilter_mode* to) {
    *to = state.texture.filterMode;
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult cuTexRefGetFormat(CUarray_format* format, int* channels, CUtexref handle) {
  return with_texture(__func__, handle, [&](TextureReference& reference) -> CUresult {
    const ReferenceState state = reference.state();
    if (format != nullptr) *format = state.format;
    if (channels != nullptr) *channels = state.channels;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMipmapFilterMode(CUfilter_mode* out, CUtexref handle) {
  return get(__func__, handle, out, [](const ReferenceState& state, CUfilter_mode* to) {
    *to = state.texture.mipmapFilterMode;
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult cuTexRefGetMipmapLevelBias(float* out, CUtexref handle) {
  return get(__func__, handle, out, [](const ReferenceState& state, float* to) {
    *to = state.texture.mipmapLevelBias;
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult cuTexRefGetMipmapLevelClamp(float* least, float* most, CUtexref handle) {
  return with_texture(__func__, handle, [&](TextureReference& reference) -> CUresult {
    CU_REQUIRE(least);
    CU_REQUIRE(most);
    const ReferenceState state = reference.state();
    *least = state.texture.minMipmapLevelClamp;
    *most = state.texture.maxMipmapLevelClamp;
    return CUDA_SUCCESS;
  });
}

CUresult cuTexRefGetMaxAnisotropy(int* out, CUtexref handle) {
  return get(__func__, handle, out, [](const ReferenceState& state, int* to) {
    *to = static_cast<int>(state.texture.maxAnisotropy);
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult cuTexRefGetBorderColor(float* out, CUtexref handle) {
  return get(__func__, handle, out, [](const ReferenceState& state, float* to) {
    std::copy(state.texture.borderColor, state.texture.borderColor + 4, to);
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult cuTexRefGetFlags(unsigned int* out, CUtexref handle) {
  return get(__func__, handle, out, [](const ReferenceState& state, unsigned int* to) {
    *to = state.texture.flags;
    return CUresult{CUDA_SUCCESS};
  });
}

CUresult cuSurfRefSetArray(CUsurfref handle, CUarray array, unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    static_cast<void>(context);
    if (flags != 0) return fail(CUDA_ERROR_INVALID_VALUE, "Flags is 0x%x; must be 0", flags);
    CU_GET(TextureReference, reference, reinterpret_cast<CUtexref>(handle));
    if (!reference->is_surface()) {
      return fail(CUDA_ERROR_INVALID_HANDLE, "the reference is a texture reference");
    }
    return bind_array(*reference, array);
  });
}

CUresult cuSurfRefGetArray(CUarray* out, CUsurfref handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(context);
    static_cast<void>(context);
    CU_REQUIRE(out);
    CU_GET(TextureReference, reference, reinterpret_cast<CUtexref>(handle));
    const ReferenceState state = reference->state();
    if (!reference->is_surface() || !state.is_bound) return not_bound("array");
    *out = state.resource.res.array.hArray;
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
