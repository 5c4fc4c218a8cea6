#include "dropin/cudnn/engine/layers/softmax.h"

#include <cmath>
#include <limits>

#include "dropin/cudnn/engine/groups.h"

namespace km::cudnn {
namespace {

struct Softmax {
  bool is_log;
  double alpha, beta;
  View x, y;
  SoftmaxExtras extras;
  Groups<2> groups;

  void run(const Part& part) const {
    for (int64_t g = part.begin; g < part.end; ++g) group(groups.position(g));
  }

 private:
  template <class Row>
  void each_row(int64_t base, Row&& row) const {
    double xs[kRow];
    groups.rows([&](int64_t count, const std::array<int64_t, 2>& at) {
      read_row(x, base + at[0], groups.step(0), count, xs);
      row(count, at[1], xs);
    });
  }
  void group(const Extents& at) const {
    const int64_t base = offset_at(x, at), to = offset_at(y, at);
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    if (extras.sink.data != nullptr) most = read_one(extras.sink, offset_at(extras.sink, at));
    const double sink = most;
    each_row(base, [&](int64_t count, int64_t, const double* xs) {
      for (int64_t i = 0; i < count; ++i) most = xs[i] > most || xs[i] != xs[i] ? xs[i] : most;
    });
    // A group in which everything is masked has zeros, or NaN as in NVIDIA's library without mask.
    const double center = std::isinf(most) && most < 0 ? 0 : most;
    if (extras.sink.data != nullptr) sum = std::exp(sink - center);
    each_row(base, [&](int64_t count, int64_t, const double* xs) {
      for (int64_t i = 0; i < count; ++i) sum += std::exp(xs[i] - center);
    });
    const double logarithm = std::log(sum);
    each_row(base, [&](int64_t count, int64_t offset, double* xs) {
      for (int64_t i = 0; i < count; ++i) {
        const double shifted = xs[i] - center;
        xs[i] = alpha * (is_log ? shifted - logarithm : std::exp(shifted) / (sum == 0 ? 1 : sum));
      }
      finish(y, to + offset, groups.step(1), beta, count, xs);
    });
    give(extras.stats, at, center + logarithm);
    give(extras.maximum, at, most);
    give(extras.sum, at, sum);
  }
  static void give(const View& view, const Extents& at, double value) {
    if (view.data != nullptr) write_one(view, offset_at(view, at), value);
  }

 public:
  static void finish(const View& to, int64_t at, int64_t step, double beta, int64_t count,
                     double* values) {
    if (beta != 0) {
      double old[kRow];
      read_row(to, at, step, count, old);
      for (int64_t i = 0; i < count; ++i) values[i] += beta * old[i];
    }
    write_row(to, at, step, count, values);
  }
};

struct SoftmaxGradient {
  bool is_log;
  double alpha, beta;
  View y, dy, dx;
  Groups<3> groups;

  void run(const Part& part) const {
    double ys[kRow], dys[kRow];
    for (int64_t g = part.begin; g < part.end; ++g) {
      const Extents at = groups.position(g);
      const int64_t y_at = offset_at(y, at), dy_at = offset_at(dy, at), dx_at = offset_at(dx, at);
      double sum = 0;
      groups.rows([&](int64_t count, const std::array<int64_t, 3>& offset) {
        read_row(y, y_at + offset[0], groups.step(0), count, ys);
        read_row(dy, dy_at + offset[1], groups.step(1), count, dys);
        for (int64_t i = 0; i < count; ++i) sum += is_log ? dys[i] : dys[i] * ys[i];
      });
      groups.rows([&](int64_t count, const std::array<int64_t, 3>& offset) {
        read_row(y, y_at + offset[0], groups.step(0), count, ys);
        read_row(dy, dy_at + offset[1], groups.step(1), count, dys);
        for (int64_t i = 0; i < count; ++i) {
          dys[i] = alpha * (is_log ? dys[i] - std::exp(ys[i]) * sum : ys[i] * (dys[i] - sum));
        }
        Softmax::finish(dx, dx_at + offset[2], groups.step(2), beta, count, dys);
      });
    }
  }
};

}  // namespace

cudnnStatus_t softmax(cu::CUstream stream, bool is_log, double alpha, const View& x, double beta,
                      const View& y, const Shape& shared, const SoftmaxExtras& extras) {
  Softmax work{is_log, alpha, beta, x, y, extras, {}};
  if (!work.groups.init(x, shared, {&x, &y})) return invalid("the extents of a softmax differ");
  Arrays arrays;
  arrays.reads("x", x).reads("sink", extras.sink).writes("y", y).writes("stats", extras.stats);
  arrays.writes("maximum", extras.maximum).writes("sum", extras.sum);
  const int64_t count = work.groups.count();
  return submit_step(stream, "cudnn softmax", arrays, count,
                     static_cast<double>(work.groups.size()) * 10,
                     [work = std::move(work), count](uint64_t piece, uint64_t pieces) {
                       work.run(Part(count, piece, pieces));
                     });
}

cudnnStatus_t softmax_backward(cu::CUstream stream, bool is_log, double alpha, const View& y,
                               const View& dy, double beta, const View& dx, const Shape& shared) {
  SoftmaxGradient work{is_log, alpha, beta, y, dy, dx, {}};
  if (!work.groups.init(y, shared, {&y, &dy, &dx})) {
    return invalid("the extents of a softmax differ");
  }
  Arrays arrays;
  arrays.reads("y", y).reads("dy", dy).writes("dx", dx);
  const int64_t count = work.groups.count();
  return submit_step(stream, "cudnn softmax backward", arrays, count,
                     static_cast<double>(work.groups.size()) * 10,
                     [work = std::move(work), count](uint64_t piece, uint64_t pieces) {
                       work.run(Part(count, piece, pieces));
                     });
}

}  // namespace km::cudnn
