// The CUDA runtime API as an ABI: handles, structures, constants and prototypes, so that building
// needs no CUDA SDK. A test compares everything with NVIDIA's headers. Types with the driver's
// layout are aliases of the driver's types.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda/driver.h"

namespace km::cudart {

using namespace km::cu;  // NOLINT  tidy: using: its names are the point

#include "dropin/cudart/generated/enums.h"
#include "dropin/cudart/generated/versions.h"

using cudaError_t = cudaError;
using cudaUUID_t = CUuuid;
using cudaStream_t = CUstream;
using cudaEvent_t = CUevent;
using cudaArray_t = CUarray;
using cudaArray_const_t = const CUarray_st*;
using cudaMipmappedArray_t = CUmipmappedArray;
using cudaMipmappedArray_const_t = const CUmipmappedArray_st*;
using cudaGraph_t = CUgraph;
using cudaGraphNode_t = CUgraphNode;
using cudaGraphExec_t = CUgraphExec;
using cudaMemPool_t = CUmemoryPool;
using cudaUserObject_t = CUuserObject;
using cudaFunction_t = CUfunction;
using cudaKernel_t = CUkernel;
using cudaLibrary_t = CUlibrary;
using cudaExternalMemory_t = CUexternalMemory;
using cudaExternalSemaphore_t = CUexternalSemaphore;
using cudaGraphicsResource_t = CUgraphicsResource;
using cudaTextureObject_t = CUtexObject;
using cudaSurfaceObject_t = CUsurfObject;
using cudaGraphConditionalHandle = CUgraphConditionalHandle;
using cudaDevResourceDesc_t = CUdevResourceDesc;
using cudaAsyncCallbackHandle_t = CUasyncCallbackHandle;
using cudaAsyncCallback = CUasyncCallback;
using cudaLogIterator = CUlogIterator;
using cudaLogsCallbackHandle = CUlogsCallbackHandle;
using cudaLogsCallback_t = CUlogsCallback;
using cudaHostFn_t = CUhostFn;
using cudaStreamCallback_t = CUstreamCallback;
using cudaExecutionContext_t = struct ExecutionContext*;

using cudaIpcEventHandle_t = CUipcEventHandle;
using cudaIpcMemHandle_t = CUipcMemHandle;
using cudaMemLocation = CUmemLocation;
using cudaMemAccessDesc = CUmemAccessDesc;
using cudaMemPoolProps = CUmemPoolProps;
using cudaMemPoolPtrExportData = CUmemPoolPtrExportData;
using cudaMemAllocNodeParams = CUDA_MEM_ALLOC_NODE_PARAMS;
using cudaMemcpyAttributes = CUmemcpyAttributes;
using cudaMemcpy3DBatchOp = CUDA_MEMCPY3D_BATCH_OP;
using cudaGraphEdgeData = CUgraphEdgeData;
using cudaGraphExecUpdateResultInfo = CUgraphExecUpdateResultInfo;
using cudaGraphInstantiateParams = CUDA_GRAPH_INSTANTIATE_PARAMS;
using cudaGraphRecaptureCallbackData = void;
using cudaHostNodeParams = CUDA_HOST_NODE_PARAMS;
using cudaLaunchAttributeValue = CUlaunchAttributeValue;
using cudaLaunchAttribute = CUlaunchAttribute;
using cudaArraySparseProperties = CUDA_ARRAY_SPARSE_PROPERTIES;
using cudaArrayMemoryRequirements = CUDA_ARRAY_MEMORY_REQUIREMENTS;
using cudaDevResource = CUdevResource;
using cudaDevSmResourceGroupParams = CU_DEV_SM_RESOURCE_GROUP_PARAMS;

// Opaque: only pointers to it are used.
struct cudaExternalMemoryBufferDesc;
struct cudaExternalMemoryHandleDesc;
struct cudaExternalMemoryMipmappedArrayDesc;
struct cudaExternalSemaphoreHandleDesc;
struct cudaExternalSemaphoreSignalNodeParams;
struct cudaExternalSemaphoreSignalParams;
struct cudaExternalSemaphoreWaitNodeParams;
struct cudaExternalSemaphoreWaitParams;

struct dim3 {
  unsigned x, y, z;
};
struct cudaChannelFormatDesc {
  int x, y, z, w;
  cudaChannelFormatKind f;
};
struct cudaPitchedPtr {
  void* ptr;
  size_t pitch, xsize, ysize;
};
struct cudaExtent {
  size_t width, height, depth;
};
struct cudaPos {
  size_t x, y, z;
};
struct cudaMemcpy3DParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  cudaExtent extent;
  cudaMemcpyKind kind;
};
struct cudaMemcpy3DPeerParms {
  cudaArray_t srcArray;
  cudaPos srcPos;
  cudaPitchedPtr srcPtr;
  int srcDevice;
  cudaArray_t dstArray;
  cudaPos dstPos;
  cudaPitchedPtr dstPtr;
  int dstDevice;
  cudaExtent extent;
};
struct cudaMemsetParams {
  void* dst;
  size_t pitch;
  unsigned value, elementSize;
  size_t width, height;
};
struct cudaKernelNodeParams {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
};
struct cudaPointerAttributes {
  cudaMemoryType type;
  int device;
  void* devicePointer;
  void* hostPointer;  // the last member in CUDA 12
  long reserved[8];
};
struct cudaFuncAttributes {
  size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
  int maxThreadsPerBlock, numRegs, ptxVersion, binaryVersion, cacheModeCA;
  int maxDynamicSharedSizeBytes, preferredShmemCarveout;
  int clusterDimMustBeSet, requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
  int clusterSchedulingPolicyPreference, nonPortableClusterSizeAllowed;
  int reserved[16];
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct {
      cudaArray_t array;
    } array;
    struct {
      cudaMipmappedArray_t mipmap;
    } mipmap;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t sizeInBytes;
    } linear;
    struct {
      void* devPtr;
      cudaChannelFormatDesc desc;
      size_t width, height, pitchInBytes;
    } pitch2D;
  } res;  // the last member in CUDA 12
};
struct cudaResourceViewDesc {
  cudaResourceViewFormat format;
  size_t width, height, depth;
  unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
};
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3];
  cudaTextureFilterMode filterMode;
  cudaTextureReadMode readMode;
  int sRGB;
  float borderColor[4];
  int normalizedCoords;
  unsigned maxAnisotropy;
  cudaTextureFilterMode mipmapFilterMode;
  float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
  int disableTrilinearOptimization, seamlessCubemap;
};

