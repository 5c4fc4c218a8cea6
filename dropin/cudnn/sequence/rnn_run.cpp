#include <cmath>
#include <cstring>

#include "dropin/cudnn/engine/random.h"
#include "dropin/cudnn/sequence/rnn.h"

namespace km::cudnn {
namespace {

using Numbers = std::vector<double>;

/// Values that a training call keeps, in f64: the seed and position of the dropout, and for each
/// layer, direction, step and sequence the gates, the state of the cell, its output before the
/// projection and behind it, and its input.
class Reserve {
 public:
  Reserve(const RnnShape& shape, const RnnData& x, void* memory)
      : shape_(shape), steps_(x.steps), batch_(x.batch), memory_(static_cast<double*>(memory)) {}
  /// The parts of one cell's record.
  static int64_t record_size(const RnnShape& s) {
    return (kGateParts + 3) * s.hidden + s.output() + widest(s);
  }
  static int64_t widest(const RnnShape& s) {
    return std::max(s.input, s.output() * s.directions());
  }
  int64_t bytes() const {
    const int64_t records = shape_.layers * shape_.directions() * steps_ * batch_;
    return (kHeader + records * record_size(shape_)) * 8;
  }
  double* record(int64_t pseudo, int64_t step, int64_t sequence) const {
    return memory_ + kHeader + ((pseudo * steps_ + step) * batch_ + sequence) * record_size(shape_);
  }
  /// The seed and the position of the dropout's numbers.
  const uint64_t* dropout() const { return reinterpret_cast<const uint64_t*>(memory_); }
  double* gates(int64_t p, int64_t t, int64_t b) const { return record(p, t, b); }
  /// GRU: the part of the new value that the state gives.
  double* recurrent(int64_t p, int64_t t, int64_t b) const {
    return record(p, t, b) + kGateParts * shape_.hidden;
  }
  double* cell(int64_t p, int64_t t, int64_t b) const {
    return record(p, t, b) + (kGateParts + 1) * shape_.hidden;
  }
  double* full_output(int64_t p, int64_t t, int64_t b) const {
    return record(p, t, b) + (kGateParts + 2) * shape_.hidden;
  }
  double* output(int64_t p, int64_t t, int64_t b) const {
    return record(p, t, b) + (kGateParts + 3) * shape_.hidden;
  }
  double* input(int64_t p, int64_t t, int64_t b) const { return output(p, t, b) + shape_.output(); }

 private:
  static constexpr int64_t kGateParts = 4, kHeader = 8;
  const RnnShape& shape_;
  const int64_t steps_, batch_;
  double* const memory_;
};

double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// The weights of a network in f64.
struct Weights {
  explicit Weights(const RnnCall& call)
      : places(call.shape), values(static_cast<size_t>(places.count())) {
    const int64_t count[] = {places.count()};
    const View view(dense_shape(call.shape.type, 1, count), call.weights);
    read_row(view, 0, 1, places.count(), values.data());
  }
  const double* matrix(int64_t p, int64_t id) const {
    return values.data() + places.matrix(p, id).offset;
  }
  const double* bias(int64_t p, int64_t id) const {
    return values.data() + places.bias(p, id).offset;
  }
  RnnWeights places;
  Numbers values;
};

/// to += W x, with rows of W for the elements of `to`.
void add_product(const double* w, int64_t rows, int64_t columns, const double* x, double* to) {
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < columns; ++j) sum += w[i * columns + j] * x[j];
    to[i] += sum;
  }
}
/// to += W^T x.
void add_transposed(const double* w, int64_t rows, int64_t columns, const double* x, double* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[j] += w[i * columns + j] * x[i];
  }
}
/// dW += x y^T.
void add_outer(const double* x, int64_t rows, const double* y, int64_t columns, double* to) {
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) to[i * columns + j] += x[i] * y[j];
  }
}

