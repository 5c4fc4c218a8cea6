#include "dropin/cublas/frame/handle.h"

namespace km::cublas {

const char* status_name(cublasStatus_t status) noexcept {
  switch (static_cast<int>(status)) {
#define KM_STATUS(name) \
  case name:            \
    return #name
    KM_STATUS(CUBLAS_STATUS_SUCCESS);
    KM_STATUS(CUBLAS_STATUS_NOT_INITIALIZED);
    KM_STATUS(CUBLAS_STATUS_ALLOC_FAILED);
    KM_STATUS(CUBLAS_STATUS_INVALID_VALUE);
    KM_STATUS(CUBLAS_STATUS_ARCH_MISMATCH);
    KM_STATUS(CUBLAS_STATUS_MAPPING_ERROR);
    KM_STATUS(CUBLAS_STATUS_EXECUTION_FAILED);
    KM_STATUS(CUBLAS_STATUS_INTERNAL_ERROR);
    KM_STATUS(CUBLAS_STATUS_NOT_SUPPORTED);
    KM_STATUS(CUBLAS_STATUS_LICENSE_ERROR);
#undef KM_STATUS
    default:
      return "CUBLAS_STATUS_UNKNOWN";
  }
}

const char* status_text(cublasStatus_t status) noexcept {
  switch (static_cast<int>(status)) {
    case CUBLAS_STATUS_SUCCESS:
      return "success";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "the handle is none, or the library cannot work here";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "out of memory";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "an argument is wrong";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "the device lacks a feature";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "memory cannot be reached";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "work of the device has failed";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "an error inside the library";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "the routine, or this form of it, is not there";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "a licence is missing";
    default:
      return "no status of cuBLAS";
  }
}

}  // namespace km::cublas
