// Products of a sparse and a dense matrix; a vector is a matrix of one column.
#pragma once

#include "math/sparse/matrix.h"

namespace km::sparse {

/// A dense operand as a loop sees it, with operations and orders applied.
struct Operand {
  void* values = nullptr;  // inputs are only read
  Number type = Number::kF32;
  int64_t row_stride = 0, col_stride = 0, batch_stride = 0;
  bool is_conjugate = false;
};

/// C = alpha * op(A) * B + beta * D, where D may be C.
struct Product {
  Matrix a;
  bool is_transposed = false, is_conjugate = false;  // of A
  Operand b, c, d;
  int64_t rows = 0, cols = 0;  // of C
  Number compute = Number::kF32;
  int64_t batch_count = 1;
  const void* alpha = nullptr;  // numbers of the type `compute`, which each piece reads
  const void* beta = nullptr;
};

/// Sets the sparse operand. Its transposed form is another format's plain one where there is such.
void set_sparse(Product& product, const Matrix& a, bool is_transposed, bool is_conjugate);

/// The division of a product into pieces. Results do not depend on it.
struct Division {
  uint64_t lines = 1;    // parts of the matrix's lines
  uint64_t columns = 1;  // parts of C's columns
  uint64_t batches = 1;
  bool is_by_lines = false;
  uint64_t pieces() const { return lines * columns * batches; }
};
Division divide(const Product& product, uint32_t threads);

/// The multiplications of a product, of which a thread does about two in a nanosecond.
int64_t steps_of(const Product& product);

/// Runs one piece. KM_ERROR_ILLEGAL_ADDRESS if an index or offset is outside of the matrix.
Status run_product(const Product& product, const Division& division, uint64_t piece);

}  // namespace km::sparse
