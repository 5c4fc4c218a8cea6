#include "dropin/cusparse/generic/product_calls.h"

#include <utility>

namespace km::cusparse {
namespace {

cusparseStatus_t mismatch(const char* what, int64_t is, int64_t wanted) {
  return invalid("%s is %lld, and %lld with the other operands", what, static_cast<long long>(is),
                 static_cast<long long>(wanted));
}

void set_sparse(Product& p, const SpMat& a, cusparseOperation_t operation) {
  sparse::set_sparse(p, a.plain(), !is_plain(operation), conjugates(operation));
}

Operand operand_of(const DnVec& v) { return {v.values, number_of(v.type), 1, v.size, 0, false}; }

cusparseStatus_t set_scalars(const Handle& handle, const void* alpha, const void* beta,
                             cudaDataType compute, Product& p, Arrays& arrays) {
  LIB_TRY(p.alpha_factor.set(handle, "alpha", alpha, compute, arrays));
  return p.beta_factor.set(handle, "beta", beta, compute, arrays);
}

/// Sets the batch: operands of one matrix are the same in all products.
cusparseStatus_t set_batch(Product& p, const SpMat& a, const DnMat& b, const DnMat& c) {
  p.batch_count = c.batch_count;
  for (const int count : {a.batch_count, b.batch_count}) {
    if (count != 1 && count != c.batch_count) return mismatch("batchCount", count, c.batch_count);
  }
  if (a.batch_count == 1) p.a.offsets_stride = p.a.indices_stride = p.a.values_stride = 0;
  if (b.batch_count == 1) p.b.batch_stride = 0;
  return CUSPARSE_STATUS_SUCCESS;
}

}  // namespace

cusparseStatus_t prepare(const Handle& handle, const VectorProductCall& call, bool is_complete,
                         Product* product, Arrays* arrays) {
  Product& p = *product;
  SpMat a;
  DnVec x, y, old;
  LIB_TRY(check_operation("opA", call.operation));
  LIB_TRY(read_descriptor("matA", call.a, &a));
  LIB_TRY(read_descriptor("vecX", call.x, &x));
  LIB_TRY(read_output("vecY", call.y, &y));
  old = y;
  if (call.old != nullptr) LIB_TRY(read_descriptor("vecY", call.old, &old));
  set_sparse(p, a, call.operation);
  const int64_t rows = is_plain(call.operation) ? a.rows : a.cols;
  const int64_t cols = is_plain(call.operation) ? a.cols : a.rows;
  if (x.size != cols) return mismatch("vecX's size", x.size, cols);
  if (y.size != rows) return mismatch("vecY's size", y.size, rows);
  if (old.size != rows) return mismatch("vecY's size", old.size, rows);
  a.batch_count = 1;
  p.b = operand_of(x), p.c = operand_of(y), p.d = operand_of(old);
  p.rows = rows, p.cols = 1;
  p.compute = number_of(call.compute);
  LIB_TRY(check_product_types(a.type, x.type, y.type, call.compute));
  if (!is_complete) return CUSPARSE_STATUS_SUCCESS;
  add_matrix(*arrays, a, false);
  add_vector(*arrays, "vecX", x, false);
  add_vector(*arrays, "vecY", y, true);
  if (call.old != nullptr) add_vector(*arrays, "vecY", old, false);
  return set_scalars(handle, call.alpha, call.beta, call.compute, p, *arrays);
}

cusparseStatus_t prepare(const Handle& handle, const MatrixProductCall& call, bool is_complete,
                         Product* product, Arrays* arrays) {
  Product& p = *product;
  SpMat a;
  DnMat b, c;
  LIB_TRY(check_operation("opA", call.operation_a));
  LIB_TRY(check_operation("opB", call.operation_b));
  LIB_TRY(read_descriptor("matA", call.a, &a));
  LIB_TRY(read_descriptor("matB", call.b, &b));
  LIB_TRY(read_output("matC", call.c, &c));
  set_sparse(p, a, call.operation_a);
  const bool is_b_plain = is_plain(call.operation_b);
  p.rows = is_plain(call.operation_a) ? a.rows : a.cols;
  p.cols = is_b_plain ? b.cols : b.rows;
  const int64_t inner = is_plain(call.operation_a) ? a.cols : a.rows;
  const int64_t inner_b = is_b_plain ? b.rows : b.cols;
  if (inner_b != inner) return mismatch("matB's size", inner_b, inner);
  if (c.rows != p.rows) return mismatch("matC's number of rows", c.rows, p.rows);
  if (c.cols != p.cols) return mismatch("matC's number of columns", c.cols, p.cols);
  p.b = operand_of(b, call.operation_b);
  p.c = p.d = operand_of(c, CUSPARSE_OPERATION_NON_TRANSPOSE);
  p.compute = number_of(call.compute);
  LIB_TRY(check_product_types(a.type, b.type, c.type, call.compute));
  LIB_TRY(set_batch(p, a, b, c));
  if (!is_complete) return CUSPARSE_STATUS_SUCCESS;
  add_matrix(*arrays, a, false);
  add_matrix(*arrays, "matB", b, false);
  add_matrix(*arrays, "matC", c, true);
  return set_scalars(handle, call.alpha, call.beta, call.compute, p, *arrays);
}

}  // namespace km::cusparse