// Parameters of every node type except external semaphores and batches of copies. In CUDA 12 the
// contexts are reserved bytes, which are 0.
struct cudaKernelNodeParamsV2 {
  void* func;
  dim3 gridDim, blockDim;
  unsigned sharedMemBytes;
  void** kernelParams;
  void** extra;
  cudaExecutionContext_t ctx;
  cudaKernelFunctionType functionType;
};
struct cudaMemcpyNodeParams {
  int flags, reserved;
  cudaExecutionContext_t ctx;
  cudaMemcpy3DParms copyParams;
};
struct cudaMemsetParamsV2 {
  cudaMemsetParams fill;
  cudaExecutionContext_t ctx;
};
struct cudaGraphNodeParams {
  cudaGraphNodeType type;
  int reserved0[3];
  union {
    long long reserved1[29];
    cudaKernelNodeParamsV2 kernel;
    cudaMemcpyNodeParams memcpy;
    cudaMemsetParamsV2 memset;
    CUDA_HOST_NODE_PARAMS_v2 host;
    CUDA_CHILD_GRAPH_NODE_PARAMS graph;
    CUDA_EVENT_WAIT_NODE_PARAMS eventWait;
    CUDA_EVENT_RECORD_NODE_PARAMS eventRecord;
    CUDA_MEM_ALLOC_NODE_PARAMS alloc;
    CUDA_MEM_FREE_NODE_PARAMS free;
    CUDA_CONDITIONAL_NODE_PARAMS conditional;
  };
  long long reserved2;
};

struct cudaDeviceProp;    // properties.h
struct cudaLaunchParams;  // CUDA 12 only

#ifndef KM_CUDART_LINKAGE  // "C++" if NVIDIA's headers declare the same functions
#define KM_CUDART_LINKAGE "C"
#endif
extern KM_CUDART_LINKAGE {
#include "dropin/cudart/generated/prototypes.h"
#if defined(KM_CUDART_OWN_NAMES) && !defined(KM_CUDART_EXPORTS)
// The library defines its functions under names of their own: those that it exports may tell a
// profiler of the call.
#define KM_API_CALL(symbol, number, parameters, arguments) \
  decltype(symbol) symbol KM_SYMBOL_NAME("km_" #symbol);
#include "dropin/cudart/generated/calls.def"
#endif
}

// Predefined handles of the default streams.
inline const cudaStream_t kLegacyStream = reinterpret_cast<cudaStream_t>(1);
inline const cudaStream_t kPerThreadStream = reinterpret_cast<cudaStream_t>(2);
/// Maps a null stream for programs that are built with per-thread default streams.
inline cudaStream_t per_thread(cudaStream_t stream) {
  return stream != nullptr ? stream : kPerThreadStream;
}

/// Converts between the runtime's pointers and the driver's addresses.
inline CUdeviceptr device_address(const void* pointer) {
  return static_cast<CUdeviceptr>(reinterpret_cast<uintptr_t>(pointer));
}
inline void* host_address(CUdeviceptr address) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(address));
}

}  // namespace km::cudart
