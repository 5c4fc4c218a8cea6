// BLAS calls by rows, asked of a library that knows columns only: a matrix by rows is its
// transposition by columns. Where that leaves a conjugate matrix that is not transposed, which BLAS
// does not know, the vectors are conjugated instead.
#pragma once

#include "backend/interface.h"

namespace km::cuda {

struct ColumnCall {
  kmb_blas_call call;         // by columns
  bool conjugates_b = false;  // what is read of vector b has to be conjugated before
  bool conjugates_c = false;  // the same for vector c
  bool turns_b = false;       // vector b, which is written, is conjugated before and after
  bool turns_c = false;       // the same for vector c
};

/// Restates a problem by rows as the equal one by columns.
ColumnCall by_columns(const kmb_blas_call& call);

}  // namespace km::cuda
