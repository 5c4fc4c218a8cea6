// Multi-head attention over sequences with beams (the API of cuDNN 7.5), forward and backward.
#pragma once

#include <array>
#include <vector>

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// A matrix of each head, or a bias, in the memory of the weights; no elements: there is none.
struct HeadWeight {
  int64_t offset = 0, heads = 0, rows = 0, columns = 0;
  int64_t count() const { return heads * rows * columns; }
};

/// The layout of an attention, from its descriptor. A projection of 0 is none.
struct MultiHeadShape {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  bool is_one_to_one = false, has_biases = false;
  int64_t heads = 1;
  double scale = 1;
  std::array<int64_t, 3> size{}, projection{};  // of q, k, v
  int64_t output_projection = 0;
  int64_t most_queries = 0, most_keys = 0, most_batch = 0, most_beam = 0;

  /// The elements of a vector of q, k or v within a head.
  int64_t width(int which) const {
    const auto i = static_cast<size_t>(which);
    return projection[i] > 0 ? projection[i] : size[i];
  }
  int64_t output() const { return output_projection > 0 ? output_projection : heads * width(2); }
  HeadWeight weight(cudnnMultiHeadAttnWeightKind_t kind) const;
  int64_t weight_count() const;
};

/// The layout of sequences: strides of elements for time, batch, beam and vector.
struct SequenceLayout {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::array<int64_t, 4> dims{}, strides{};
};
/// Sequences in memory.
struct Sequences {
  SequenceLayout layout;
  const void* data = nullptr;
  int64_t span() const;
};

/// One call. Windows and lengths are those of the forward call, which keeps them in the reserve
/// space for the gradients of the weights.
struct MultiHeadCall {
  MultiHeadShape shape;
  int64_t only_step = -1;  // a step that is computed alone; negative: all are
  std::vector<int> first_key, end_key;
  const int *query_lengths = nullptr, *key_lengths = nullptr;
  Sequences q, k, v, out, dq, dk, dv;  // `out` is the result, or its gradient
  const void *residuals = nullptr, *weights = nullptr;
  void *dweights = nullptr, *reserve = nullptr;
  bool adds_weights = false;
  double attention_dropout = 0, output_dropout = 0;
  void *attention_states = nullptr, *output_states = nullptr;
};

int64_t multi_head_reserve_bytes(const MultiHeadShape& shape);
cudnnStatus_t multi_head_forward(cu::CUstream stream, const MultiHeadCall& call);
cudnnStatus_t multi_head_backward_data(cu::CUstream stream, const MultiHeadCall& call);
cudnnStatus_t multi_head_backward_weights(cu::CUstream stream, const MultiHeadCall& call);

}  // namespace km::cudnn
