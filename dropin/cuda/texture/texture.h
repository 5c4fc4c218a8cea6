// Textures and surfaces: images that kernels access by handle.
#pragma once

#include "dropin/cuda/memory/array.h"

namespace km::dropin {

/// The alignment of linear textures. Every allocation has it; programs that query the device
/// attribute may align more.
inline constexpr size_t kTextureAlignBytes = 256;
/// The maximum number of texels in a linear texture.
inline constexpr size_t kMostLinearTexels = size_t{1} << 28;

/// The texels that an image reads, resolved and kept alive: memory that is freed meanwhile stays
/// readable.
struct ImageSource {
  kmb_image image{};  // complete except for sampling
  TexelFormat texels;
  Ref<km::Memory> memory;
  CUresult read(Context& context, const CUDA_RESOURCE_DESC& resource, bool is_surface);
  /// Selects other texels, levels or layers of the same memory.
  CUresult apply(const CUDA_RESOURCE_VIEW_DESC& view);
};

/// CUDA_ERROR_INVALID_VALUE if a bit is not one of CU_TRSF_*.
CUresult check_texture_flags(unsigned flags);

/// Completes a texture's description. CUDA_ERROR_INVALID_VALUE if the texels cannot be sampled that
/// way.
CUresult set_sampling(const CUDA_TEXTURE_DESC& texture, const TexelFormat& texels,
                      CUresourcetype resource, kmb_image* image);

/// The backend's functions for images on the context's device. CUDA_ERROR_NOT_SUPPORTED if it has
/// none.
CUresult image_entries_of(Context& context, const kmb_image_entries** out);

/// A texture or surface object.
struct ImageObject {
  CUDA_RESOURCE_DESC resource{};
  CUDA_TEXTURE_DESC texture{};
  CUDA_RESOURCE_VIEW_DESC view{};
  bool is_surface = false, has_view = false;
  Context* context = nullptr;  // outlives the image: its end destroys its images
  const kmb_image_entries* entries = nullptr;
  Ref<km::Memory> memory;
};

/// Creates the image and its object; returns the handle in `out`.
CUresult create_image(Context& context, ImageObject object, uint64_t* out);
/// Ends the handle at once. The image itself ends when all work that its context's streams have
/// queued by now has completed, because kernels among it may read it. CUDA_ERROR_INVALID_VALUE if
/// the handle is not of that kind.
CUresult destroy_image(uint64_t handle, bool is_surface);
/// Called at synchronisation: ends some of the destroyed images whose readers have completed.
void end_unread_images();
CUresult find_image(uint64_t handle, bool is_surface, ImageObject* out);
/// Ends all images of a context.
void destroy_images(const Context& context);

}  // namespace km::dropin