/// The network of one call.
class Network {
 public:
  explicit Network(const RnnCall& call)
      : c_(call), s_(call.shape), weights_(call), reserve_(s_, call.x, call.reserve) {}

  /// Runs one sequence of the batch through all layers.
  void forward(int64_t b) const;
  void backward(int64_t b) const;
  static void add_weights(const RnnCall& call);

 private:
  int64_t length(int64_t b) const { return c_.x.lengths[static_cast<size_t>(b)]; }
  Numbers state(const void* from, int64_t p, int64_t b, int64_t width) const {
    Numbers found(static_cast<size_t>(width));
    if (from == nullptr) return found;
    read_row(state_view(from, width), (p * c_.x.batch + b) * width, 1, width, found.data());
    return found;
  }
  void put_state(void* to, int64_t p, int64_t b, int64_t width, const Numbers& values) const {
    if (to == nullptr) return;
    write_row(state_view(to, width), (p * c_.x.batch + b) * width, 1, width, values.data());
  }
  View state_view(const void* at, int64_t width) const {
    const int64_t dims[] = {s_.layers * s_.directions(), c_.x.batch, width};
    return {dense_shape(s_.type, 3, dims), at};
  }
  View data_view(const RnnData& data, const void* at) const {
    const int64_t dims[] = {data.span()};
    return {dense_shape(data.type, 1, dims), at};
  }
  void gate_sums(int64_t p, const double* x, const double* h, Numbers* inputs,
                 Numbers* states) const;
  void step(int64_t p, int64_t t, int64_t b, const double* x, Numbers* h, Numbers* c) const;
  void finish_lstm(int64_t p, int64_t t, int64_t b, const Numbers& sums, Numbers* h,
                   Numbers* c) const;
  void back_step(int64_t p, int64_t t, int64_t b, const Numbers& before, const Numbers& cell_before,
                 Numbers* dh, Numbers* dc, double* dx) const;
  double mask(int64_t layer, int64_t t, int64_t b, int64_t i) const;
  void write_outputs(int64_t b, const std::vector<Numbers>& outputs) const;

  const RnnCall& c_;
  const RnnShape& s_;
  const Weights weights_;
  const Reserve reserve_;
};

/// The factor of an element between layers: 0 or 1 / (1 - p).
double Network::mask(int64_t layer, int64_t t, int64_t b, int64_t i) const {
  if (s_.dropout <= 0 || !c_.is_training) return 1;
  const int64_t width = s_.output() * s_.directions();
  const auto position =
      static_cast<uint64_t>(((layer * c_.x.steps + t) * c_.x.batch + b) * width + i);
  const uint64_t* const from = reserve_.dropout();
  return uniform(from[0], from[1] + position) < s_.dropout ? 0 : 1 / (1 - s_.dropout);
}

void Network::gate_sums(int64_t p, const double* x, const double* h, Numbers* inputs,
                        Numbers* states) const {
  const int64_t gates = s_.gates(), layer = p / s_.directions();
  inputs->assign(static_cast<size_t>(gates * s_.hidden), 0);
  states->assign(inputs->size(), 0);
  for (int64_t g = 0; g < gates; ++g) {
    double* const to = inputs->data() + g * s_.hidden;
    double* const to_state = states->data() + g * s_.hidden;
    if (s_.has_input_matrix(layer)) {
      add_product(weights_.matrix(p, g), s_.hidden, s_.input_of(layer), x, to);
    } else {
      for (int64_t i = 0; i < s_.hidden; ++i) to[i] += x[i];
    }
    add_product(weights_.matrix(p, gates + g), s_.hidden, s_.output(), h, to_state);
    for (int64_t i = 0; i < s_.hidden; ++i) {
      if (s_.has_input_bias()) to[i] += weights_.bias(p, g)[i];
      if (s_.has_state_bias()) to_state[i] += weights_.bias(p, gates + g)[i];
    }
  }
}

