// Collective operations with settings of their own, which decide how GPUs carry them out: here they
// are checked alone.
#include "dropin/nccl/group/operation.h"

using namespace km;
using namespace km::nccl;
using comm::Kind;

extern "C" {

ncclResult_t ncclAllReduceConfig(const void* sendbuff, void* recvbuff, size_t count,
                                 ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                 cudaStream_t stream, const ncclCollConfig_t* config) {
  return configured(__func__, {Kind::kAllReduce, sendbuff, recvbuff, count, datatype, op}, comm,
                    stream, config);
}

ncclResult_t ncclReduceConfig(const void* sendbuff, void* recvbuff, size_t count,
                              ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm,
                              cudaStream_t stream, const ncclCollConfig_t* config) {
  return configured(__func__, {Kind::kReduce, sendbuff, recvbuff, count, datatype, op, root}, comm,
                    stream, config);
}

ncclResult_t ncclBroadcastConfig(const void* sendbuff, void* recvbuff, size_t count,
                                 ncclDataType_t datatype, int root, ncclComm_t comm,
                                 cudaStream_t stream, const ncclCollConfig_t* config) {
  return configured(__func__,
                    {Kind::kBroadcast, sendbuff, recvbuff, count, datatype, ncclSum, root}, comm,
                    stream, config);
}

ncclResult_t ncclAllGatherConfig(const void* sendbuff, void* recvbuff, size_t sendcount,
                                 ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream,
                                 const ncclCollConfig_t* config) {
  return configured(__func__, {Kind::kAllGather, sendbuff, recvbuff, sendcount, datatype}, comm,
                    stream, config);
}

ncclResult_t ncclReduceScatterConfig(const void* sendbuff, void* recvbuff, size_t recvcount,
                                     ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                                     cudaStream_t stream, const ncclCollConfig_t* config) {
  return configured(__func__, {Kind::kReduceScatter, sendbuff, recvbuff, recvcount, datatype, op},
                    comm, stream, config);
}

ncclResult_t ncclAlltoAllConfig(const void* sendbuff, void* recvbuff, size_t count,
                                ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream,
                                const ncclCollConfig_t* config) {
  return configured(__func__, {Kind::kAllToAll, sendbuff, recvbuff, count, datatype}, comm, stream,
                    config);
}

ncclResult_t ncclGatherConfig(const void* sendbuff, void* recvbuff, size_t count,
                              ncclDataType_t datatype, int root, ncclComm_t comm,
                              cudaStream_t stream, const ncclCollConfig_t* config) {
  return configured(__func__, {Kind::kGather, sendbuff, recvbuff, count, datatype, ncclSum, root},
                    comm, stream, config);
}

ncclResult_t ncclScatterConfig(const void* sendbuff, void* recvbuff, size_t count,
                               ncclDataType_t datatype, int root, ncclComm_t comm,
                               cudaStream_t stream, const ncclCollConfig_t* config) {
  return configured(__func__, {Kind::kScatter, sendbuff, recvbuff, count, datatype, ncclSum, root},
                    comm, stream, config);
}

}  // extern "C"
