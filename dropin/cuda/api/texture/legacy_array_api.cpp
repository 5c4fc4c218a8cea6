// Array and texture reference functions from before CUDA 3.2, with 32-bit addresses and sizes.
#include "dropin/cuda/memory/array.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

struct CUDA_ARRAY_DESCRIPTOR_v1 {
  unsigned Width, Height;
  CUarray_format Format;
  unsigned NumChannels;
};
struct CUDA_ARRAY3D_DESCRIPTOR_v1 {
  unsigned Width, Height, Depth;
  CUarray_format Format;
  unsigned NumChannels, Flags;
};

namespace {

CUDA_ARRAY_DESCRIPTOR widened(const CUDA_ARRAY_DESCRIPTOR_v1& old) {
  return {old.Width, old.Height, old.Format, old.NumChannels};
}

}  // namespace

extern "C" {

CUresult cuArrayCreate(CUarray* out, const CUDA_ARRAY_DESCRIPTOR_v1* description) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(description);
    const CUDA_ARRAY_DESCRIPTOR wide = widened(*description);
    return cuArrayCreate_v2(out, &wide);
  });
}

CUresult cuArray3DCreate(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR_v1* description) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(description);
    const CUDA_ARRAY3D_DESCRIPTOR wide = {description->Width,       description->Height,
                                          description->Depth,       description->Format,
                                          description->NumChannels, description->Flags};
    return cuArray3DCreate_v2(out, &wide);
  });
}

CUresult cuArrayGetDescriptor(CUDA_ARRAY_DESCRIPTOR_v1* out, CUarray array) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CUDA_ARRAY_DESCRIPTOR found{};
    CU_TRY(cuArrayGetDescriptor_v2(&found, array));
    *out = {static_cast<unsigned>(found.Width), static_cast<unsigned>(found.Height), found.Format,
            found.NumChannels};
    return CUDA_SUCCESS;
  });
}

CUresult cuArray3DGetDescriptor(CUDA_ARRAY3D_DESCRIPTOR_v1* out, CUarray array) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CUDA_ARRAY3D_DESCRIPTOR found{};
    CU_TRY(cuArray3DGetDescriptor_v2(&found, array));
    *out = {static_cast<unsigned>(found.Width),
            static_cast<unsigned>(found.Height),
            static_cast<unsigned>(found.Depth),
            found.Format,
            found.NumChannels,
            found.Flags};
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyHtoA(CUarray to, unsigned int offset, const void* from, unsigned int bytes) {
  return cuMemcpyHtoA_v2(to, offset, from, bytes);
}

CUresult cuMemcpyHtoAAsync(CUarray to, unsigned int offset, const void* from, unsigned int bytes,
                           CUstream stream) {
  return cuMemcpyHtoAAsync_v2(to, offset, from, bytes, stream);
}

CUresult cuMemcpyAtoH(void* to, CUarray from, unsigned int offset, unsigned int bytes) {
  return cuMemcpyAtoH_v2(to, from, offset, bytes);
}

CUresult cuMemcpyAtoHAsync(void* to, CUarray from, unsigned int offset, unsigned int bytes,
                           CUstream stream) {
  return cuMemcpyAtoHAsync_v2(to, from, offset, bytes, stream);
}

CUresult cuMemcpyDtoA(CUarray to, unsigned int offset, CUdeviceptr_v1 from, unsigned int bytes) {
  return cuMemcpyDtoA_v2(to, offset, from, bytes);
}

CUresult cuMemcpyAtoD(CUdeviceptr_v1 to, CUarray from, unsigned int offset, unsigned int bytes) {
  return cuMemcpyAtoD_v2(to, from, offset, bytes);
}

CUresult cuMemcpyAtoA(CUarray to, unsigned int to_offset, CUarray from, unsigned int from_offset,
                      unsigned int bytes) {
  return cuMemcpyAtoA_v2(to, to_offset, from, from_offset, bytes);
}

CUresult cuTexRefSetAddress(unsigned int* offset, CUtexref reference, CUdeviceptr_v1 address,
                            unsigned int bytes) {
  size_t wide = 0;
  const CUresult bound =
      cuTexRefSetAddress_v2(offset != nullptr ? &wide : nullptr, reference, address, bytes);
  if (bound == CUDA_SUCCESS && offset != nullptr) *offset = static_cast<unsigned>(wide);
  return bound;
}

CUresult cuTexRefSetAddress2D(CUtexref reference, const CUDA_ARRAY_DESCRIPTOR_v1* description,
                              CUdeviceptr_v1 address, unsigned int pitch_bytes) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(description);
    const CUDA_ARRAY_DESCRIPTOR wide = widened(*description);
    return cuTexRefSetAddress2D_v3(reference, &wide, address, pitch_bytes);
  });
}

CUresult cuTexRefGetAddress(CUdeviceptr_v1* out, CUtexref reference) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CUdeviceptr found = 0;
    CU_TRY(cuTexRefGetAddress_v2(&found, reference));
    if (found > UINT32_MAX) {
      return fail(CUDA_ERROR_INVALID_VALUE,
                  "0x%llx does not fit the 32 bits of this version of the function; use the newest",
                  found);
    }
    *out = static_cast<CUdeviceptr_v1>(found);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
