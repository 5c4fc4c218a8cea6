// Recurrent networks: layers of cells that run over sequences, forward and backward.
#pragma once

#include <vector>

#include "dropin/cudnn/engine/step.h"

namespace km::cudnn {

/// The layout of a network, from its descriptor.
struct RnnShape {
  cudnnRNNMode_t mode = CUDNN_RNN_TANH;
  cudnnRNNBiasMode_t bias = CUDNN_RNN_DOUBLE_BIAS;
  bool is_bidirectional = false, skips_input = false;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  int64_t input = 0, hidden = 0, projection = 0, layers = 0;
  bool clips = false;
  double least = 0, most = 0;
  double dropout = 0;  // between layers, of training calls

  int64_t directions() const { return is_bidirectional ? 2 : 1; }
  /// The values that a cell gives: those of the projection, if there is one.
  int64_t output() const { return projection > 0 ? projection : hidden; }
  bool has_projection() const {
    return mode == CUDNN_LSTM && projection < hidden && projection > 0;
  }
  /// Products of matrices with the input, and with the state, of each cell.
  int64_t gates() const { return mode == CUDNN_LSTM ? 4 : mode == CUDNN_GRU ? 3 : 1; }
  int64_t input_of(int64_t layer) const { return layer == 0 ? input : output() * directions(); }
  bool has_input_matrix(int64_t layer) const { return layer > 0 || !skips_input; }
  bool has_input_bias() const {
    return bias == CUDNN_RNN_DOUBLE_BIAS || bias == CUDNN_RNN_SINGLE_INP_BIAS;
  }
  bool has_state_bias() const {
    return bias == CUDNN_RNN_DOUBLE_BIAS || bias == CUDNN_RNN_SINGLE_REC_BIAS;
  }
};

/// A matrix or a bias in the memory of the weights; no elements: there is none.
struct RnnWeight {
  int64_t offset = 0, rows = 0, columns = 0;
  int64_t count() const { return rows * columns; }
};
/// Places of the weights: for each layer and direction the matrices of all gates for the input,
/// those for the state, the projection, and then the biases in the same order.
class RnnWeights {
 public:
  explicit RnnWeights(const RnnShape& shape);
  int64_t count() const { return count_; }
  /// `id` counts the matrices of a pseudo layer as cuDNN does: those of the input, those of the
  /// state, the projection.
  RnnWeight matrix(int64_t pseudo_layer, int64_t id) const;
  RnnWeight bias(int64_t pseudo_layer, int64_t id) const;

 private:
  std::vector<std::vector<RnnWeight>> matrices_, biases_;
  int64_t count_ = 0;
};

/// A sequence's layout in memory.
struct RnnData {
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  cudnnRNNDataLayout_t layout = CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED;
  int64_t steps = 0, batch = 0, width = 0;
  std::vector<int64_t> lengths;
  bool fills_padding = false;
  double padding = 0;
  /// The first element of the vector at a step of a sequence.
  int64_t offset(int64_t step, int64_t sequence) const;
  /// The number of elements from the first one to the last.
  int64_t span() const;
};

/// The memory of a call; null where the program gives none.
struct RnnCall {
  RnnShape shape;
  RnnData x, y;
  const void *hx = nullptr, *cx = nullptr, *weights = nullptr, *x_data = nullptr;
  void *y_data = nullptr, *hy = nullptr, *cy = nullptr, *reserve = nullptr;
  const void *dy = nullptr, *dhy = nullptr, *dcy = nullptr;
  void *dx = nullptr, *dhx = nullptr, *dcx = nullptr, *dweights = nullptr;
  void* dropout_states = nullptr;  // a seed and a position, as cudnnSetDropoutDescriptor makes them
  bool is_training = false, adds = true;
};

/// Bytes of reserve space, in which a training call keeps values for the backward ones.
int64_t rnn_reserve_bytes(const RnnShape& shape, const RnnData& x);

cudnnStatus_t rnn_forward(cu::CUstream stream, const RnnCall& call);
cudnnStatus_t rnn_backward_data(cu::CUstream stream, const RnnCall& call);
cudnnStatus_t rnn_backward_weights(cu::CUstream stream, const RnnCall& call);

}  // namespace km::cudnn