void Network::finish_lstm(int64_t p, int64_t t, int64_t b, const Numbers& sums, Numbers* h,
                          Numbers* c) const {
  const int64_t n = s_.hidden;
  Numbers full(static_cast<size_t>(n));
  double* const kept = reserve_.gates(p, t, b);
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    const double in = sigmoid(sums[at]), forget = sigmoid(sums[static_cast<size_t>(n + i)]);
    const double fresh = std::tanh(sums[static_cast<size_t>(2 * n + i)]);
    const double out = sigmoid(sums[static_cast<size_t>(3 * n + i)]);
    double cell = forget * (*c)[at] + in * fresh;
    if (s_.clips) cell = std::clamp(cell, s_.least, s_.most);
    (*c)[at] = cell;
    full[at] = out * std::tanh(cell);
    kept[i] = in;
    kept[n + i] = forget;
    kept[2 * n + i] = fresh;
    kept[3 * n + i] = out;
    reserve_.cell(p, t, b)[i] = cell;
    reserve_.full_output(p, t, b)[i] = full[at];
  }
  if (!s_.has_projection()) {
    *h = full;
    return;
  }
  h->assign(static_cast<size_t>(s_.projection), 0);
  add_product(weights_.matrix(p, 8), s_.projection, n, full.data(), h->data());
}

void Network::step(int64_t p, int64_t t, int64_t b, const double* x, Numbers* h, Numbers* c) const {
  Numbers inputs, states;
  gate_sums(p, x, h->data(), &inputs, &states);
  const int64_t n = s_.hidden;
  double* const kept = reserve_.gates(p, t, b);
  if (s_.mode == CUDNN_LSTM) {
    for (size_t i = 0; i < inputs.size(); ++i) inputs[i] += states[i];
    finish_lstm(p, t, b, inputs, h, c);
  } else if (s_.mode == CUDNN_GRU) {
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i), second = static_cast<size_t>(n + i);
      const auto third = static_cast<size_t>(2 * n + i);
      const double reset = sigmoid(inputs[at] + states[at]);
      const double update = sigmoid(inputs[second] + states[second]);
      const double fresh = std::tanh(inputs[third] + reset * states[third]);
      (*h)[at] = (1 - update) * fresh + update * (*h)[at];
      kept[i] = reset;
      kept[n + i] = update;
      kept[2 * n + i] = fresh;
      reserve_.recurrent(p, t, b)[i] = states[third];
    }
  } else {
    for (int64_t i = 0; i < n; ++i) {
      const auto at = static_cast<size_t>(i);
      const double sum = inputs[at] + states[at];
      (*h)[at] = s_.mode == CUDNN_RNN_RELU ? std::max(sum, 0.0) : std::tanh(sum);
      kept[i] = (*h)[at];
    }
  }
  std::copy(h->begin(), h->end(), reserve_.output(p, t, b));
}

void Network::write_outputs(int64_t b, const std::vector<Numbers>& outputs) const {
  const View y = data_view(c_.y, c_.y_data);
  const int64_t width = c_.y.width;
  for (int64_t t = 0; t < static_cast<int64_t>(outputs.size()); ++t) {
    write_row(y, c_.y.offset(t, b), 1, width, outputs[static_cast<size_t>(t)].data());
  }
  if (!c_.y.fills_padding || c_.y.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED) return;
  const Numbers padding(static_cast<size_t>(width), c_.y.padding);
  for (int64_t t = length(b); t < c_.y.steps; ++t) {
    write_row(y, c_.y.offset(t, b), 1, width, padding.data());
  }
}

