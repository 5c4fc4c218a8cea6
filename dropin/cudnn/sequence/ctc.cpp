#include "dropin/cudnn/sequence/ctc.h"

#include <cmath>
#include <limits>

namespace km::cudnn {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double log_add(double a, double b) {
  if (a < b) std::swap(a, b);
  return b == kNever ? a : a + std::log1p(std::exp(b - a));
}

/// One sequence of the batch.
class Sequence {
 public:
  Sequence(const CtcCall& call, int64_t index, int64_t steps, std::vector<int> labels)
      : c_(call),
        index_(index),
        steps_(steps),
        labels_(std::move(labels)),
        alphabet_(call.activations.dims[2]) {
    read();
  }
  void run() {
    const auto states = static_cast<int64_t>(2 * labels_.size() + 1);
    forward(states);
    const double total = end_of(forward_, states);
    write_one(View(cost_shape(), c_.costs), index_, -total);
    if (c_.gradients.data == nullptr) return;
    backward(states);
    for (int64_t t = 0; t < c_.gradients.dims[0]; ++t) write_gradient(t, states, total);
  }

 private:
  Shape cost_shape() const {
    const int64_t dims[] = {c_.activations.dims[1]};
    return dense_shape(c_.activations.type, 1, dims);
  }
  /// The logarithms of the probabilities.
  void read() {
    const View& from = c_.activations;
    logs_.resize(static_cast<size_t>(steps_ * alphabet_));
    for (int64_t t = 0; t < steps_; ++t) {
      double* const row = logs_.data() + t * alphabet_;
      read_row(from, t * from.strides[0] + index_ * from.strides[1], from.strides[2], alphabet_,
               row);
      double most = kNever, sum = 0;
      for (int64_t k = 0; k < alphabet_; ++k) most = std::max(most, row[k]);
      for (int64_t k = 0; k < alphabet_; ++k) sum += std::exp(row[k] - most);
      const double shift = most + std::log(sum);
      for (int64_t k = 0; k < alphabet_; ++k) {
        row[k] = c_.is_normalized ? row[k] - shift : std::log(row[k]);
      }
    }
  }
  int symbol(int64_t state) const {
    return state % 2 == 0 ? 0 : labels_[static_cast<size_t>(state / 2)];
  }
  double log_of(int64_t t, int64_t state) const {
    return logs_[static_cast<size_t>(t * alphabet_ + symbol(state))];
  }
  bool may_skip(int64_t state) const {
    return state >= 2 && symbol(state) != 0 && symbol(state) != symbol(state - 2);
  }
  void forward(int64_t states) {
    forward_.assign(static_cast<size_t>(steps_ * states), kNever);
    for (int64_t s = 0; s < std::min<int64_t>(states, 2) && steps_ > 0; ++s) {
      forward_[static_cast<size_t>(s)] = log_of(0, s);
    }
    for (int64_t t = 1; t < steps_; ++t) {
      const double* const before = forward_.data() + (t - 1) * states;
      for (int64_t s = 0; s < states; ++s) {
        double sum = before[s];
        if (s > 0) sum = log_add(sum, before[s - 1]);
        if (may_skip(s)) sum = log_add(sum, before[s - 2]);
        forward_[static_cast<size_t>(t * states + s)] = sum + log_of(t, s);
      }
    }
  }
  double end_of(const std::vector<double>& values, int64_t states) const {
    if (steps_ == 0) return labels_.empty() ? 0 : kNever;
    const double* const last = values.data() + (steps_ - 1) * states;
    return states > 1 ? log_add(last[states - 1], last[states - 2]) : last[0];
  }
  /// The probabilities of everything behind a step, without the step itself.
  void backward(int64_t states) {
    backward_.assign(static_cast<size_t>(steps_ * states), kNever);
    for (int64_t s = std::max<int64_t>(states - 2, 0); s < states && steps_ > 0; ++s) {
      backward_[static_cast<size_t>((steps_ - 1) * states + s)] = 0;
    }
    for (int64_t t = steps_ - 2; t >= 0; --t) {
      const double* const after = backward_.data() + (t + 1) * states;
      for (int64_t s = 0; s < states; ++s) {
        double sum = after[s] + log_of(t + 1, s);
        if (s + 1 < states) sum = log_add(sum, after[s + 1] + log_of(t + 1, s + 1));
        if (s + 2 < states && may_skip(s + 2)) {
          sum = log_add(sum, after[s + 2] + log_of(t + 1, s + 2));
        }
        backward_[static_cast<size_t>(t * states + s)] = sum;
      }
    }
  }
  void write_gradient(int64_t t, int64_t states, double total) const {
    const View& to = c_.gradients;
    if (t >= steps_ && c_.keeps_padding) return;
    std::vector<double> row(static_cast<size_t>(alphabet_));
    for (int64_t s = 0; t < steps_ && total > kNever && s < states; ++s) {
      const auto at = static_cast<size_t>(t * states + s);
      row[static_cast<size_t>(symbol(s))] += std::exp(forward_[at] + backward_[at] - total);
    }
    for (int64_t k = 0; t < steps_ && total > kNever && k < alphabet_; ++k) {
      double& value = row[static_cast<size_t>(k)];
      const double own = std::exp(logs_[static_cast<size_t>(t * alphabet_ + k)]);
      value = c_.is_normalized ? own - value : value == 0 ? 0 : -value / own;
    }
    write_row(to, t * to.strides[0] + index_ * to.strides[1], to.strides[2], alphabet_, row.data());
  }

