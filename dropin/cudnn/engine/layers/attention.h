// The steps of attention between products of matrices.
#pragma once

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// Sets scores (B, H, queries, keys) to minus infinity beyond the lengths of each batch. Lengths
/// are tensors (B, 1, 1, 1) or have no data.
cudnnStatus_t mask_scores(cu::CUstream stream, const View& scores, const View& query_lengths,
                          const View& key_lengths);

/// Zeroes elements with a probability and scales the others, by numbers of a seed at a position.
cudnnStatus_t drop_out(cu::CUstream stream, const View& values, double probability,
                       const View& seed, const View& offset);

/// p = exp(scores - stats), 0 where the scores are minus infinity. `stats` (B, H, queries, 1) are
/// the logarithms of sums that the forward operation gave.
cudnnStatus_t restore_probabilities(cu::CUstream stream, const View& scores, const View& stats);

/// gradient = p * (gradient - rows), with `rows` (B, H, queries, 1).
cudnnStatus_t score_gradients(cu::CUstream stream, const View& p, const View& rows,
                              const View& gradient);

/// A mask along the diagonals of scores (B, H, queries, keys). With `left`, element (i, j) stays if
/// j + left - key length + query length compares with i as `mode` says; without, if i + key length
/// - query length + shift compares with j. Others become `fill`. Absent numbers are 0.
struct BandMask {
  View x, y, fill, query_lengths, key_lengths, left, shift;
  cudnnPointwiseMode_t mode = CUDNN_POINTWISE_CMP_GE;
};
cudnnStatus_t mask_band(cu::CUstream stream, const BandMask& mask);

}  // namespace km::cudnn
