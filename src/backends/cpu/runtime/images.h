// The textures and surfaces that kernels refer to by handle, and the access functions for generated
// code.
#pragma once

#include "backend/images.h"
#include "base/result.h"
#include "simt/runtime/image.h"

namespace km::cpu {

/// The process-wide table of live images. Lookups take no lock. The slot of a destroyed image is
/// reused only after thousands of others, so that a kernel that still reads the image finds it
/// unchanged.
class Images {
 public:
  /// The process-wide table.
  static Images& instance();

  /// Adds an image and returns its handle. Fails if the description is invalid.
  Result<uint64_t> add(const kmb_image& description);
  /// Removes an image; false if the handle is not live.
  bool remove(uint64_t handle);
  /// Null if the handle is not live. Kernels may pass any value.
  static const simt::Image* find(uint64_t handle);
};

/// The vtable of images, to which the attribute KMB_DEVICE_ATTRIBUTE_IMAGES points.
const kmb_image_entries& image_entries();

/// Implements ImageRuntime::image.
void access_image(simt::BlockState* state, const simt::ImageForm* form, uint64_t handle,
                  const uint64_t* handles, uint32_t lanes, simt::ImageSlot* slots);

}  // namespace km::cpu
