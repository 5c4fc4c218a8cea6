// Array formats: channels in the runtime's form and in the driver's.
#pragma once

#include "dropin/cudart/frame/driver.h"

namespace km::cudart {

struct ArrayFormat {
  CUarray_format format;
  unsigned channels;
};
/// cudaErrorInvalidChannelDescriptor if arrays cannot have such elements.
cudaError_t driver_format(const cudaChannelFormatDesc& channels, ArrayFormat* out);
cudaChannelFormatDesc runtime_format(ArrayFormat format);
/// The size of an array's elements.
cudaError_t element_bytes(CUarray array, size_t* out);

}  // namespace km::cudart
