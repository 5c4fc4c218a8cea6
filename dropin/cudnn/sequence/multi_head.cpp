#include "dropin/cudnn/sequence/multi_head.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "dropin/cudnn/engine/random.h"
#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

using Numbers = std::vector<double>;

/// The reserve space of a training call: positions of random numbers, lengths and windows.
class AttentionReserve {
 public:
  AttentionReserve(const MultiHeadShape& s, void* memory)
      : sequences_(s.most_batch * s.most_beam),
        steps_(s.most_queries),
        memory_(static_cast<char*>(memory)) {}
  int64_t bytes() const { return 32 + 4 * (2 * sequences_ + 2 * steps_); }
  /// The seed and position of the dropout of scores (0) or outputs (1).
  uint64_t* numbers(int which) const { return reinterpret_cast<uint64_t*>(memory_) + 2 * which; }
  int* query_lengths() const { return reinterpret_cast<int*>(memory_ + 32); }
  int* key_lengths() const { return query_lengths() + sequences_; }
  int* first_keys() const { return key_lengths() + sequences_; }
  int* end_keys() const { return first_keys() + steps_; }

 private:
  const int64_t sequences_, steps_;
  char* const memory_;
};

int64_t beams_of(const Sequences& s) { return s.layout.dims[CUDNN_SEQDATA_BEAM_DIM]; }
int64_t steps_of(const Sequences& s) { return s.layout.dims[CUDNN_SEQDATA_TIME_DIM]; }
int64_t width_of(const Sequences& s) { return s.layout.dims[CUDNN_SEQDATA_VECT_DIM]; }
View view_of(const Sequences& s) {
  const int64_t count[] = {s.span()};
  return {dense_shape(s.layout.type, 1, count), s.data};
}
int64_t place_of(const Sequences& s, int64_t step, int64_t batch, int64_t beam) {
  return step * s.layout.strides[CUDNN_SEQDATA_TIME_DIM] +
         batch * s.layout.strides[CUDNN_SEQDATA_BATCH_DIM] +
         beam * s.layout.strides[CUDNN_SEQDATA_BEAM_DIM];
}
/// The first `steps` vectors of a sequence.
Numbers read(const Sequences& s, int64_t steps, int64_t batch, int64_t beam) {
  const View view = view_of(s);
  Numbers found(static_cast<size_t>(steps * width_of(s)));
  for (int64_t t = 0; t < steps; ++t) {
    read_row(view, place_of(s, t, batch, beam), 1, width_of(s), found.data() + t * width_of(s));
  }
  return found;
}
/// Writes a sequence's vectors; those beyond `values` become zeros.
void write(const Sequences& s, int64_t batch, int64_t beam, Numbers values) {
  values.resize(static_cast<size_t>(steps_of(s) * width_of(s)));
  for (int64_t t = 0; t < steps_of(s); ++t) {
    write_row(view_of(s), place_of(s, t, batch, beam), 1, width_of(s),
              values.data() + t * width_of(s));
  }
}

/// The gradients of one sequence, or of several that are added up.
struct HeadGradients {
  std::array<Numbers, 3> inputs;  // of q, k, v
  Numbers weights;
};

/// The attention of one call in f64.
class MultiHead {
 public:
  explicit MultiHead(const MultiHeadCall& call)
      : c_(call), s_(call.shape), weights_(static_cast<size_t>(s_.weight_count())) {
    const int64_t count[] = {s_.weight_count()};
    const View view(dense_shape(s_.type, 1, count), c_.weights);
    if (count[0] != 0) read_row(view, 0, 1, count[0], weights_.data());
  }
  void forward(int64_t batch) const;
  void backward(int64_t batch) const;
  static void add_weights(const MultiHeadCall& call);

