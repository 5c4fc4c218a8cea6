#include "dropin/cusparse/generic/product.h"

#include <utility>

namespace km::cusparse {

cusparseStatus_t check_operation(const char* name, cusparseOperation_t operation) {
  if (operation >= CUSPARSE_OPERATION_NON_TRANSPOSE &&
      operation <= CUSPARSE_OPERATION_CONJUGATE_TRANSPOSE) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return invalid("%s is %d", name, static_cast<int>(operation));
}

cusparseStatus_t check_product_types(cudaDataType a, cudaDataType b, cudaDataType c,
                                     cudaDataType compute) {
  const bool is_known = with_product_types(a, b, compute, false, [&](auto types) {
    using T = decltype(types);
    if (c == compute) return true;
    // Sums of half numbers may be rounded to them.
    return c == a && c == b && sizeof(typename T::First) < sizeof(typename T::Sum);
  });
  if (is_known && !(a == CUDA_R_8I && c == CUDA_R_8I)) return CUSPARSE_STATUS_SUCCESS;
  return unsupported("no product has matrices of types %d, %d and %d and sums of type %d",
                     static_cast<int>(a), static_cast<int>(b), static_cast<int>(c),
                     static_cast<int>(compute));
}

Operand operand_of(const DnMat& m, cusparseOperation_t operation) {
  Operand made = {m.values,       number_of(m.type), m.row_stride(),
                  m.col_stride(), m.batch_stride,    conjugates(operation)};
  if (!is_plain(operation)) std::swap(made.row_stride, made.col_stride);
  return made;
}

cusparseStatus_t submit_product(const Handle& handle, const Arrays& arrays, const char* name,
                                const Product& product) {
  if (product.rows == 0 || product.cols == 0) return CUSPARSE_STATUS_SUCCESS;
  const sparse::Division division = sparse::divide(product, library::worker_threads());
  const auto run = [p = product, division](uint64_t piece) {
    sparse::Product with_factors = p;
    with_factors.alpha = p.alpha_factor.address(), with_factors.beta = p.beta_factor.address();
    return result_of(sparse::run_product(with_factors, division, piece));
  };
  const auto time_ns = static_cast<uint64_t>(sparse::steps_of(product)) / 2;
  return submit(handle, arrays, name, division.pieces(), time_ns, run);
}

}  // namespace km::cusparse
