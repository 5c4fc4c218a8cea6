// Textures and surfaces: images that kernels name by handles.
#pragma once

#include "dropin/cuda/memory/array.h"

namespace km::dropin {

/// The alignment of linear textures, which every allocation has; programs that ask for the device
/// attribute leave more.
inline constexpr size_t kTextureAlignBytes = 256;
/// The most texels of a texture in linear memory.
inline constexpr size_t kMostLinearTexels = size_t{1} << 28;

/// The texels that an image reads, found and kept: memory that is freed meanwhile stays readable.
struct ImageSource {
  kmb_image image{};  // all but how it is sampled
  TexelFormat texels;
  Ref<km::Memory> memory;
  CUresult read(Context& context, const CUDA_RESOURCE_DESC& resource, bool is_surface);
  /// Other texels, levels or layers of the same memory.
  CUresult apply(const CUDA_RESOURCE_VIEW_DESC& view);
};

/// CUDA_ERROR_INVALID_VALUE for bits that are none of CU_TRSF_*.
CUresult check_texture_flags(unsigned flags);

/// Completes the description of a texture. CUDA_ERROR_INVALID_VALUE for what cannot be sampled so.
CUresult set_sampling(const CUDA_TEXTURE_DESC& texture, const TexelFormat& texels,
                      CUresourcetype resource, kmb_image* image);

/// The entries for images of the context's device. CUDA_ERROR_NOT_SUPPORTED: it has none.
CUresult image_entries_of(Context& context, const kmb_image_entries** out);

/// A texture or surface object.
struct ImageObject {
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC view{};
  bool is_surface = false, has_view = false;
  Context* context = nullptr;  // lives longer: it takes its images with it
  const kmb_image_entries* entries = nullptr;
  Ref<km::Memory> memory;
};

/// Makes the image and its object; gives the handle.
CUresult create_image(Context& context, ImageObject object, uint64_t* out);
/// The handle ends; the image when all work is over that its context's streams have now, since
/// kernels among it may read it. CUDA_ERROR_INVALID_VALUE: it is none of that kind.
CUresult destroy_image(uint64_t handle, bool is_surface);
/// At synchronisation: some of the destroyed images whose readers are over end.
void end_unread_images();
CUresult find_image(uint64_t handle, bool is_surface, ImageObject* out);
/// The images of a context end with it.
void destroy_images(const Context& context);

}  // namespace km::dropin