 private:
  /// The values of one sequence: inputs, and for each head what they are projected to.
  struct Values {
    int64_t batch, beam, queries, keys;
    std::array<Numbers, 3> inputs;
    std::array<Numbers, 3> projected;  // of one head
    Numbers scores;                    // of one head, after the softmax
    Numbers joined;                    // results of all heads, side by side
    int64_t steps(int which) const { return which == 0 ? queries : keys; }
  };
  int64_t key_beam(int64_t beam) const { return s_.is_one_to_one ? beam : 0; }
  Values start(int64_t batch, int64_t beam) const;
  void project(Values* v, int which, int64_t head) const;
  void score(Values* v) const;
  void run_head(Values* v, int64_t head) const;
  Numbers finish(const Values& v) const;
  double score_mask(const Values& v, int64_t head, int64_t query, int64_t key) const;
  double output_mask(const Values& v, int64_t query, int64_t i) const;
  void gradients(int64_t batch, int64_t beam, HeadGradients* to) const;
  Numbers back_output(const Values& v, HeadGradients* to) const;
  void back_head(Values* v, int64_t head, const Numbers& djoined, HeadGradients* to) const;
  void back_project(const Values& v, int which, int64_t head, const Numbers& gradient,
                    HeadGradients* to) const;
  const double* weight(cudnnMultiHeadAttnWeightKind_t kind, int64_t head) const {
    const HeadWeight found = s_.weight(kind);
    return weights_.data() + found.offset + head * found.rows * found.columns;
  }
  static cudnnMultiHeadAttnWeightKind_t matrix_kind(int which) {
    return static_cast<cudnnMultiHeadAttnWeightKind_t>(CUDNN_MH_ATTN_Q_WEIGHTS + which);
  }
  static cudnnMultiHeadAttnWeightKind_t bias_kind(int which) {
    return static_cast<cudnnMultiHeadAttnWeightKind_t>(CUDNN_MH_ATTN_Q_BIASES + which);
  }

  const MultiHeadCall& c_;
  const MultiHeadShape& s_;
  Numbers weights_;
};

MultiHead::Values MultiHead::start(int64_t batch, int64_t beam) const {
  Values v{batch, beam, 0, 0, {}, {}, {}, {}};
  const auto clamped = [](int length, int64_t most) {
    return std::clamp<int64_t>(length, 0, most);
  };
  v.queries = clamped(c_.query_lengths[batch * beams_of(c_.q) + beam], steps_of(c_.q));
  v.keys = clamped(c_.key_lengths[batch * beams_of(c_.k) + key_beam(beam)], steps_of(c_.k));
  v.inputs[0] = read(c_.q, v.queries, batch, beam);
  v.inputs[1] = read(c_.k, v.keys, batch, key_beam(beam));
  v.inputs[2] = read(c_.v, v.keys, batch, key_beam(beam));
  v.joined.resize(static_cast<size_t>(v.queries * s_.heads * s_.width(2)));
  return v;
}

void MultiHead::project(Values* v, int which, int64_t head) const {
  const auto at = static_cast<size_t>(which);
  const HeadWeight w = s_.weight(matrix_kind(which)), b = s_.weight(bias_kind(which));
  const Numbers& from = v->inputs[at];
  if (w.count() == 0) {
    v->projected[at] = from;
    return;
  }
  v->projected[at].assign(static_cast<size_t>(v->steps(which) * w.rows), 0);
  const double* const matrix = weight(matrix_kind(which), head);
  for (int64_t t = 0; t < v->steps(which); ++t) {
    for (int64_t i = 0; i < w.rows; ++i) {
      double sum = b.count() == 0 ? 0 : weight(bias_kind(which), head)[i];
      for (int64_t j = 0; j < w.columns; ++j) {
        sum += matrix[i * w.columns + j] * from[static_cast<size_t>(t * w.columns + j)];
      }
      v->projected[at][static_cast<size_t>(t * w.rows + i)] = sum;
    }
  }
}

/// The softmax of a head's scores; keys outside of a query's window have none.
void MultiHead::score(Values* v) const {
  const int64_t width = s_.width(0);
  v->scores.assign(static_cast<size_t>(v->queries * v->keys), 0);
  for (int64_t t = 0; t < v->queries; ++t) {
    const auto step = static_cast<size_t>(t);
    const int64_t first = std::max(c_.first_key[step], 0);
    const int64_t end = std::min<int64_t>(c_.end_key[step], v->keys);
    double* const row = v->scores.data() + t * v->keys;
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int64_t k = first; k < end; ++k) {
      double dot = 0;
      for (int64_t i = 0; i < width; ++i) {
        dot += v->projected[0][static_cast<size_t>(t * width + i)] *
               v->projected[1][static_cast<size_t>(k * width + i)];
      }
      row[k] = s_.scale * dot;
      most = std::max(most, row[k]);
    }
    for (int64_t k = first; k < end; ++k) sum += row[k] = std::exp(row[k] - most);
    for (int64_t k = first; k < end; ++k) row[k] /= sum;
  }
}

