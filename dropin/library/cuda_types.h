// Types of the CUDA runtime that the libraries' functions have.
#pragma once

#include "cuda/driver.h"  // first: its handles are types of its own namespace

extern "C" {

typedef struct CUstream_st* cudaStream_t;
typedef enum { MAJOR_VERSION, MINOR_VERSION, PATCH_LEVEL } libraryPropertyType;

}  // extern "C"