void Network::forward(int64_t b) const {
  const int64_t steps = length(b), out = s_.output();
  std::vector<Numbers> values(static_cast<size_t>(steps));
  const View x = data_view(c_.x, c_.x_data);
  for (int64_t t = 0; t < steps; ++t) {
    Numbers& row = values[static_cast<size_t>(t)];
    row.resize(static_cast<size_t>(s_.input));
    read_row(x, c_.x.offset(t, b), 1, s_.input, row.data());
  }
  for (int64_t layer = 0; layer < s_.layers; ++layer) {
    std::vector<Numbers> results(values.size(),
                                 Numbers(static_cast<size_t>(out * s_.directions())));
    for (int64_t d = 0; d < s_.directions(); ++d) {
      const int64_t p = layer * s_.directions() + d;
      Numbers h = state(c_.hx, p, b, out), c = state(c_.cx, p, b, s_.hidden);
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = d == 0 ? i : steps - 1 - i;
        const Numbers& in = values[static_cast<size_t>(t)];
        std::copy(in.begin(), in.end(), reserve_.input(p, t, b));
        step(p, t, b, in.data(), &h, &c);
        std::copy(h.begin(), h.end(), results[static_cast<size_t>(t)].begin() + d * out);
      }
      put_state(c_.hy, p, b, out, h);
      if (s_.mode == CUDNN_LSTM) put_state(c_.cy, p, b, s_.hidden, c);
    }
    values = std::move(results);
    if (layer + 1 == s_.layers) break;
    for (int64_t t = 0; t < steps; ++t) {
      for (int64_t i = 0; i < out * s_.directions(); ++i) {
        values[static_cast<size_t>(t)][static_cast<size_t>(i)] *= mask(layer, t, b, i);
      }
    }
  }
  write_outputs(b, values);
}

/// One cell backward: dh and dc become the gradients of the states before it. The gradients of the
/// gates' sums take the place of the gates in the reserve space: first those that the input meets,
/// and for a GRU's new value behind them the one that the state meets.
void Network::back_step(int64_t p, int64_t t, int64_t b, const Numbers& before,
                        const Numbers& cell_before, Numbers* dh, Numbers* dc, double* dx) const {
  const int64_t n = s_.hidden, gates = s_.gates(), layer = p / s_.directions();
  double* const kept = reserve_.gates(p, t, b);
  Numbers full_dh = *dh;
  if (s_.has_projection()) {
    full_dh.assign(static_cast<size_t>(n), 0);
    add_transposed(weights_.matrix(p, 8), s_.projection, n, dh->data(), full_dh.data());
    // The projection's gradient needs dh: it takes the place of the output.
    std::copy(dh->begin(), dh->end(), reserve_.output(p, t, b));
  }
  Numbers previous(static_cast<size_t>(s_.output()));
  double* const recurrent = reserve_.recurrent(p, t, b);
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<size_t>(i);
    const double g = full_dh[at];
    if (s_.mode == CUDNN_LSTM) {
      const double in = kept[i], forget = kept[n + i], fresh = kept[2 * n + i];
      const double out = kept[3 * n + i], bent = std::tanh(reserve_.cell(p, t, b)[i]);
      const double raw = forget * cell_before[at] + in * fresh;
      // A state that was clipped does not depend on the gates and the state before it.
      const bool is_clipped = s_.clips && (raw < s_.least || raw > s_.most);
      const double dcell = is_clipped ? 0 : (*dc)[at] + g * out * (1 - bent * bent);
      kept[i] = dcell * fresh * in * (1 - in);
      kept[n + i] = dcell * cell_before[at] * forget * (1 - forget);
      kept[2 * n + i] = dcell * in * (1 - fresh * fresh);
      kept[3 * n + i] = g * bent * out * (1 - out);
      (*dc)[at] = dcell * forget;
    } else if (s_.mode == CUDNN_GRU) {
      const double reset = kept[i], update = kept[n + i], fresh = kept[2 * n + i];
      const double dfresh = g * (1 - update) * (1 - fresh * fresh);
      kept[i] = dfresh * recurrent[i] * reset * (1 - reset);
      kept[n + i] = g * (before[at] - fresh) * update * (1 - update);
      kept[2 * n + i] = dfresh;
      recurrent[i] = dfresh * reset;
      previous[at] = g * update;
    } else {
      const double value = kept[i];
      kept[i] = s_.mode == CUDNN_RNN_RELU ? (value > 0 ? g : 0) : g * (1 - value * value);
    }
  }
  for (int64_t gate = 0; gate < gates; ++gate) {
    const double* const sums = kept + gate * n;
    const bool is_new = s_.mode == CUDNN_GRU && gate == 2;
    add_transposed(weights_.matrix(p, gates + gate), n, s_.output(), is_new ? recurrent : sums,
                   previous.data());
    if (s_.has_input_matrix(layer)) {
      add_transposed(weights_.matrix(p, gate), n, s_.input_of(layer), sums, dx);
    } else {
      for (int64_t i = 0; i < n; ++i) dx[i] += sums[i];
    }
  }
  *dh = std::move(previous);
}

