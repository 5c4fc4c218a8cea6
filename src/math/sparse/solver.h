// Triangular solves for one or more right-hand sides.
#pragma once

#include "math/sparse/entries.h"
#include "math/sparse/product.h"

namespace km::sparse {

/// The triangular system op(A) * C = alpha * B, where B and C may be the same. Entries of the other
/// triangle are not read.
struct TriangularSystem {
  Matrix a;
  bool is_transposed = false, is_conjugate = false;
  bool is_lower = true;  // of A, without the operation
  bool is_unit = false;  // the diagonal is 1, whatever its entries are
  Operand b, c;
  const void* alpha = nullptr;     // a number of the matrix's type
  const void* diagonal = nullptr;  // replaces the diagonal's entries
};

/// Solves for the columns from `first` to before `last` of B and C. The lists are those of op(A).
Status run_solve(const TriangularSystem& system, const RowLists& lists, int64_t first,
                 int64_t last);
/// The estimated time of a solve for so many columns on one thread.
uint64_t time_ns_of(const TriangularSystem& system, int64_t cols);

}  // namespace km::sparse
