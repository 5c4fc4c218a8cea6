#include "dropin/cudnn/sequence/rnn.h"

namespace km::cudnn {

RnnWeights::RnnWeights(const RnnShape& shape) {
  const auto place = [&](int64_t rows, int64_t columns) {
    const RnnWeight found{count_, rows, columns};
    count_ += rows * columns;
    return found;
  };
  const int64_t pseudo_layers = shape.layers * shape.directions(), gates = shape.gates();
  for (int64_t p = 0; p < pseudo_layers; ++p) {
    const int64_t layer = p / shape.directions();
    std::vector<RnnWeight> found;
    for (int64_t gate = 0; gate < gates; ++gate) {
      const bool is_there = shape.has_input_matrix(layer);
      found.push_back(place(is_there ? shape.hidden : 0, is_there ? shape.input_of(layer) : 0));
    }
    for (int64_t gate = 0; gate < gates; ++gate) {
      found.push_back(place(shape.hidden, shape.output()));
    }
    if (shape.has_projection()) found.push_back(place(shape.projection, shape.hidden));
    matrices_.push_back(std::move(found));
  }
  for (int64_t p = 0; p < pseudo_layers; ++p) {
    std::vector<RnnWeight> found;
    for (int64_t i = 0; i < 2 * gates; ++i) {
      const bool is_there = i < gates ? shape.has_input_bias() : shape.has_state_bias();
      found.push_back(place(is_there ? shape.hidden : 0, 1));
    }
    biases_.push_back(std::move(found));
  }
}

RnnWeight RnnWeights::matrix(int64_t pseudo_layer, int64_t id) const {
  const auto& found = matrices_[static_cast<size_t>(pseudo_layer)];
  return id < static_cast<int64_t>(found.size()) ? found[static_cast<size_t>(id)] : RnnWeight{};
}
RnnWeight RnnWeights::bias(int64_t pseudo_layer, int64_t id) const {
  const auto& found = biases_[static_cast<size_t>(pseudo_layer)];
  return id < static_cast<int64_t>(found.size()) ? found[static_cast<size_t>(id)] : RnnWeight{};
}

int64_t RnnData::offset(int64_t step, int64_t sequence) const {
  switch (layout) {
    case CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
      return (sequence * steps + step) * width;
    case CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED: {
      int64_t before = 0;  // vectors of earlier steps; sequences are sorted by length
      for (const int64_t length : lengths) before += std::min(length, step);
      return (before + sequence) * width;
    }
    default:
      return (step * batch + sequence) * width;
  }
}
int64_t RnnData::span() const {
  if (layout != CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) return steps * batch * width;
  int64_t vectors = 0;
  for (const int64_t length : lengths) vectors += length;
  return vectors * width;
}

}  // namespace km::cudnn