void Network::backward(int64_t b) const {
  const int64_t steps = length(b), out = s_.output(), width = out * s_.directions();
  std::vector<Numbers> gradients(static_cast<size_t>(steps), Numbers(static_cast<size_t>(width)));
  const View dy = data_view(c_.y, c_.dy);
  for (int64_t t = 0; t < steps; ++t) {
    read_row(dy, c_.y.offset(t, b), 1, width, gradients[static_cast<size_t>(t)].data());
  }
  for (int64_t layer = s_.layers - 1; layer >= 0; --layer) {
    std::vector<Numbers> inputs(gradients.size(), Numbers(static_cast<size_t>(s_.input_of(layer))));
    for (int64_t d = 0; d < s_.directions(); ++d) {
      const int64_t p = layer * s_.directions() + d;
      Numbers dh = state(c_.dhy, p, b, out), dc = state(c_.dcy, p, b, s_.hidden);
      for (int64_t i = steps - 1; i >= 0; --i) {
        const int64_t t = d == 0 ? i : steps - 1 - i, earlier = d == 0 ? t - 1 : t + 1;
        for (int64_t j = 0; j < out; ++j) {
          dh[static_cast<size_t>(j)] +=
              gradients[static_cast<size_t>(t)][static_cast<size_t>(d * out + j)];
        }
        Numbers before = state(c_.hx, p, b, out), cell_before = state(c_.cx, p, b, s_.hidden);
        if (i > 0) {
          before.assign(reserve_.output(p, earlier, b), reserve_.output(p, earlier, b) + out);
          cell_before.assign(reserve_.cell(p, earlier, b),
                             reserve_.cell(p, earlier, b) + s_.hidden);
        }
        back_step(p, t, b, before, cell_before, &dh, &dc, inputs[static_cast<size_t>(t)].data());
      }
      put_state(c_.dhx, p, b, out, dh);
      if (s_.mode == CUDNN_LSTM) put_state(c_.dcx, p, b, s_.hidden, dc);
    }
    for (int64_t t = 0; layer > 0 && t < steps; ++t) {
      for (int64_t i = 0; i < width; ++i) {
        inputs[static_cast<size_t>(t)][static_cast<size_t>(i)] *= mask(layer - 1, t, b, i);
      }
    }
    gradients = std::move(inputs);
  }
  const View dx = data_view(c_.x, c_.dx);
  for (int64_t t = 0; t < steps; ++t) {
    write_row(dx, c_.x.offset(t, b), 1, s_.input, gradients[static_cast<size_t>(t)].data());
  }
}

/// The gradients of a cell's weights, from what the backward data call has left.
struct WeightGradient {
  const RnnCall& c;
  const RnnShape& s;
  const RnnWeights places;
  const Reserve reserve;
  Numbers sums;