double MultiHead::score_mask(const Values& v, int64_t head, int64_t query, int64_t key) const {
  if (c_.attention_dropout <= 0 || c_.reserve == nullptr) return 1;
  const uint64_t* const from = AttentionReserve(s_, c_.reserve).numbers(0);
  const int64_t sequence = v.batch * s_.most_beam + v.beam;
  const auto position = static_cast<uint64_t>(
      ((sequence * s_.heads + head) * s_.most_queries + query) * s_.most_keys + key);
  const bool is_dropped = uniform(from[0], from[1] + position) < c_.attention_dropout;
  return is_dropped ? 0 : 1 / (1 - c_.attention_dropout);
}
double MultiHead::output_mask(const Values& v, int64_t query, int64_t i) const {
  if (c_.output_dropout <= 0 || c_.reserve == nullptr) return 1;
  const uint64_t* const from = AttentionReserve(s_, c_.reserve).numbers(1);
  const int64_t sequence = v.batch * s_.most_beam + v.beam;
  const auto position =
      static_cast<uint64_t>((sequence * s_.most_queries + query) * s_.output() + i);
  const bool is_dropped = uniform(from[0], from[1] + position) < c_.output_dropout;
  return is_dropped ? 0 : 1 / (1 - c_.output_dropout);
}

void MultiHead::run_head(Values* v, int64_t head) const {
  for (int which = 0; which < 3; ++which) project(v, which, head);
  score(v);
  const int64_t width = s_.width(2);
  for (int64_t t = 0; t < v->queries; ++t) {
    double* const to = v->joined.data() + (t * s_.heads + head) * width;
    for (int64_t k = 0; k < v->keys; ++k) {
      const double factor =
          v->scores[static_cast<size_t>(t * v->keys + k)] * score_mask(*v, head, t, k);
      for (int64_t i = 0; i < width; ++i) {
        to[i] += factor * v->projected[2][static_cast<size_t>(k * width + i)];
      }
    }
  }
}

Numbers MultiHead::finish(const Values& v) const {
  const int64_t width = s_.width(2), out = s_.output();
  Numbers found(static_cast<size_t>(v.queries * out));
  const bool has_bias = s_.weight(CUDNN_MH_ATTN_O_BIASES).count() != 0;
  for (int64_t t = 0; t < v.queries; ++t) {
    const double* const joined = v.joined.data() + t * s_.heads * width;
    for (int64_t i = 0; i < out; ++i) {
      double sum = s_.output_projection > 0 ? 0 : joined[i];
      for (int64_t h = 0; h < s_.heads && s_.output_projection > 0; ++h) {
        const double* const row = weight(CUDNN_MH_ATTN_O_WEIGHTS, h) + i * width;
        for (int64_t j = 0; j < width; ++j) sum += row[j] * joined[h * width + j];
      }
      if (has_bias) sum += weight(CUDNN_MH_ATTN_O_BIASES, 0)[i];
      found[static_cast<size_t>(t * out + i)] = sum * output_mask(v, t, i);
    }
  }
  return found;
}

void MultiHead::forward(int64_t batch) const {
  for (int64_t beam = 0; beam < beams_of(c_.q); ++beam) {
    Values v = start(batch, beam);
    for (int64_t h = 0; h < s_.heads; ++h) run_head(&v, h);
    Numbers out = finish(v);
    if (c_.residuals != nullptr) {
      const Numbers added = read({c_.q.layout, c_.residuals}, v.queries, batch, beam);
      for (size_t i = 0; i < out.size(); ++i) out[i] += added[i];
    }
    for (int64_t t = 0; t < v.queries; ++t) {
      if (c_.only_step >= 0 && t != c_.only_step) continue;
      write_row(view_of(c_.out), place_of(c_.out, t, batch, beam), 1, s_.output(),
                out.data() + t * s_.output());
    }
  }
}

/// The gradient of the heads' results.
Numbers MultiHead::back_output(const Values& v, HeadGradients* to) const {
  const int64_t width = s_.width(2), out = s_.output();
  Numbers dout = read(c_.out, v.queries, v.batch, v.beam);
  for (int64_t i = 0; i < v.queries * out; ++i) {
    dout[static_cast<size_t>(i)] *= output_mask(v, i / out, i % out);
  }
  const HeadWeight bias = s_.weight(CUDNN_MH_ATTN_O_BIASES);
  for (int64_t i = 0; i < v.queries * out && bias.count() != 0; ++i) {
    to->weights[static_cast<size_t>(bias.offset + i % out)] += dout[static_cast<size_t>(i)];
  }
  if (s_.output_projection == 0) return dout;
  Numbers djoined(v.joined.size());
  const int64_t place = s_.weight(CUDNN_MH_ATTN_O_WEIGHTS).offset;
  for (int64_t t = 0; t < v.queries; ++t) {
    for (int64_t i = 0; i < out; ++i) {
      const double g = dout[static_cast<size_t>(t * out + i)];
      for (int64_t h = 0; h < s_.heads; ++h) {
        const int64_t row = (h * out + i) * width;
        for (int64_t j = 0; j < width; ++j) {
          const auto at = static_cast<size_t>((t * s_.heads + h) * width + j);
          djoined[at] += weights_[static_cast<size_t>(place + row + j)] * g;
          to->weights[static_cast<size_t>(place + row + j)] += g * v.joined[at];
        }
      }
    }
  }
  return djoined;
}

