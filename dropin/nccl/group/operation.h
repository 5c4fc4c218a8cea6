// The checks of operations' arguments.
#pragma once

#include "dropin/nccl/group/group.h"

namespace km::nccl {

/// The arguments of an operation as the program gives them.
struct Arguments {
  comm::Kind kind;
  const void* send;
  void* receive;
  size_t count;
  ncclDataType_t type;
  ncclRedOp_t op = ncclSum;
  int root = 0;  // or the other rank
};

/// Checks the operation and requests it.
ncclResult_t collective(const char* function, const Arguments& arguments, ncclComm_t comm,
                        cudaStream_t stream);
/// collective() with settings.
ncclResult_t configured(const char* function, const Arguments& arguments, ncclComm_t comm,
                        cudaStream_t stream, const ncclCollConfig_t* config);

/// The engine's type; ncclInvalidArgument if there is none with the number.
ncclResult_t read_type(ncclDataType_t type, comm::Type* out);

}  // namespace km::nccl
