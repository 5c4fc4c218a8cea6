// One call's work: its arguments are checked, then it is queued in the handle's stream.
#pragma once

#include <functional>
#include <vector>

#include "dropin/cusolver/frame/handle.h"
#include "dropin/cusolver/frame/types.h"
#include "dropin/library/work.h"

namespace km::cusolver {

/// The number of elements that all bufferSize functions answer: routines allocate what they need
/// when they run, so that programs keep only a token of it.
constexpr int kWorkElements = 16;
constexpr size_t kWorkBytes = 256;

/// Checks arguments, the first wrong one of which fails the call, and queues the work.
class Job {
 public:
  Job(Handle& handle, const char* name) : handle_(handle), name_(name) {}

  /// Adds a size, from 0 to 2^31-1.
  Job& size(const char* name, int64_t value);
  /// Adds a value of an enumeration, which is `is_valid`.
  Job& choice(const char* name, int64_t value, bool is_valid);
  Job& fill(cublasFillMode_t value);
  Job& operation(const char* name, cublasOperation_t value);
  Job& job_mode(const char* name, cusolverEigMode_t value);

  /// Adds a column-major matrix; `batch_count` of them at a distance of `stride` elements.
  template <class T>
  Job& matrix(const char* name, const T* data, int64_t rows, int64_t columns, int64_t leading,
              bool is_written, int64_t batch_count = 1, int64_t stride = 0) {
    return matrix_bytes({name, data, rows, columns, leading, batch_count, stride, is_written},
                        sizeof(T));
  }
  /// Adds contiguous elements.
  template <class T>
  Job& vector(const char* name, const T* data, int64_t count, bool is_written) {
    return vector_bytes(name, data, count, sizeof(T), is_written);
  }
  /// Adds the place of a routine's result, or one for each of a batch.
  Job& info(int* place, int64_t count = 1) {
    return vector_bytes("info", place, count, sizeof(int), true);
  }
  /// Records a failure that the caller found.
  Job& fail(cusolverStatus_t status) {
    if (status_ == CUSOLVER_STATUS_SUCCESS) status_ = status;
    return *this;
  }
  Handle& handle() const { return handle_; }
  cusolverStatus_t status() const { return status_; }

  /// Queues `run`, a function without arguments that returns a CUresult or nothing, of about
  /// `flops` operations.
  template <class Run>
  cusolverStatus_t submit(double flops, Run run) {
    return submit_pieces(1, flops, [run = std::move(run)](uint64_t) { return run(); });
  }
  /// Queues `run`, a function of the number of a piece.
  template <class Run>
  cusolverStatus_t submit_pieces(uint64_t pieces, double flops, Run run) {
    if (status_ != CUSOLVER_STATUS_SUCCESS) return status_;
    const auto work = [run = std::move(run)](uint64_t piece) -> cu::CUresult {
      if constexpr (std::is_void_v<decltype(run(piece))>) {
        run(piece);
        return cu::CUDA_SUCCESS;
      } else {
        return run(piece);
      }
    };
    return queue(library::make_work(name_, std::max<uint64_t>(pieces, 1), time_of(flops), work));
  }
  /// Waits for the stream, for calls that give results to the host.
  cusolverStatus_t wait();
  /// CUSOLVER_STATUS_NOT_SUPPORTED in a capture, for calls that wait; `why` names what they give.
  Job& not_captured(const char* why);

 private:
  struct Matrix {
    const char* name;
    const void* data;
    int64_t rows, columns, leading, batch_count, stride;
    bool is_written;
  };
  Job& matrix_bytes(const Matrix& matrix, uint64_t element_bytes);
  Job& vector_bytes(const char* name, const void* data, int64_t count, uint64_t element_bytes,
                    bool is_written);
  cusolverStatus_t queue(std::shared_ptr<const library::Work> work);
  static uint64_t time_of(double flops);

  Handle& handle_;
  const char* const name_;
  std::vector<library::BlasArray> arrays_;
  cusolverStatus_t status_ = CUSOLVER_STATUS_SUCCESS;
};

/// LAPACK's letters for values of the API.
inline char letter(cublasFillMode_t fill) { return fill == CUBLAS_FILL_MODE_UPPER ? 'U' : 'L'; }
inline char letter(cublasSideMode_t side) { return side == CUBLAS_SIDE_RIGHT ? 'R' : 'L'; }
inline char letter(cusolverEigMode_t mode) { return mode == CUSOLVER_EIG_MODE_VECTOR ? 'V' : 'N'; }
inline char letter(cublasDiagType_t diagonal) { return diagonal == CUBLAS_DIAG_UNIT ? 'U' : 'N'; }
inline char letter(cublasOperation_t operation) {
  return operation == CUBLAS_OP_N ? 'N' : operation == CUBLAS_OP_T ? 'T' : 'C';
}

/// CUSOLVER_STATUS_INVALID_VALUE if a workspace is smaller than the bufferSize functions answer.
cusolverStatus_t check_work(int64_t lwork);

}  // namespace km::cusolver
