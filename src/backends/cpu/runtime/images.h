// The textures and surfaces that kernels can name, and what generated code does with them.
#pragma once

#include "backend/images.h"
#include "base/result.h"
#include "simt/runtime/image.h"

namespace km::cpu {

/// The table of live images, one for the process, by their handles. Looking up takes no lock; an
/// image that is destroyed while a kernel reads it keeps its place for thousands of others.
class Images {
 public:
  static Images& instance();

  Result<uint64_t> add(const kmb_image& description);
  bool remove(uint64_t handle);
  /// Null for every value that is no live handle.
  static const simt::Image* find(uint64_t handle);
};

/// The entries that the device attribute names.
const kmb_image_entries& image_entries();

/// ImageRuntime::image.
void access_image(simt::BlockState* state, const simt::ImageForm* form, uint64_t handle,
                  const uint64_t* handles, uint32_t lanes, simt::ImageSlot* slots);

}  // namespace km::cpu
