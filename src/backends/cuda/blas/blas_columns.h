// Converts row-major BLAS calls for a library that only has column-major ones: a row-major matrix
// is the transpose of a column-major one. If that needs a conjugated matrix that is not transposed,
// which BLAS does not have, the vectors are conjugated instead.
#pragma once

#include "backend/interface.h"

namespace km::cuda {

struct ColumnCall {
  kmb_blas_call call;         // the column-major call
  bool conjugates_b = false;  // vector b, which is read, is conjugated before the call
  bool conjugates_c = false;  // vector c, which is read, is conjugated before the call
  bool turns_b = false;       // vector b, which is written, is conjugated before and after the call
  bool turns_c = false;       // vector c, which is written, is conjugated before and after the call
};

/// Returns the equivalent column-major call.
ColumnCall by_columns(const kmb_blas_call& call);

}  // namespace km::cuda
