// Compiles when our prototypes and structures of the CUDA driver, those that the cuda backend uses,
// agree with NVIDIA's own header in all that a call can notice: counts and sizes of parameters,
// what is a pointer, and where members lie.
#include <cstddef>
#include <type_traits>

#define KM_CUDA_LINKAGE "C++"
#include "backends/cuda/driver/driver.h"

// Every version of each function under its own name.
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

namespace {

using namespace km;

template <class Ours, class Theirs>
constexpr bool are_alike() {
  if constexpr (std::is_pointer_v<Ours> || std::is_pointer_v<Theirs>) {
    return std::is_pointer_v<Ours> && std::is_pointer_v<Theirs>;
  } else {
    return sizeof(Ours) == sizeof(Theirs) &&
           std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;
  }
}

template <class Ours, class Theirs>
constexpr bool g_same = false;
template <class Ours, class... OurParameters, class Theirs, class... TheirParameters>
  requires(sizeof...(OurParameters) == sizeof...(TheirParameters))
constexpr bool g_same<Ours (*)(OurParameters...), Theirs (*)(TheirParameters...)> =
    are_alike<Ours, Theirs>() && (are_alike<OurParameters, TheirParameters>() && ...);

#define KM_CUDA_SYMBOL(name) static_assert(g_same<decltype(&cu::name), decltype(&::name)>, #name);
#include "backends/cuda/driver/symbols.def"
#undef KM_CUDA_SYMBOL

#define KM_SIZE(type) static_assert(sizeof(cu::type) == sizeof(::type), #type)
#define KM_MEMBER(type, member) \
  static_assert(offsetof(cu::type, member) == offsetof(::type, member), #type "." #member)

KM_SIZE(CUDA_MEMCPY3D);
KM_MEMBER(CUDA_MEMCPY3D, srcMemoryType);
KM_MEMBER(CUDA_MEMCPY3D, srcHost);
KM_MEMBER(CUDA_MEMCPY3D, srcDevice);
KM_MEMBER(CUDA_MEMCPY3D, srcPitch);
KM_MEMBER(CUDA_MEMCPY3D, srcHeight);
KM_MEMBER(CUDA_MEMCPY3D, dstMemoryType);
KM_MEMBER(CUDA_MEMCPY3D, dstHost);
KM_MEMBER(CUDA_MEMCPY3D, dstDevice);
KM_MEMBER(CUDA_MEMCPY3D, dstPitch);
KM_MEMBER(CUDA_MEMCPY3D, dstHeight);
KM_MEMBER(CUDA_MEMCPY3D, WidthInBytes);
KM_MEMBER(CUDA_MEMCPY3D, Depth);
KM_SIZE(CUDA_KERNEL_NODE_PARAMS_v1);
KM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
KM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
KM_MEMBER(CUDA_KERNEL_NODE_PARAMS_v1, extra);
KM_SIZE(CUDA_MEMSET_NODE_PARAMS);
KM_MEMBER(CUDA_MEMSET_NODE_PARAMS, pitch);
KM_MEMBER(CUDA_MEMSET_NODE_PARAMS, value);
KM_MEMBER(CUDA_MEMSET_NODE_PARAMS, elementSize);
KM_MEMBER(CUDA_MEMSET_NODE_PARAMS, width);
KM_MEMBER(CUDA_MEMSET_NODE_PARAMS, height);
KM_SIZE(CUDA_HOST_NODE_PARAMS);
KM_MEMBER(CUDA_HOST_NODE_PARAMS, userData);
KM_SIZE(CUmemPoolProps);
KM_MEMBER(CUmemPoolProps, location);
KM_MEMBER(CUmemPoolProps, maxSize);
KM_SIZE(CUmemAccessDesc);
KM_MEMBER(CUmemAccessDesc, flags);
KM_SIZE(CUmemLocation);
KM_MEMBER(CUmemLocation, id);

}  // namespace