  const CtcCall& c_;
  const int64_t index_, steps_;
  const std::vector<int> labels_;
  const int64_t alphabet_;
  std::vector<double> logs_, forward_, backward_;
};

/// Lengths and labels in device memory are what the program wrote there until now.
cu::CUresult run_all(const CtcCall& c) {
  const int64_t batch = c.activations.dims[1], steps = c.activations.dims[0];
  const int* const labels = c.device_labels != nullptr ? c.device_labels : c.labels.data();
  const int* const counts =
      c.device_labels != nullptr ? c.device_label_lengths : c.label_lengths.data();
  const int* const lengths =
      c.device_labels != nullptr ? c.device_input_lengths : c.input_lengths.data();
  const int64_t room =
      c.device_labels != nullptr ? c.label_room : static_cast<int64_t>(c.labels.size());
  const auto alphabet = static_cast<int>(c.activations.dims[2]);
  constexpr cu::CUresult kBad = cu::CUDA_ERROR_ILLEGAL_ADDRESS;
  int64_t first = 0;
  for (int64_t b = 0; b < batch; ++b) {
    const int64_t count = counts[b];
    const auto number = static_cast<int>(b);
    if (count < 0 || count > c.most_labels || count > room - first) {
      return library::fail_work(kBad, "labelLengths[%d] is %d; there is room for %d labels", number,
                                counts[b], static_cast<int>(std::min(c.most_labels, room - first)));
    }
    if (lengths[b] < 0 || lengths[b] > steps) {
      return library::fail_work(kBad, "inputLengths[%d] is %d; there are %d steps", number,
                                lengths[b], static_cast<int>(steps));
    }
    std::vector<int> own(labels + first, labels + first + count);
    first += count;
    for (const int label : own) {
      if (label >= 1 && label < alphabet) continue;
      return library::fail_work(kBad, "a label of sequence %d is %d, which is not 1 to %d", number,
                                label, alphabet - 1);
    }
    Sequence(c, b, lengths[b], std::move(own)).run();
  }
  return cu::CUDA_SUCCESS;
}

}  // namespace

cudnnStatus_t ctc_loss(cu::CUstream stream, const CtcCall& call) {
  const auto batch = static_cast<size_t>(call.activations.dims[1]);
  Arrays arrays;
  arrays.reads("probs", call.activations).writes("gradients", call.gradients);
  arrays.memory("costs", call.costs, batch * static_cast<size_t>(type_bytes(call.activations.type)),
                true);
  arrays.memory("labels", call.device_labels, 4, false);
  arrays.memory("labelLengths", call.device_label_lengths, batch * 4, false);
  arrays.memory("inputLengths", call.device_input_lengths, batch * 4, false);
  const auto work =
      library::make_work("cudnnCTCLoss", 1, static_cast<uint64_t>(call.activations.count()) * 100,
                         [call](uint64_t) { return run_all(call); });
  return queue_step(stream, work, arrays);
}

}  // namespace km::cudnn
