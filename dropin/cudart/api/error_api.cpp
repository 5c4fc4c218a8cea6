// Each thread's last error; names and texts of errors.
#include "dropin/cudart/frame/errors.h"
#include "dropin/cudart/frame/last_error.h"

namespace km::cudart {

extern "C" {

cudaError_t cudaGetLastError() { return take_last_error(); }

cudaError_t cudaPeekAtLastError() { return last_error(); }

const char* cudaGetErrorName(cudaError_t error) {
  const char* const name = error_name(error);
  return name != nullptr ? name : "unrecognized error code";
}

const char* cudaGetErrorString(cudaError_t error) {
  const char* const text = error_text(error);
  return text != nullptr ? text : "unrecognized error code";
}

}  // extern "C"

}  // namespace km::cudart
