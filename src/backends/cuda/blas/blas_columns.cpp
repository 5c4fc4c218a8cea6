#include "backends/cuda/blas/blas_columns.h"

#include <utility>

namespace km::cuda {
namespace {

/// Converts one row-major call.
class Turner {
 public:
  Turner(ColumnCall* out, bool is_complex)
      : out_(*out), call_(out->call), is_complex_(is_complex) {}

  void turn();

 private:
  void flip_triangle() {
    call_.triangle =
        call_.triangle == KM_BLAS_TRIANGLE_UPPER ? KM_BLAS_TRIANGLE_LOWER : KM_BLAS_TRIANGLE_UPPER;
  }
  void flip_side() {
    call_.side = call_.side == KM_BLAS_SIDE_LEFT ? KM_BLAS_SIDE_RIGHT : KM_BLAS_SIDE_LEFT;
    std::swap(call_.m, call_.n);
  }
  static void negate(double (&scalar)[2]) { scalar[1] = -scalar[1]; }
  /// Changes the operation between plain and transposed.
  void flip_operation(km_blas_operation transposition) {
    call_.operation_a =
        call_.operation_a == KM_BLAS_OPERATION_NONE ? transposition : KM_BLAS_OPERATION_NONE;
  }
  bool is_conjugate() const {
    return is_complex_ && call_.operation_a == KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE;
  }
  /// Conjugates the whole equation: y = alpha conj(A) x + beta y is conj(y) = conj(alpha) A conj(x)
  /// + conj(beta) conj(y).
  void conjugate_product() {
    out_.conjugates_b = out_.turns_c = true;
    negate(call_.alpha);
    negate(call_.beta);
  }
  void product();
  void symmetric_product();
  void triangular();
  void rank_update();

  ColumnCall& out_;
  kmb_blas_call& call_;
  const bool is_complex_;
};

void Turner::product() {
  std::swap(call_.m, call_.n);
  std::swap(call_.lower, call_.upper);
  const bool is_conjugated = is_conjugate();
  flip_operation(KM_BLAS_OPERATION_TRANSPOSE);
  if (is_conjugated) conjugate_product();
}

void Turner::symmetric_product() {
  flip_triangle();
  if (is_complex_) conjugate_product();  // the transpose of a Hermitian matrix is its conjugate
}

void Turner::triangular() {
  flip_triangle();
  out_.turns_b = is_conjugate();
  flip_operation(KM_BLAS_OPERATION_TRANSPOSE);
}

void Turner::rank_update() {
  switch (call_.routine) {
    case KMB_BLAS_GER:
    case KMB_BLAS_GERC:
      std::swap(call_.m, call_.n);
      std::swap(call_.b, call_.c);
      // The transposed update is A^T + alpha conj(y) x^T.
      out_.conjugates_b = is_complex_ && call_.routine == KMB_BLAS_GERC;
      call_.routine = KMB_BLAS_GER;
      return;
    case KMB_BLAS_SYR:
    case KMB_BLAS_SPR:
      flip_triangle();
      out_.conjugates_b = is_complex_;
      return;
    default:  // SYR2, SPR2: alpha conj(y) x^T + conj(alpha) conj(x) y^T
      flip_triangle();
      if (is_complex_) std::swap(call_.b, call_.c);
      out_.conjugates_b = out_.conjugates_c = is_complex_;
  }
}

void Turner::turn() {
  switch (call_.routine) {
    case KMB_BLAS_GEMV:
    case KMB_BLAS_GBMV:
      return product();
    case KMB_BLAS_SYMV:
    case KMB_BLAS_SBMV:
    case KMB_BLAS_SPMV:
      return symmetric_product();
    case KMB_BLAS_GEMM:
      std::swap(call_.m, call_.n);
      std::swap(call_.a, call_.b);
      std::swap(call_.operation_a, call_.operation_b);
      return;
    case KMB_BLAS_TRMM:
    case KMB_BLAS_TRSM:
    case KMB_BLAS_SYMM:
    case KMB_BLAS_HEMM:
      flip_triangle();
      return flip_side();
    case KMB_BLAS_HER2K:
      negate(call_.alpha);
      [[fallthrough]];
    case KMB_BLAS_HERK:
    case KMB_BLAS_SYRK:
    case KMB_BLAS_SYR2K: {
      const bool is_hermitian = call_.routine == KMB_BLAS_HERK || call_.routine == KMB_BLAS_HER2K;
      flip_triangle();
      return flip_operation(is_hermitian && is_complex_ ? KM_BLAS_OPERATION_CONJUGATE_TRANSPOSE
                                                        : KM_BLAS_OPERATION_TRANSPOSE);
    }
    default:
      if (call_.routine <= KMB_BLAS_ROTM) return;  // vectors
      if (call_.routine >= KMB_BLAS_TRMV && call_.routine <= KMB_BLAS_TPSV) return triangular();
      rank_update();
  }
}

}  // namespace

ColumnCall by_columns(const kmb_blas_call& call) {
  ColumnCall result{call};
  const bool is_complex = call.type == KM_DATA_TYPE_C32 || call.type == KM_DATA_TYPE_C64;
  if (call.layout == KM_BLAS_LAYOUT_ROWS) Turner(&result, is_complex).turn();
  result.call.layout = KM_BLAS_LAYOUT_COLUMNS;
  return result;
}

}  // namespace km::cuda
