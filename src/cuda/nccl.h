// The types and prototypes of NCCL that are used, from nccl.h, with all pointer types merged. They
// hold for NCCL 2.18 and later; tests/headers compares them with NVIDIA's header.
#pragma once

namespace km::nccl_library {

enum Status : int {
  kSuccess = 0,
  kUnhandledCudaError = 1,
  kSystemError = 2,
  kInternalError = 3,
  kInvalidArgument = 4,
  kInvalidUsage = 5,
  kRemoteError = 6,
  kInProgress = 7
};
enum DataType : int {
  kInt8 = 0,
  kUint8 = 1,
  kInt32 = 2,
  kUint32 = 3,
  kInt64 = 4,
  kUint64 = 5,
  kF16 = 6,
  kF32 = 7,
  kF64 = 8,
  kBf16 = 9,
  kE4m3 = 10,  // from 2.24 on, like the next one
  kE5m2 = 11
};
enum Reduction : int { kSum = 0, kProduct = 1, kMax = 2, kMin = 3, kAverage = 4 };
enum Residence : int { kScalarHost = 1 };

struct UniqueId {
  char internal[128];
};
struct Communicator;
using Comm = Communicator*;
struct StreamObject;
using Stream = StreamObject*;
using Data = const void*;
using Size = unsigned long;

#define KM_NCCL_CALL(name, ...) using name##_type = Status (*)(__VA_ARGS__);
#include "cuda/nccl_functions.def"
#undef KM_NCCL_CALL
using ncclGetLastError_type = const char* (*)(Comm);

}  // namespace km::nccl_library
