// Sizes, offsets and values of src/cuda/driver.h are those of NVIDIA's cuda.h.
#define KM_CUDA_LINKAGE "C++"
#include "cuda/driver.h"
#include "cuda/tensor_types.h"

#include <cuda.h>

#define SIZE(type) static_assert(sizeof(km::cu::type) == sizeof(::type), #type)
#define MEMBER(type, member)                                                  \
  static_assert(offsetof(km::cu::type, member) == offsetof(::type, member) && \
                    sizeof(km::cu::type::member) == sizeof(::type::member),   \
                #type "." #member)

SIZE(CUuuid);
SIZE(CUipcEventHandle);
SIZE(CUipcMemHandle);
SIZE(CUdevprop);
MEMBER(CUdevprop, textureAlign);
SIZE(CUmemLocation);
MEMBER(CUmemLocation, id);
SIZE(CUtensorMap);
SIZE(CUmulticastObjectProp);
MEMBER(CUmulticastObjectProp, size);
MEMBER(CUmulticastObjectProp, handleTypes);
MEMBER(CUmulticastObjectProp, flags);
SIZE(CUDA_MEMCPY2D);
MEMBER(CUDA_MEMCPY2D, srcMemoryType);
MEMBER(CUDA_MEMCPY2D, srcDevice);
MEMBER(CUDA_MEMCPY2D, dstMemoryType);
MEMBER(CUDA_MEMCPY2D, dstPitch);
MEMBER(CUDA_MEMCPY2D, Height);
SIZE(CUDA_MEMCPY3D);
MEMBER(CUDA_MEMCPY3D, srcMemoryType);
MEMBER(CUDA_MEMCPY3D, srcHeight);
MEMBER(CUDA_MEMCPY3D, dstMemoryType);
MEMBER(CUDA_MEMCPY3D, dstHeight);
MEMBER(CUDA_MEMCPY3D, Depth);
SIZE(CUDA_MEMCPY3D_PEER);
MEMBER(CUDA_MEMCPY3D_PEER, srcContext);
MEMBER(CUDA_MEMCPY3D_PEER, dstContext);
SIZE(CUDA_KERNEL_NODE_PARAMS_v1);
SIZE(CUDA_KERNEL_NODE_PARAMS);
MEMBER(CUDA_KERNEL_NODE_PARAMS, kernelParams);
MEMBER(CUDA_KERNEL_NODE_PARAMS, kern);
SIZE(CUDA_MEMSET_NODE_PARAMS);
MEMBER(CUDA_MEMSET_NODE_PARAMS, elementSize);
MEMBER(CUDA_MEMSET_NODE_PARAMS, height);
SIZE(CUDA_HOST_NODE_PARAMS);
SIZE(CUlaunchAttributeValue);
SIZE(CUlaunchAttribute);
MEMBER(CUlaunchAttribute, value);
SIZE(CUlaunchConfig);
MEMBER(CUlaunchConfig, hStream);
MEMBER(CUlaunchConfig, numAttrs);
SIZE(CUDA_LAUNCH_PARAMS);
SIZE(CUdevSmResource);
MEMBER(CUdevSmResource, localityDomainId);
SIZE(CUdevResource);
MEMBER(CUdevResource, _internal_padding);
MEMBER(CUdevResource, sm);
MEMBER(CUdevResource, nextResource);
SIZE(CU_DEV_SM_RESOURCE_GROUP_PARAMS);
MEMBER(CU_DEV_SM_RESOURCE_GROUP_PARAMS, localityDomainId);
SIZE(CUmemPoolProps);
MEMBER(CUmemPoolProps, maxSize);
SIZE(CUmemAllocationProp);
MEMBER(CUmemAllocationProp, location);
SIZE(CUmemAccessDesc);
SIZE(CUgraphEdgeData);
SIZE(CUgraphExecUpdateResultInfo);
SIZE(CUDA_GRAPH_INSTANTIATE_PARAMS);
MEMBER(CUDA_GRAPH_INSTANTIATE_PARAMS, result_out);
SIZE(CUDA_ARRAY_DESCRIPTOR);
MEMBER(CUDA_ARRAY_DESCRIPTOR, NumChannels);
SIZE(CUDA_ARRAY3D_DESCRIPTOR);
MEMBER(CUDA_ARRAY3D_DESCRIPTOR, Flags);
SIZE(CUDA_RESOURCE_DESC);
MEMBER(CUDA_RESOURCE_DESC, res.linear.sizeInBytes);
MEMBER(CUDA_RESOURCE_DESC, res.pitch2D.pitchInBytes);
MEMBER(CUDA_RESOURCE_DESC, flags);
SIZE(CUDA_RESOURCE_VIEW_DESC);
MEMBER(CUDA_RESOURCE_VIEW_DESC, lastLayer);
SIZE(CUDA_TEXTURE_DESC);
MEMBER(CUDA_TEXTURE_DESC, flags);
MEMBER(CUDA_TEXTURE_DESC, borderColor);
SIZE(CUctxCreateParams);
SIZE(CUstreamBatchMemOpParams);
SIZE(CUDA_BATCH_MEM_OP_NODE_PARAMS);
SIZE(CUDA_MEMCPY_NODE_PARAMS);
MEMBER(CUDA_MEMCPY_NODE_PARAMS, copyParams);
SIZE(CUDA_MEMSET_NODE_PARAMS_v2);
MEMBER(CUDA_MEMSET_NODE_PARAMS_v2, ctx);
SIZE(CUDA_HOST_NODE_PARAMS_v2);
MEMBER(CUDA_HOST_NODE_PARAMS_v2, ctx);
SIZE(CUDA_CHILD_GRAPH_NODE_PARAMS);
SIZE(CUDA_EVENT_RECORD_NODE_PARAMS);
SIZE(CUDA_EVENT_WAIT_NODE_PARAMS);
SIZE(CUDA_MEM_ALLOC_NODE_PARAMS);
MEMBER(CUDA_MEM_ALLOC_NODE_PARAMS, dptr);
SIZE(CUDA_MEM_FREE_NODE_PARAMS);
SIZE(CUgraphNodeParams);
MEMBER(CUgraphNodeParams, kernel);
SIZE(CUmemcpy3DOperand);
MEMBER(CUmemcpy3DOperand, op);
SIZE(CUDA_MEMCPY3D_BATCH_OP);
MEMBER(CUDA_MEMCPY3D_BATCH_OP, extent);
MEMBER(CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder);
SIZE(CUDA_CONDITIONAL_NODE_PARAMS);
MEMBER(CUDA_CONDITIONAL_NODE_PARAMS, phGraph_out);
MEMBER(CUgraphNodeParams, alloc);
SIZE(CUmemcpyAttributes);
SIZE(CUexecAffinityParam);
MEMBER(CUmemcpyAttributes, flags);
MEMBER(CUDA_BATCH_MEM_OP_NODE_PARAMS, flags);

#define VALUE(name) static_assert(static_cast<long>(km::cu::name) == static_cast<long>(::name))
VALUE(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
VALUE(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
VALUE(CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE);
VALUE(CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH);
VALUE(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
