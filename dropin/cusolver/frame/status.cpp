#include "dropin/cusolver/frame/status.h"

namespace km::cusolver {

namespace {

struct StatusNames {
  cusolverStatus_t status;
  const char *name, *text;
};

constexpr StatusNames kNames[] = {
#define KM_STATUS(name, text) {name, #name, text}
    KM_STATUS(CUSOLVER_STATUS_SUCCESS, "success"),
    KM_STATUS(CUSOLVER_STATUS_NOT_INITIALIZED,
              "the handle is none, or the library cannot work here"),
    KM_STATUS(CUSOLVER_STATUS_ALLOC_FAILED, "out of memory"),
    KM_STATUS(CUSOLVER_STATUS_INVALID_VALUE, "an argument is wrong"),
    KM_STATUS(CUSOLVER_STATUS_ARCH_MISMATCH, "the device lacks a feature"),
    KM_STATUS(CUSOLVER_STATUS_MAPPING_ERROR, "memory cannot be reached"),
    KM_STATUS(CUSOLVER_STATUS_EXECUTION_FAILED, "work of the device has failed"),
    KM_STATUS(CUSOLVER_STATUS_INTERNAL_ERROR, "an error inside the library"),
    KM_STATUS(CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED,
              "the matrix is of a type that is not there"),
    KM_STATUS(CUSOLVER_STATUS_NOT_SUPPORTED, "the routine, or this form of it, is not there"),
    KM_STATUS(CUSOLVER_STATUS_ZERO_PIVOT, "a pivot is zero"),
    KM_STATUS(CUSOLVER_STATUS_INVALID_LICENSE, "a licence is missing"),
    KM_STATUS(CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED, "the parameters are none"),
    KM_STATUS(CUSOLVER_STATUS_IRS_PARAMS_INVALID, "a parameter is wrong"),
    KM_STATUS(CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC, "a precision is wrong"),
    KM_STATUS(CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE, "the refinement solver is wrong"),
    KM_STATUS(CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER, "the number of iterations is wrong"),
    KM_STATUS(CUSOLVER_STATUS_IRS_INTERNAL_ERROR, "an error inside the refinement"),
    KM_STATUS(CUSOLVER_STATUS_IRS_NOT_SUPPORTED, "the refinement is not there"),
    KM_STATUS(CUSOLVER_STATUS_IRS_OUT_OF_RANGE, "numbers leave the range of a type"),
    KM_STATUS(CUSOLVER_STATUS_IRS_NRHS_NOT_SUPPORTED_FOR_REFINE_GMRES,
              "GMRES refines one right-hand side only"),
    KM_STATUS(CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED, "the information is none"),
    KM_STATUS(CUSOLVER_STATUS_IRS_INFOS_NOT_DESTROYED, "the information is in use"),
    KM_STATUS(CUSOLVER_STATUS_IRS_MATRIX_SINGULAR, "the matrix is singular"),
    KM_STATUS(CUSOLVER_STATUS_INVALID_WORKSPACE, "the workspace is wrong"),
#undef KM_STATUS
};

const StatusNames* find_names(cusolverStatus_t status) {
  for (const StatusNames& each : kNames) {
    if (each.status == status) return &each;
  }
  return nullptr;
}

}  // namespace

const char* status_name(cusolverStatus_t status) noexcept {
  const StatusNames* const found = find_names(status);
  return found == nullptr ? "CUSOLVER_STATUS_UNKNOWN" : found->name;
}

const char* status_text(cusolverStatus_t status) noexcept {
  const StatusNames* const found = find_names(status);
  return found == nullptr ? "no status of cuSOLVER" : found->text;
}

cusolverStatus_t read_place(const char* name, const void* place, void* out,
                            size_t size_bytes) noexcept {
  if (place == nullptr) return invalid("%s is null", name);
  if (library::read_host(out, place, size_bytes)) return CUSOLVER_STATUS_SUCCESS;
  return invalid("%s is %p, which is not readable host memory", name, place);
}

cusolverStatus_t write_place(const char* name, void* place, const void* value,
                             size_t size_bytes) noexcept {
  if (place == nullptr) return invalid("%s is null", name);
  if (library::write_host(place, value, size_bytes)) return CUSOLVER_STATUS_SUCCESS;
  return invalid("%s is %p, which is not writable host memory", name, place);
}

}  // namespace km::cusolver
