// Types of the CUDA runtime that the libraries' functions have.
#pragma once

#include "cuda/driver.h"  // first: its handles are types of its own namespace
#include "dropin/library/generated/library_types.h"

extern "C" {

typedef struct CUevent_st* cudaEvent_t;
typedef struct CUgraph_st* cudaGraph_t;
typedef struct CUstream_st* cudaStream_t;

/// Complex numbers are not aligned to their size, as those of cuComplex.h are: pointers of programs
/// need not be, and functions take so few by value that all lie in registers.
struct cuComplex {
  float x, y;
};
struct cuDoubleComplex {
  double x, y;
};
struct __half {
  uint16_t bits;
};
struct __nv_bfloat16 {
  uint16_t bits;
};

}  // extern "C"
