// SpGEMM and SpGEMMreuse: products of two sparse matrices in CSR format.
#pragma once

#include <vector>

#include "dropin/cusparse/generic/product.h"

namespace km::cusparse {

/// Some rows of a product, made by one piece of work.
struct ProductRows {
  int64_t first_row = 0, last_row = 0;
  int64_t before = 0;             // entries of the rows before
  std::vector<int64_t> row_ends;  // entries of these rows up to the end of each
  std::vector<int64_t> cols;      // sorted in each row
  std::vector<char> values;  // alpha * A * B in the type of sums; empty after a symbolic product
};

/// A product that has been computed, for copies of it.
struct SparseProduct {
  int64_t rows = 0, cols = 0, nnz = 0;
  cudaDataType sum = CUDA_R_32F;
  std::vector<ProductRows> parts;
};

/// The object of a descriptor of SpGEMM.
struct ProductObject {
  int64_t product_count = -1;  // multiplications; -1 before they are counted
  std::shared_ptr<SparseProduct> product;
};

/// The arguments of SpGEMM.
struct SparseProductCall {
  cusparseOperation_t operation_a, operation_b;
  const void* alpha;
  cusparseConstSpMatDescr_t a, b;
  const void* beta;
  cusparseSpMatDescr_t c;
  cudaDataType compute;
  bool has_values;  // false for the parts of SpGEMMreuse without scalars
};

/// Checks the operands.
cusparseStatus_t check_product(const SparseProductCall& call);
/// Counts the multiplications, which the host waits for.
cusparseStatus_t count_products(const Handle& handle, const char* name,
                                const SparseProductCall& call, int64_t* count);
/// Computes the product, or its structure only, which the host waits for, and sets matC's size.
cusparseStatus_t multiply(const Handle& handle, const char* name, const SparseProductCall& call,
                          std::shared_ptr<SparseProduct>* out);
/// Writes the product into matC: its structure, and its values unless the product has none.
cusparseStatus_t copy_product(const Handle& handle, const char* name, const SparseProductCall& call,
                              const std::shared_ptr<SparseProduct>& product);
/// Computes the values of a product whose structure matC has.
cusparseStatus_t multiply_again(const Handle& handle, const char* name,
                                const SparseProductCall& call,
                                const std::shared_ptr<SparseProduct>& product);

}  // namespace km::cusparse
