// GEMM in all forms of cuBLAS. Products that km_blas supports directly go there; for others,
// kernels pack the operands into supported matrices, and another kernel finishes the result.
#pragma once

#include "dropin/cublas/frame/numbers.h"
#include "dropin/cublas/frame/request.h"
#include "dropin/cublas/kernels/parameters.h"
#include "dropin/library/kernels.h"

namespace km::cublas {

/// The arguments that every form of GEMM has, in cuBLAS's order. For a batch by arrays of pointers
/// `a`, `b` and `c` are these arrays.
struct GemmArguments {
  cublasOperation_t operation_a, operation_b;
  int64_t m, n, k;
  const void *alpha, *a;
  int64_t leading_a;
  const void* b;
  int64_t leading_b;
  const void* beta;
  void* c;
  int64_t leading_c;
};

class Product {
 public:
  /// Uses one type for matrices, sums and scalars.
  Product(Handle& handle, km_data_type type);
  /// Uses types that set_types() sets.
  Product(Handle& handle, const ComputeTypes& types);

  void set_types(int a, int b, int c, int d);
  /// Sets sizes, operands, scalars and C.
  void set_gemm(const GemmArguments& arguments);
  void set_sizes(int64_t m, int64_t n, int64_t k) { m_ = m, n_ = n, k_ = k; }
  void set_a(const void* a, int64_t leading, cublasOperation_t operation) {
    a_ = {a, leading, operation, 0, 0, a_.type};
  }
  void set_b(const void* b, int64_t leading, cublasOperation_t operation) {
    b_ = {b, leading, operation, 0, 0, b_.type};
  }
  /// Sets a vector x, with its increment, in place of B; n must be 1.
  void set_vector_b(const void* x, int64_t increment);
  /// Sets C as input and output.
  void set_c(void* c, int64_t leading) { set_c_and_d(c, leading, c, leading); }
  void set_c_and_d(const void* c, int64_t leading_c, void* d, int64_t leading_d);
  /// Makes C or D row-major.
  void set_orders(bool c_by_rows, bool d_by_rows);
  void set_vector_c(void* y, int64_t increment);
  void set_batch(int64_t count, int64_t stride_a, int64_t stride_b, int64_t stride_c,
                 int64_t stride_d);
  /// Declares that operands are arrays of pointers in device memory.
  void set_pointers(int64_t count);
  void set_triangle(cublasFillMode_t triangle, bool is_hermitian);
  /// Sets scalars in the handle's pointer mode or in the given mode.
  void set_scalars(const void* alpha, const void* beta, bool has_real_beta = false);
  void set_pointer_mode(bool alpha_on_device, bool beta_on_device);
  /// Makes alpha a vector with one value per row.
  void set_alpha_per_row(int64_t batch_step);
  /// Further parameters of the finishing kernel, for cublasLtMatmul.
  FinishParameters& finish() { return finish_; }
  void set_finishing() { must_finish_ = true; }

  cublasStatus_t submit();

 private:
  struct Operand {
    const void* data = nullptr;
    int64_t leading = 0;
    cublasOperation_t operation = CUBLAS_OP_N;
    int64_t increment = 0;  // for an operand that is a vector
    int64_t stride = 0;
    int type = 0;
  };
  struct Packed {
    uint64_t address = 0;
    int64_t leading = 0, stride = 0;
    cublasOperation_t operation = CUBLAS_OP_N;
  };
  cublasStatus_t check() const;
  cublasStatus_t check_operand(const char* name, const Operand& operand, int64_t rows,
                               int64_t columns) const;
  bool is_direct() const;
  /// True if km_blas accepts the scalars directly.
  bool has_plain_scalars() const;
  bool needs_packing(const Operand& operand) const;
  cublasStatus_t read_scalar(const char* name, const void* value, bool is_real, bool is_on_device,
                             DeviceScalar* out) const;
  cublasStatus_t submit_direct();
  cublasStatus_t multiply(const Packed& a, const Packed& b, uint64_t product);
  cublasStatus_t pack(const Operand& operand, int64_t rows, int64_t columns,
                      library::StreamMemory& memory, Packed* out);
  /// Checks the memory that the finishing kernel accesses.
  cublasStatus_t check_finish() const;
  cublasStatus_t run_finish(uint64_t product);
  uint64_t batches() const { return static_cast<uint64_t>(batch_count_); }

  Handle& handle_;
  const ComputeTypes types_;
  int64_t m_ = 0, n_ = 0, k_ = 0, batch_count_ = 1;
  Operand a_, b_, c_, d_;
  bool is_batch_ = false, has_pointers_ = false, has_real_beta_ = false, must_finish_ = false;
  bool alpha_on_device_, beta_on_device_;
  const void *alpha_ = nullptr, *beta_ = nullptr;
  FinishParameters finish_{};
};

}  // namespace km::cublas
