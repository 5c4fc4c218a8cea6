// Products of f16 and bf16, added in f32 by fused operations in the order of k, rounded once.
#pragma once

#include "backend/interface.h"

namespace km::fake_cublas {

void multiply_halves(const kmb_blas_call& call);

}  // namespace km::fake_cublas
