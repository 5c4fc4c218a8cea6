// OpenGL interoperability: the results that CUDA documents if OpenGL renders on other devices.
#include "dropin/cuda/frame/call.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

extern "C" {

CUresult cuGLGetDevices_v2(unsigned int* count, CUdevice* devices, unsigned int,
                           CUGLDeviceList list) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(count);
    CU_REQUIRE(devices);
    constexpr CUGLDeviceList kAll = 1, kNextFrame = 3;
    if (list < kAll || list > kNextFrame) {
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no list %d of devices", list);
    }
    *count = 0;
    return fail(CUDA_ERROR_NO_DEVICE, "no CUDA device renders for OpenGL");
  });
}

CUresult cuGLGetDevices(unsigned int* count, CUdevice* devices, unsigned int room,
                        CUGLDeviceList list) {
  return cuGLGetDevices_v2(count, devices, room, list);
}

}  // extern "C"

}  // namespace km::cu
