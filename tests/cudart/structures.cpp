// Sizes, offsets and values of dropin/cudart/frame/types.h are those of NVIDIA's headers.
#define KM_CUDA_LINKAGE "C++"
#define KM_CUDART_LINKAGE "C++"
#include "dropin/cudart/device/device_properties.h"
#include "dropin/cudart/frame/types.h"

#include <cuda_runtime_api.h>

#define SIZE(type) static_assert(sizeof(km::cudart::type) == sizeof(::type), #type)
#define MEMBER(type, member)                                                      \
  static_assert(offsetof(km::cudart::type, member) == offsetof(::type, member) && \
                    sizeof(km::cudart::type::member) == sizeof(::type::member),   \
                #type "." #member)

SIZE(dim3);
SIZE(cudaChannelFormatDesc);
MEMBER(cudaChannelFormatDesc, f);
SIZE(cudaPitchedPtr);
MEMBER(cudaPitchedPtr, ysize);
SIZE(cudaMemcpy3DParms);
MEMBER(cudaMemcpy3DParms, srcPtr);
MEMBER(cudaMemcpy3DParms, dstArray);
MEMBER(cudaMemcpy3DParms, dstPtr);
MEMBER(cudaMemcpy3DParms, extent);
MEMBER(cudaMemcpy3DParms, kind);
SIZE(cudaMemcpy3DPeerParms);
MEMBER(cudaMemcpy3DPeerParms, srcDevice);
MEMBER(cudaMemcpy3DPeerParms, dstDevice);
MEMBER(cudaMemcpy3DPeerParms, extent);
SIZE(cudaMemsetParams);
MEMBER(cudaMemsetParams, elementSize);
MEMBER(cudaMemsetParams, height);
SIZE(cudaKernelNodeParams);
MEMBER(cudaKernelNodeParams, blockDim);
MEMBER(cudaKernelNodeParams, sharedMemBytes);
MEMBER(cudaKernelNodeParams, extra);
SIZE(cudaPointerAttributes);
MEMBER(cudaPointerAttributes, hostPointer);
SIZE(cudaFuncAttributes);
MEMBER(cudaFuncAttributes, maxThreadsPerBlock);
MEMBER(cudaFuncAttributes, maxDynamicSharedSizeBytes);
MEMBER(cudaFuncAttributes, nonPortableClusterSizeAllowed);
SIZE(cudaLaunchConfig_t);
MEMBER(cudaLaunchConfig_t, dynamicSmemBytes);
MEMBER(cudaLaunchConfig_t, stream);
MEMBER(cudaLaunchConfig_t, numAttrs);
SIZE(cudaTextureDesc);
MEMBER(cudaTextureDesc, borderColor);
MEMBER(cudaTextureDesc, maxAnisotropy);
MEMBER(cudaTextureDesc, seamlessCubemap);
MEMBER(cudaResourceDesc, res.linear.sizeInBytes);
MEMBER(cudaResourceDesc, res.pitch2D.pitchInBytes);
MEMBER(cudaResourceViewDesc, depth);
MEMBER(cudaResourceViewDesc, lastLayer);
SIZE(cudaGraphNodeParams);
MEMBER(cudaGraphNodeParams, kernel);
MEMBER(cudaGraphNodeParams, kernel.ctx);
MEMBER(cudaGraphNodeParams, memcpy.ctx);
MEMBER(cudaGraphNodeParams, memcpy.copyParams);
MEMBER(cudaGraphNodeParams, memset.ctx);
MEMBER(cudaGraphNodeParams, host.syncMode);
MEMBER(cudaGraphNodeParams, graph.ownership);
MEMBER(cudaGraphNodeParams, eventRecord.ctx);
MEMBER(cudaGraphNodeParams, alloc.dptr);
MEMBER(cudaGraphNodeParams, conditional.phGraph_out);
MEMBER(cudaGraphNodeParams, conditional.ctx);
MEMBER(cudaGraphNodeParams, reserved2);

// Those that are the driver's.
SIZE(cudaIpcEventHandle_t);
SIZE(cudaIpcMemHandle_t);
SIZE(cudaMemLocation);
SIZE(cudaMemAccessDesc);
MEMBER(cudaMemAccessDesc, flags);
SIZE(cudaMemPoolProps);
MEMBER(cudaMemPoolProps, location);
MEMBER(cudaMemPoolProps, maxSize);
MEMBER(cudaMemPoolProps, usage);
SIZE(cudaMemAllocNodeParams);
MEMBER(cudaMemAllocNodeParams, dptr);
SIZE(cudaMemcpyAttributes);
MEMBER(cudaMemcpyAttributes, dstLocHint);
SIZE(cudaMemcpy3DBatchOp);
MEMBER(cudaMemcpy3DBatchOp, extent);
SIZE(cudaGraphEdgeData);
SIZE(cudaGraphExecUpdateResultInfo);
MEMBER(cudaGraphExecUpdateResultInfo, errorFromNode);
SIZE(cudaGraphInstantiateParams);
MEMBER(cudaGraphInstantiateParams, result_out);
SIZE(cudaHostNodeParams);
SIZE(cudaLaunchAttribute);
SIZE(cudaLaunchAttributeValue);
static_assert(offsetof(km::cudart::cudaLaunchAttribute, value) ==
              offsetof(::cudaLaunchAttribute, val));

SIZE(cudaDeviceProp);
MEMBER(cudaDeviceProp, luidDeviceNodeMask);
#define KM_PROPERTY(type, name, count, attribute) MEMBER(cudaDeviceProp, name);
#define KM_PROPERTY_12(type, name, count, attribute)
#define KM_PROPERTY_13(type, name, count, attribute) MEMBER(cudaDeviceProp, name);
#include "dropin/cudart/device/device_properties.def"
// CUDA 12's, by the figures of its headers.
static_assert(sizeof(km::cudart::DeviceProp12) == 1032);
static_assert(offsetof(km::cudart::DeviceProp12, clockRate) == 348);
static_assert(offsetof(km::cudart::DeviceProp12, hostRegisterSupported) == 728);
static_assert(offsetof(km::cudart::DeviceProp12, unifiedFunctionPointers) == 776);

// The numbers of driver and runtime agree, which results and parameters are passed on by.
#define SAME(theirs, ours) static_assert(int{::theirs} == int{km::cudart::ours}, #theirs)
SAME(cudaErrorInvalidValue, CUDA_ERROR_INVALID_VALUE);
SAME(cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY);
SAME(cudaErrorInitializationError, CUDA_ERROR_NOT_INITIALIZED);
SAME(cudaErrorCudartUnloading, CUDA_ERROR_DEINITIALIZED);
SAME(cudaErrorNoDevice, CUDA_ERROR_NO_DEVICE);
SAME(cudaErrorInvalidDevice, CUDA_ERROR_INVALID_DEVICE);
SAME(cudaErrorInvalidKernelImage, CUDA_ERROR_INVALID_IMAGE);
SAME(cudaErrorDeviceUninitialized, CUDA_ERROR_INVALID_CONTEXT);
SAME(cudaErrorNoKernelImageForDevice, CUDA_ERROR_NO_BINARY_FOR_GPU);
SAME(cudaErrorInvalidPtx, CUDA_ERROR_INVALID_PTX);
SAME(cudaErrorInvalidResourceHandle, CUDA_ERROR_INVALID_HANDLE);
SAME(cudaErrorSymbolNotFound, CUDA_ERROR_NOT_FOUND);
SAME(cudaErrorNotReady, CUDA_ERROR_NOT_READY);
SAME(cudaErrorIllegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
SAME(cudaErrorLaunchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
SAME(cudaErrorLaunchFailure, CUDA_ERROR_LAUNCH_FAILED);
SAME(cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED);
SAME(cudaErrorUnknown, CUDA_ERROR_UNKNOWN);
SAME(cudaDevAttrMaxThreadsPerBlock, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
SAME(cudaDevAttrHostNumaId, CU_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
SAME(cudaFuncAttributeMaxDynamicSharedMemorySize, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
SAME(cudaLimitMallocHeapSize, CU_LIMIT_MALLOC_HEAP_SIZE);
SAME(cudaGraphNodeTypeConditional, CU_GRAPH_NODE_TYPE_CONDITIONAL);
SAME(cudaMemPoolAttrReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
SAME(cudaMemAdviseSetPreferredLocation, CU_MEM_ADVISE_SET_PREFERRED_LOCATION);
SAME(cudaMemLocationTypeHostNuma, CU_MEM_LOCATION_TYPE_HOST_NUMA);
SAME(cudaResourceTypePitch2D, CU_RESOURCE_TYPE_PITCH2D);
