// cuBLAS, which is opened at the first call that needs it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "backend/interface.h"
#include "base/result.h"
#include "cuda/cublas.h"
#include "cuda/driver.h"

namespace km::cuda {

/// The result of a function of cuBLAS, and its name.
struct BlasCalled {
  cublas::Status status;
  const char* name;
  bool ok() const { return status == cublas::kSuccess; }
};

class Cublas {
 public:
  /// The library of this process; the message of KM_ERROR_BLAS_UNAVAILABLE says what to install.
  static Result<const Cublas*> instance();
  static Result<Cublas> load(const std::string& path);

  /// The routine of backend/blas.def for f32, f64, c32 or c64.
  void* routine(kmb_blas_routine routine, km_data_type type) const {
    return routines_[routine][type - KM_DATA_TYPE_F32];
  }
  cublas::GEMM_STRIDED_BATCHED batches(km_data_type type) const {
    return batches_[type - KM_DATA_TYPE_F32];
  }
#define KM_CUBLAS_FUNCTION(name, ...) cublas::name##_type name = nullptr;
#include "cuda/cublas_functions.def"
#undef KM_CUBLAS_FUNCTION
  const std::string& path() const { return path_; }
  /// The version in messages: "12.4".
  const std::string& version() const { return version_; }

 private:
  std::string path_, version_;
  void* routines_[KMB_BLAS_ROUTINE_COUNT][4] = {};
  cublas::GEMM_STRIDED_BATCHED batches_[4] = {};
};

/// The library names to try, best first: those that the driver supports. `named` is KM_CUBLAS or
/// empty; `toolkits` are folders of CUDA toolkits.
std::vector<std::string> cublas_candidates(const std::string& named,
                                           const std::vector<std::string>& toolkits,
                                           int driver_version);

/// The name of the exported function: "cublasSaxpy_v2".
const char* cublas_name(kmb_blas_routine routine, km_data_type type);

/// The error of a failed call whose context works, with the cublasStatus_t as native code.
Error blas_error(BlasCalled called);

/// Objects of cuBLAS for one thread at a time. After a failure of the context they are not
/// destroyed, because they are lost with it.
struct BlasHandle {
  cublas::Handle handle = nullptr;
  cu::CUstream stream = nullptr;  // the stream that it is set to; null: none yet
  cublas::PointerMode mode = cublas::kHost;
};
/// Waits for the device, because cuBLAS does.
void destroy_blas_handle(BlasHandle handle);

}  // namespace km::cuda