void MultiHead::back_project(const Values& v, int which, int64_t head, const Numbers& gradient,
                             HeadGradients* to) const {
  const HeadWeight w = s_.weight(matrix_kind(which)), b = s_.weight(bias_kind(which));
  Numbers& inputs = to->inputs[static_cast<size_t>(which)];
  if (w.count() == 0) {
    for (size_t i = 0; i < gradient.size(); ++i) inputs[i] += gradient[i];
    return;
  }
  const double* const matrix = weight(matrix_kind(which), head);
  double* const dmatrix = to->weights.data() + w.offset + head * w.rows * w.columns;
  const Numbers& from = v.inputs[static_cast<size_t>(which)];
  for (int64_t t = 0; t < v.steps(which); ++t) {
    for (int64_t i = 0; i < w.rows; ++i) {
      const double g = gradient[static_cast<size_t>(t * w.rows + i)];
      if (b.count() != 0) to->weights[static_cast<size_t>(b.offset + head * w.rows + i)] += g;
      for (int64_t j = 0; j < w.columns; ++j) {
        const auto at = static_cast<size_t>(t * w.columns + j);
        inputs[at] += matrix[i * w.columns + j] * g;
        dmatrix[i * w.columns + j] += g * from[at];
      }
    }
  }
}

void MultiHead::back_head(Values* v, int64_t head, const Numbers& djoined,
                          HeadGradients* to) const {
  for (int which = 0; which < 3; ++which) project(v, which, head);
  score(v);
  const int64_t width = s_.width(2), inner = s_.width(0);
  const auto& [q, k, values] = v->projected;
  Numbers dq(q.size()), dk(k.size()), dv(values.size()), ds(static_cast<size_t>(v->keys));
  for (int64_t t = 0; t < v->queries; ++t) {
    const double* const p = v->scores.data() + t * v->keys;
    const double* const g = djoined.data() + (t * s_.heads + head) * width;
    double sum = 0;
    for (int64_t s = 0; s < v->keys; ++s) {
      const double mask = score_mask(*v, head, t, s);
      double dot = 0;
      for (int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<size_t>(s * width + i);
        dot += g[i] * values[at];
        dv[at] += p[s] * mask * g[i];
      }
      ds[static_cast<size_t>(s)] = dot * mask;
      sum += p[s] * dot * mask;
    }
    for (int64_t s = 0; s < v->keys; ++s) {
      const double factor = s_.scale * p[s] * (ds[static_cast<size_t>(s)] - sum);
      for (int64_t i = 0; i < inner; ++i) {
        const auto query = static_cast<size_t>(t * inner + i);
        const auto key = static_cast<size_t>(s * inner + i);
        dq[query] += factor * k[key];
        dk[key] += factor * q[query];
      }
    }
  }
  back_project(*v, 0, head, dq, to);
  back_project(*v, 1, head, dk, to);
  back_project(*v, 2, head, dv, to);
}

/// Adds the gradients of one sequence.
void MultiHead::gradients(int64_t batch, int64_t beam, HeadGradients* to) const {
  Values v = start(batch, beam);
  for (int64_t h = 0; h < s_.heads; ++h) run_head(&v, h);
  to->weights.resize(weights_.size());
  for (size_t i = 0; i < 3; ++i) {
    to->inputs[i].resize(std::max(to->inputs[i].size(), v.inputs[i].size()));
  }
  const Numbers djoined = back_output(v, to);
  for (int64_t h = 0; h < s_.heads; ++h) back_head(&v, h, djoined, to);
}