  void add_cell(int64_t p, int64_t t, int64_t b, const double* before) {
    const int64_t n = s.hidden, gates = s.gates(), layer = p / s.directions();
    const double* const kept = reserve.gates(p, t, b);
    for (int64_t gate = 0; gate < gates; ++gate) {
      const double* const in = kept + gate * n;
      const bool is_new = s.mode == CUDNN_GRU && gate == 2;
      const double* const back = is_new ? reserve.recurrent(p, t, b) : in;
      if (s.has_input_matrix(layer)) {
        add_outer(in, n, reserve.input(p, t, b), s.input_of(layer), at(places.matrix(p, gate)));
      }
      add_outer(back, n, before, s.output(), at(places.matrix(p, gates + gate)));
      for (int64_t i = 0; i < n; ++i) {
        if (s.has_input_bias()) at(places.bias(p, gate))[i] += in[i];
        if (s.has_state_bias()) at(places.bias(p, gates + gate))[i] += back[i];
      }
    }
    if (!s.has_projection()) return;
    add_outer(reserve.output(p, t, b), s.projection, reserve.full_output(p, t, b), n,
              at(places.matrix(p, 8)));
  }
  double* at(const RnnWeight& weight) { return sums.data() + weight.offset; }
};

void Network::add_weights(const RnnCall& call) {
  const RnnShape& s = call.shape;
  WeightGradient work{call, s, RnnWeights(s), Reserve(s, call.x, call.reserve), {}};
  work.sums.resize(static_cast<size_t>(work.places.count()));
  const int64_t out = s.output();
  const int64_t y_dims[] = {call.y.span()};
  const View y(dense_shape(call.y.type, 1, y_dims), call.y_data);
  const int64_t state_dims[] = {s.layers * s.directions() * call.x.batch * out};
  const View hx(dense_shape(s.type, 1, state_dims), call.hx);
  for (int64_t p = 0; p < s.layers * s.directions(); ++p) {
    const int64_t d = p % s.directions(), layer = p / s.directions();
    for (int64_t b = 0; b < call.x.batch; ++b) {
      const int64_t steps = call.x.lengths[static_cast<size_t>(b)];
      for (int64_t i = 0; i < steps; ++i) {
        const int64_t t = d == 0 ? i : steps - 1 - i, earlier = d == 0 ? t - 1 : t + 1;
        Numbers before(static_cast<size_t>(out));
        if (i == 0) {
          if (call.hx != nullptr) read_row(hx, (p * call.x.batch + b) * out, 1, out, before.data());
        } else if (layer + 1 == s.layers) {
          read_row(y, call.y.offset(earlier, b) + d * out, 1, out, before.data());
        } else {
          // A projection's output has given its place to a gradient: the next layer's input has it.
          const double* const next =
              work.reserve.input((layer + 1) * s.directions(), earlier, b) + d * out;
          const double* const own = work.reserve.output(p, earlier, b);
          const double* const from = s.has_projection() ? next : own;
          before.assign(from, from + out);
        }
        work.add_cell(p, t, b, before.data());
      }
    }
  }
  const int64_t count[] = {work.places.count()};
  const View to(dense_shape(s.type, 1, count), call.dweights);
  if (call.adds) {
    Numbers old(work.sums.size());
    read_row(to, 0, 1, count[0], old.data());
    for (size_t i = 0; i < old.size(); ++i) work.sums[i] += old[i];
  }
  write_row(to, 0, 1, count[0], work.sums.data());
}

/// Adds the memory of a call that all directions use.
void add_arrays(const RnnCall& c, int64_t reserve_bytes, Arrays* arrays) {
  const auto bytes = [&](int64_t count) {
    return static_cast<size_t>(count * type_bytes(c.shape.type));
  };
  const int64_t cells = c.shape.layers * c.shape.directions() * c.x.batch;
  const size_t h = bytes(cells * c.shape.output()), cell = bytes(cells * c.shape.hidden);
  const size_t weights = bytes(RnnWeights(c.shape).count());
  arrays->memory("x", c.x_data, bytes(c.x.span()), false).memory("hx", c.hx, h, false);
  arrays->memory("cx", c.cx, cell, false).memory("weights", c.weights, weights, false);
  arrays->memory("y", c.y_data, bytes(c.y.span()), true).memory("hy", c.hy, h, true);
  arrays->memory("cy", c.cy, cell, true).memory("dy", c.dy, bytes(c.y.span()), false);
  arrays->memory("dhy", c.dhy, h, false).memory("dcy", c.dcy, cell, false);
  arrays->memory("dx", c.dx, bytes(c.x.span()), true).memory("dhx", c.dhx, h, true);
  arrays->memory("dcx", c.dcx, cell, true).memory("dweights", c.dweights, weights, true);
  arrays->memory("reserve space", c.reserve, static_cast<size_t>(reserve_bytes), true);
}

