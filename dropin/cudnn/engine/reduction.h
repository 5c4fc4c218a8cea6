// Reductions: every dimension in which the result has an extent of 1 is reduced.
#pragma once

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// The sum of squares, an operation of the engine's own.
inline constexpr auto kSumOfSquares = static_cast<cudnnReduceTensorOp_t>(-1);

/// c = alpha * reduce(a) + beta * c. `indices`, if not null, gets for MIN, MAX and AMAX the
/// position of the element that was found, counted over the reduced dimensions, as values of
/// `index_type`.
cudnnStatus_t reduce(cu::CUstream stream, cudnnReduceTensorOp_t operation, double alpha,
                     const View& a, double beta, const View& c, void* indices = nullptr,
                     cudnnIndicesType_t index_type = CUDNN_32BIT_INDICES);

}  // namespace km::cudnn
