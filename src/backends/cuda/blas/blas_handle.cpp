#include "backends/cuda/blas/blas_handle.h"

#include "backends/cuda/driver/status.h"

namespace km::cuda {
namespace {

Result<BlasHandle> make_blas_handle(Epoch& epoch, const Cublas& library) {
  BlasHandle made;
  KM_TRY(check_blas(epoch, {library.cublasCreate_v2(&made.handle), "cublasCreate_v2"}));
  // The math mode excludes TF32 and reductions in half precision, so that products of halves are
  // summed in f32.
  const Status set = check_blas(
      epoch,
      {library.cublasSetMathMode(made.handle, cublas::kNoReducedReduction), "cublasSetMathMode"});
  if (set) return made;
  if (!epoch.has_failed()) destroy_blas_handle(made);
  return set.error();
}

}  // namespace

Error library_error(Epoch& epoch, Error own) {
  // Libraries do not report a failed context, but the query of any stream does.
  const Result<cu::CUstream> stream = epoch.allocation_stream();
  if (stream) {
    const Called asked = driver().cuStreamQuery(*stream);
    if (!asked.ok() && is_fatal(asked.result)) {
      const Status failed = epoch.check(asked);
      if (!failed) return failed.error();
    }
  }
  return own;
}

Status check_blas(Epoch& epoch, BlasCalled called) {
  if (called.ok()) [[likely]]
    return {};
  return library_error(epoch, blas_error(called));
}

Result<BlasHandle> take_blas_handle(Epoch& epoch, const Cublas& library) {
  if (const std::optional<BlasHandle> unused = epoch.take_handle<BlasHandle>()) return *unused;
  return make_blas_handle(epoch, library);
}

void give_blas_handle(Epoch& epoch, BlasHandle handle) {
  handle.stream = nullptr;
  epoch.give_handle(handle);
}

}  // namespace km::cuda