double step_ns(const RnnCall& c) {
  return static_cast<double>(c.x.steps) * static_cast<double>(RnnWeights(c.shape).count());
}

}  // namespace

int64_t rnn_reserve_bytes(const RnnShape& shape, const RnnData& x) {
  return Reserve(shape, x, nullptr).bytes();
}

namespace {

/// Takes the numbers of a call's dropout from its states.
cudnnStatus_t take_numbers(cu::CUstream stream, const RnnCall& call) {
  if (call.shape.dropout <= 0 || !call.is_training) return CUDNN_STATUS_SUCCESS;
  if (call.dropout_states == nullptr) return invalid("the dropout has no states");
  constexpr size_t kBytes = 2 * sizeof(uint64_t);
  const int64_t width = call.shape.output() * call.shape.directions();
  const auto count = static_cast<uint64_t>(call.shape.layers * call.x.steps * call.x.batch * width);
  Arrays arrays;
  arrays.memory("states", call.dropout_states, kBytes, true);
  arrays.memory("reserve space", call.reserve, kBytes, true);
  return submit_step(stream, "cudnnRNNForward", arrays, 1, 10.0,
                     [states = call.dropout_states, to = call.reserve, count](uint64_t, uint64_t) {
                       uint64_t words[2];
                       std::memcpy(words, states, sizeof words);
                       std::memcpy(to, words, sizeof words);
                       words[1] += count;
                       std::memcpy(states, words, sizeof words);
                     });
}

/// Queues a pass of the network, which threads share by the sequences of the batch.
cudnnStatus_t submit_batches(cu::CUstream stream, const char* name, const RnnCall& call, double ns,
                             void (Network::*pass)(int64_t) const) {
  Arrays arrays;
  add_arrays(call, rnn_reserve_bytes(call.shape, call.x), &arrays);
  return submit_step(
      stream, name, arrays, call.x.batch, ns, [call, pass](uint64_t piece, uint64_t pieces) {
        const Network network(call);
        const auto batch = static_cast<uint64_t>(call.x.batch);
        for (uint64_t b = batch * piece / pieces; b < batch * (piece + 1) / pieces; ++b) {
          (network.*pass)(static_cast<int64_t>(b));
        }
      });
}

}  // namespace

cudnnStatus_t rnn_forward(cu::CUstream stream, const RnnCall& call) {
  LIB_TRY(take_numbers(stream, call));
  return submit_batches(stream, "cudnnRNNForward", call, step_ns(call), &Network::forward);
}

cudnnStatus_t rnn_backward_data(cu::CUstream stream, const RnnCall& call) {
  return submit_batches(stream, "cudnnRNNBackwardData_v8", call, step_ns(call) * 2,
                        &Network::backward);
}

cudnnStatus_t rnn_backward_weights(cu::CUstream stream, const RnnCall& call) {
  Arrays arrays;
  add_arrays(call, rnn_reserve_bytes(call.shape, call.x), &arrays);
  return submit_step(stream, "cudnnRNNBackwardWeights_v8", arrays, 1,
                     step_ns(call) * static_cast<double>(call.x.batch),
                     [call](uint64_t, uint64_t) { Network::add_weights(call); });
}

}  // namespace km::cudnn