void MultiHead::backward(int64_t batch) const {
  HeadGradients found;
  for (int64_t beam = 0; beam < beams_of(c_.q); ++beam) {
    found.inputs[0].clear();
    if (s_.is_one_to_one) found.inputs = {};
    gradients(batch, beam, &found);
    write(c_.dq, batch, beam, found.inputs[0]);
    if (!s_.is_one_to_one && beam + 1 < beams_of(c_.q)) continue;
    write(c_.dk, batch, key_beam(beam), found.inputs[1]);
    write(c_.dv, batch, key_beam(beam), found.inputs[2]);
  }
}

void MultiHead::add_weights(const MultiHeadCall& call) {
  const MultiHead work(call);
  Numbers sums(work.weights_.size());
  for (int64_t batch = 0; batch < call.q.layout.dims[CUDNN_SEQDATA_BATCH_DIM]; ++batch) {
    for (int64_t beam = 0; beam < beams_of(call.q); ++beam) {
      HeadGradients found;
      work.gradients(batch, beam, &found);
      for (size_t i = 0; i < sums.size(); ++i) sums[i] += found.weights[i];
    }
  }
  const int64_t count[] = {static_cast<int64_t>(sums.size())};
  const View to(dense_shape(call.shape.type, 1, count), call.dweights);
  if (call.adds_weights) {
    Numbers old(sums.size());
    read_row(to, 0, 1, count[0], old.data());
    for (size_t i = 0; i < sums.size(); ++i) sums[i] += old[i];
  }
  write_row(to, 0, 1, count[0], sums.data());
}

Arrays arrays_of(const MultiHeadCall& c) {
  Arrays arrays;
  const int64_t count[] = {c.shape.weight_count()};
  const Shape weights = dense_shape(c.shape.type, 1, count);
  const auto sequences = [](const Sequences& s) {
    return static_cast<size_t>(s.layout.dims[CUDNN_SEQDATA_BATCH_DIM] * beams_of(s)) * sizeof(int);
  };
  for (const Sequences* each : {&c.q, &c.k, &c.v}) {
    if (each->data != nullptr) arrays.reads("an input", view_of(*each));
  }
  if (c.residuals != nullptr) arrays.reads("residuals", view_of({c.q.layout, c.residuals}));
  if (count[0] != 0) arrays.reads("weights", View(weights, c.weights));
  if (count[0] != 0 && c.dweights != nullptr) {
    arrays.writes("dweights", View(weights, c.dweights));
  }
  if (c.query_lengths != nullptr) {
    arrays.memory("devSeqLengthsQO", c.query_lengths, sequences(c.q), false);
    arrays.memory("devSeqLengthsKV", c.key_lengths, sequences(c.k), false);
  }
  for (const Sequences* each : {&c.dq, &c.dk, &c.dv}) {
    if (each->data != nullptr) arrays.writes("a gradient", view_of(*each));
  }
  arrays.memory("reserve space", c.reserve, static_cast<size_t>(multi_head_reserve_bytes(c.shape)),
                true);
  return arrays;
}

double batch_ns(const MultiHeadCall& c) {
  const MultiHeadShape& s = c.shape;
  const auto steps = static_cast<double>(steps_of(c.q) + steps_of(c.k));
  const auto pairs = static_cast<double>(steps_of(c.q) * steps_of(c.k) * s.heads);
  return static_cast<double>(beams_of(c.q)) *
         (steps * static_cast<double>(s.weight_count()) +
          pairs * static_cast<double>(s.width(0) + s.width(2)));
}

/// Keeps a training call's windows and lengths, and takes the numbers of its dropouts.
void keep(const MultiHeadCall& c) {
  const AttentionReserve to(c.shape, c.reserve);
  const int64_t queries = c.q.layout.dims[CUDNN_SEQDATA_BATCH_DIM] * beams_of(c.q);
  const int64_t keys = c.k.layout.dims[CUDNN_SEQDATA_BATCH_DIM] * beams_of(c.k);
  std::copy(c.query_lengths, c.query_lengths + queries, to.query_lengths());
  std::copy(c.key_lengths, c.key_lengths + keys, to.key_lengths());
  std::copy(c.first_key.begin(), c.first_key.end(), to.first_keys());
  std::copy(c.end_key.begin(), c.end_key.end(), to.end_keys());
  const int64_t sequences = c.shape.most_batch * c.shape.most_beam * c.shape.most_queries;
  const int64_t counts[] = {sequences * c.shape.heads * c.shape.most_keys,
                            sequences * c.shape.output()};
  void* const states[] = {c.attention_states, c.output_states};
  for (int i = 0; i < 2; ++i) {
    if (states[i] == nullptr) continue;
    uint64_t words[2];
    std::memcpy(words, states[i], sizeof words);
    std::memcpy(to.numbers(i), words, sizeof words);
    words[1] += static_cast<uint64_t>(counts[i]);
    std::memcpy(states[i], words, sizeof words);
  }
}
/// A call with the windows and lengths that the forward call has kept.
MultiHeadCall restored(MultiHeadCall c) {
  const AttentionReserve from(c.shape, c.reserve);
  const int64_t steps = steps_of(c.q);
  c.query_lengths = from.query_lengths();
  c.key_lengths = from.key_lengths();
  c.first_key.assign(from.first_keys(), from.first_keys() + steps);
  c.end_key.assign(from.end_keys(), from.end_keys() + steps);
  return c;
}

}  // namespace

