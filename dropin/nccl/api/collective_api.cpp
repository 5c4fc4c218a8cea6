// Collective operations and messages.
#include "dropin/nccl/group/operation.h"

using namespace km;
using namespace km::nccl;
using comm::Kind;

extern "C" {

ncclResult_t ncclAllReduce(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                           cudaStream_t stream) {
  return collective(__func__, {Kind::kAllReduce, sendbuff, recvbuff, count, datatype, op}, comm,
                    stream);
}

ncclResult_t ncclReduce(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                        ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream) {
  return collective(__func__, {Kind::kReduce, sendbuff, recvbuff, count, datatype, op, root}, comm,
                    stream);
}

ncclResult_t ncclBroadcast(const void* sendbuff, void* recvbuff, size_t count,
                           ncclDataType_t datatype, int root, ncclComm_t comm,
                           cudaStream_t stream) {
  return collective(__func__,
                    {Kind::kBroadcast, sendbuff, recvbuff, count, datatype, ncclSum, root}, comm,
                    stream);
}

ncclResult_t ncclBcast(void* buff, size_t count, ncclDataType_t datatype, int root, ncclComm_t comm,
                       cudaStream_t stream) {
  return collective(__func__, {Kind::kBroadcast, buff, buff, count, datatype, ncclSum, root}, comm,
                    stream);
}

ncclResult_t ncclAllGather(const void* sendbuff, void* recvbuff, size_t sendcount,
                           ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return collective(__func__, {Kind::kAllGather, sendbuff, recvbuff, sendcount, datatype}, comm,
                    stream);
}

ncclResult_t ncclReduceScatter(const void* sendbuff, void* recvbuff, size_t recvcount,
                               ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm,
                               cudaStream_t stream) {
  return collective(__func__, {Kind::kReduceScatter, sendbuff, recvbuff, recvcount, datatype, op},
                    comm, stream);
}

ncclResult_t ncclAlltoAll(const void* sendbuff, void* recvbuff, size_t count,
                          ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream) {
  return collective(__func__, {Kind::kAllToAll, sendbuff, recvbuff, count, datatype}, comm, stream);
}

ncclResult_t ncclGather(const void* sendbuff, void* recvbuff, size_t count, ncclDataType_t datatype,
                        int root, ncclComm_t comm, cudaStream_t stream) {
  return collective(__func__, {Kind::kGather, sendbuff, recvbuff, count, datatype, ncclSum, root},
                    comm, stream);
}

ncclResult_t ncclScatter(const void* sendbuff, void* recvbuff, size_t count,
                         ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream) {
  return collective(__func__, {Kind::kScatter, sendbuff, recvbuff, count, datatype, ncclSum, root},
                    comm, stream);
}

ncclResult_t ncclSend(const void* sendbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return collective(__func__, {Kind::kSend, sendbuff, nullptr, count, datatype, ncclSum, peer},
                    comm, stream);
}

ncclResult_t ncclRecv(void* recvbuff, size_t count, ncclDataType_t datatype, int peer,
                      ncclComm_t comm, cudaStream_t stream) {
  return collective(__func__, {Kind::kReceive, nullptr, recvbuff, count, datatype, ncclSum, peer},
                    comm, stream);
}

}  // extern "C"
