// Matrix products as cublasLtMatmul describes them.
#pragma once

#include "dropin/cublas/lt/descriptors.h"
#include "dropin/cublas/product/product.h"

namespace km::cublas {

struct MatmulLayouts {
  const MatrixLayout *a, *b, *c, *d;
};

struct MatmulOperands {
  const void *alpha, *a, *b, *beta, *c;
  void* d;
};

/// CUBLAS_STATUS_INVALID_VALUE or _NOT_SUPPORTED if the layouts do not match, or if the descriptor
/// requires an unsupported feature.
cublasStatus_t check_matmul(const MatmulDescriptor& matmul, const MatmulLayouts& layouts);
cublasStatus_t run_matmul(Handle& handle, const MatmulDescriptor& matmul,
                          const MatmulLayouts& layouts, const MatmulOperands& operands);

struct TransformOperands {
  const void *alpha, *a, *beta, *b;
  void* c;
};
/// c = alpha op(a) + beta op(b), with conversion between layouts. `b` may have no layout.
cublasStatus_t run_transform(Handle& handle, const TransformDescriptor& transform,
                             const MatmulLayouts& layouts, const TransformOperands& operands);

}  // namespace km::cublas