HeadWeight MultiHeadShape::weight(cudnnMultiHeadAttnWeightKind_t kind) const {
  int64_t offset = 0;
  for (int each = CUDNN_MH_ATTN_Q_WEIGHTS; each <= CUDNN_MH_ATTN_O_BIASES; ++each) {
    const auto which = static_cast<size_t>(each % 4);
    const bool is_bias = each >= CUDNN_MH_ATTN_Q_BIASES, is_output = which == 3;
    HeadWeight found{offset, heads, is_output ? output_projection : projection[which], 1};
    if (!is_bias) found.columns = is_output ? width(2) : size[which];
    if (is_bias && is_output) found.heads = 1;
    if (is_bias && !has_biases) found.rows = 0;
    if (each == kind) return found;
    offset += found.count();
  }
  return {};
}
int64_t MultiHeadShape::weight_count() const {
  const HeadWeight last = weight(CUDNN_MH_ATTN_O_BIASES);
  return last.offset + last.count();
}
int64_t Sequences::span() const {
  int64_t found = 1;
  for (size_t i = 0; i < 4; ++i) found += (layout.dims[i] - 1) * layout.strides[i];
  return found;
}

int64_t multi_head_reserve_bytes(const MultiHeadShape& shape) {
  return AttentionReserve(shape, nullptr).bytes();
}

cudnnStatus_t multi_head_forward(cu::CUstream stream, const MultiHeadCall& call) {
  Arrays arrays = arrays_of(call);
  arrays.writes("out", view_of(call.out));
  if (call.reserve != nullptr) {
    Arrays kept = arrays_of(call);
    kept.memory("states", call.attention_states, 2 * sizeof(uint64_t), true);
    kept.memory("states", call.output_states, 2 * sizeof(uint64_t), true);
    LIB_TRY(submit_step(stream, "cudnnMultiHeadAttnForward", kept, 1, 100.0,
                        [call](uint64_t, uint64_t) { keep(call); }));
  }
  const int64_t batches = call.q.layout.dims[CUDNN_SEQDATA_BATCH_DIM];
  return submit_step(stream, "cudnnMultiHeadAttnForward", arrays, batches, batch_ns(call),
                     [call, batches](uint64_t piece, uint64_t pieces) {
                       const MultiHead work(call);
                       const Part part(batches, piece, pieces);
                       for (int64_t b = part.begin; b < part.end; ++b) work.forward(b);
                     });
}

cudnnStatus_t multi_head_backward_data(cu::CUstream stream, const MultiHeadCall& call) {
  Arrays arrays = arrays_of(call);
  arrays.reads("dout", view_of(call.out));
  const int64_t batches = call.q.layout.dims[CUDNN_SEQDATA_BATCH_DIM];
  return submit_step(stream, "cudnnMultiHeadAttnBackwardData", arrays, batches, batch_ns(call) * 3,
                     [call, batches](uint64_t piece, uint64_t pieces) {
                       const MultiHeadCall whole = restored(call);
                       const MultiHead work(whole);
                       const Part part(batches, piece, pieces);
                       for (int64_t b = part.begin; b < part.end; ++b) work.backward(b);
                     });
}

cudnnStatus_t multi_head_backward_weights(cu::CUstream stream, const MultiHeadCall& call) {
  Arrays arrays = arrays_of(call);
  arrays.reads("dout", view_of(call.out));
  const auto batches = static_cast<double>(call.q.layout.dims[CUDNN_SEQDATA_BATCH_DIM]);
  return submit_step(stream, "cudnnMultiHeadAttnBackwardWeights", arrays, 1,
                     batch_ns(call) * 3 * batches,
                     [call](uint64_t, uint64_t) { MultiHead::add_weights(restored(call)); });
}

}  // namespace km::cudnn
