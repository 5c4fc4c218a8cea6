// The ABI of cublasLt, in addition to that of cuBLAS. Descriptors are in the program's memory.
#pragma once

#include "dropin/cublas/frame/types.h"

#ifdef KM_NVIDIA_HEADERS
#include <cublasLt.h>
#else

#include <cstdio>

extern "C" {

typedef struct cublasLtContext* cublasLtHandle_t;
typedef struct {
  uint64_t data[14];
} cublasLtMatrixLayoutOpaque_t;
typedef struct {
  uint64_t data[32];
} cublasLtMatmulDescOpaque_t;
typedef struct {
  uint64_t data[8];
} cublasLtMatrixTransformDescOpaque_t;
typedef struct {
  uint64_t data[12];
} cublasLtMatmulPreferenceOpaque_t;
typedef struct {
  uint64_t data[8];
} cublasLtMatmulAlgo_t;
typedef struct {
  uint64_t data[8];
} cublasLtEmulationDescOpaque_t;
typedef cublasLtMatrixLayoutOpaque_t* cublasLtMatrixLayout_t;
typedef cublasLtMatmulDescOpaque_t* cublasLtMatmulDesc_t;
typedef cublasLtMatrixTransformDescOpaque_t* cublasLtMatrixTransformDesc_t;
typedef cublasLtMatmulPreferenceOpaque_t* cublasLtMatmulPreference_t;
typedef cublasLtEmulationDescOpaque_t* cublasLtEmulationDesc_t;
typedef enum { CUBLASLT_EMULATION_DESC_STRATEGY = 0 } cublasLtEmulationDescAttributes_t;
typedef enum { CUBLASLT_MATMUL_DESC_COMPUTE_TYPE = 0 } cublasLtMatmulDescAttributes_t;
typedef enum { CUBLASLT_MATRIX_LAYOUT_TYPE = 0 } cublasLtMatrixLayoutAttribute_t;
typedef enum { CUBLASLT_MATMUL_PREF_SEARCH_MODE = 0 } cublasLtMatmulPreferenceAttributes_t;
typedef enum { CUBLASLT_MATRIX_TRANSFORM_DESC_SCALE_TYPE } cublasLtMatrixTransformDescAttributes_t;
typedef enum { CUBLASLT_ALGO_CONFIG_ID = 0 } cublasLtMatmulAlgoConfigAttributes_t;
typedef enum { CUBLASLT_ALGO_CAP_SPLITK_SUPPORT = 0 } cublasLtMatmulAlgoCapAttributes_t;
typedef struct {
  cublasLtMatmulAlgo_t algo;
  size_t workspaceSize;
  cublasStatus_t state;
  float wavesCount;
  int reserved[4];
} cublasLtMatmulHeuristicResult_t;
typedef void (*cublasLtLoggerCallback_t)(int level, const char* function, const char* message);

}  // extern "C"
#endif
