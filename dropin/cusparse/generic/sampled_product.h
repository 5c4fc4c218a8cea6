// SDDMM: the product of two dense matrices at the entries of a sparse one.
#pragma once

#include "dropin/cusparse/generic/product.h"

namespace km::cusparse {

/// The arguments of SDDMM.
struct SampledProductCall {
  cusparseOperation_t operation_a, operation_b;
  const void* alpha;
  cusparseConstDnMatDescr_t a, b;
  const void* beta;
  cusparseSpMatDescr_t c;
  cudaDataType compute;
};

cusparseStatus_t check_sampled(const Handle& handle, const SampledProductCall& call);
cusparseStatus_t multiply_sampled(const Handle& handle, const SampledProductCall& call);

}  // namespace km::cusparse
