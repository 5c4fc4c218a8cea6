#include "dropin/cudnn/engine/layers/normalization.h"

#include <cmath>

#include "dropin/cudnn/engine/groups.h"

namespace km::cudnn {
namespace {

struct Statistics {
  double mean = 0, variance = 0;
};

/// The mean and the biased variance of a group's elements, which lie at `base` and beyond.
template <size_t N>
Statistics measure(const Groups<N>& groups, size_t tensor, const View& x, int64_t base,
                   bool is_rms) {
  double row[kRow];
  const auto sum = [&](double mean, bool is_square) {
    double total = 0;
    groups.rows([&](int64_t count, const std::array<int64_t, N>& at) {
      read_row(x, base + at[tensor], groups.step(tensor), count, row);
      for (int64_t i = 0; i < count; ++i) {
        const double value = row[i] - mean;
        total += is_square ? value * value : value;
      }
    });
    return total / static_cast<double>(groups.size());
  };
  Statistics found;
  if (!is_rms) found.mean = sum(0, false);
  found.variance = sum(found.mean, true);
  return found;
}

void activate(bool has_activation, const PointwiseSettings& activation, int64_t count,
              double* values) {
  if (!has_activation) return;
  double out[kRow];
  apply_pointwise<double>(activation, count, values, nullptr, nullptr, out);
  std::copy(out, out + count, values);
}

/// A dummy for an absent tensor: one element that nothing reads.
Shape absent(int rank) {
  Shape shape;
  shape.rank = rank;
  for (int i = 0; i < rank; ++i) shape.dims[i] = 1;
  return shape;
}
void widen(View* view, int rank) {
  static_cast<Shape&>(*view) = view->data == nullptr ? absent(rank) : with_rank(*view, rank);
}

struct Forward : NormForward {
  Groups<5> groups;  // x, y, scale, bias, z

  double deviation_of(const Extents& at, Statistics* stats, int64_t base) const {
    const bool is_given = is_inference && (mean.data != nullptr || inverse.data != nullptr);
    if (!is_given) {
      *stats = measure(groups, 0, x, base, is_rms);
      return 1 / std::sqrt(stats->variance + epsilon.get());
    }
    if (mean.data != nullptr) stats->mean = read_one(mean, offset_at(mean, at));
    const double found = read_one(inverse, offset_at(inverse, at));
    return has_variance ? 1 / std::sqrt(found + epsilon.get()) : found;
  }
  void keep(const Extents& at, const Statistics& stats, double deviation) const {
    if (is_inference) return;
    if (mean.data != nullptr) write_one(mean, offset_at(mean, at), stats.mean);
    if (inverse.data != nullptr) write_one(inverse, offset_at(inverse, at), deviation);
    const auto size = static_cast<double>(groups.size());
    const double unbiased = groups.size() > 1 ? stats.variance * size / (size - 1) : stats.variance;
    update(at, old_mean, new_mean, stats.mean);
    update(at, old_variance, new_variance, unbiased);
  }
  void update(const Extents& at, const View& from, const View& to, double value) const {
    if (to.data == nullptr) return;
    const double weight = factor.get();
    const double old =
        weight == 1 || from.data == nullptr ? 0 : read_one(from, offset_at(from, at));
    write_one(to, offset_at(to, at), (1 - weight) * old + weight * value);
  }
  void run(const Part& part) const {
    double xs[kRow], others[kRow];
    for (int64_t g = part.begin; g < part.end; ++g) {
      const Extents at = groups.position(g);
      const int64_t base = offset_at(x, at);
      Statistics stats;
      const double deviation = deviation_of(at, &stats, base);
      keep(at, stats, deviation);
      const int64_t to = offset_at(y, at), scale_at = offset_at(scale, at);
      const int64_t bias_at = offset_at(bias, at), z_at = offset_at(z, at);
      groups.rows([&](int64_t count, const std::array<int64_t, 5>& offset) {
        read_row(x, base + offset[0], groups.step(0), count, xs);
        for (int64_t i = 0; i < count; ++i) xs[i] = (xs[i] - stats.mean) * deviation;
        if (scale.data != nullptr) {
          read_row(scale, scale_at + offset[2], groups.step(2), count, others);
          for (int64_t i = 0; i < count; ++i) xs[i] *= others[i];
        }
        add(bias, bias_at + offset[3], groups.step(3), count, others, xs);
        add(z, z_at + offset[4], groups.step(4), count, others, xs);
        activate(has_activation, activation, count, xs);
        finish(to + offset[1], count, others, xs);
      });
    }
  }

 private:
  static void add(const View& view, int64_t at, int64_t step, int64_t count, double* room,
                  double* to) {
    if (view.data == nullptr) return;
    read_row(view, at, step, count, room);
    for (int64_t i = 0; i < count; ++i) to[i] += room[i];
  }
  void finish(int64_t to, int64_t count, double* room, double* values) const {
    if (alpha != 1) std::for_each(values, values + count, [&](double& each) { each *= alpha; });
    if (beta != 0) {
      read_row(y, to, groups.step(1), count, room);
      for (int64_t i = 0; i < count; ++i) values[i] += beta * room[i];
    }
    write_row(y, to, groups.step(1), count, values);
  }
};

/// The common part of both backward steps: dy behind the activation, and normalized inputs.
struct Backward : NormBackward {
  /// Reads rows of dy (behind the activation) and x.
  void read(int64_t count, int64_t dy_at, int64_t dy_step, int64_t y_at, int64_t y_step,
            int64_t x_at, int64_t x_step, double* dys, double* xs) const {
    read_row(dy, dy_at, dy_step, count, dys);
    if (has_activation) {
      double ys[kRow], out[kRow];
      read_row(y, y_at, y_step, count, ys);
      apply_pointwise<double>(activation, count, dys, ys, nullptr, out);
      std::copy(out, out + count, dys);
    }
    read_row(x, x_at, x_step, count, xs);
  }
  template <size_t N>
  double deviation_of(const Groups<N>& groups, size_t tensor, const Extents& at, int64_t base,
                      double* center) const {
    if (inverse.data != nullptr) {
      *center = is_rms || mean.data == nullptr ? 0 : read_one(mean, offset_at(mean, at));
      return read_one(inverse, offset_at(inverse, at));
    }
    const Statistics stats = measure(groups, tensor, x, base, is_rms);
    *center = stats.mean;
    return 1 / std::sqrt(stats.variance + epsilon.get());
  }
};

/// dx, by groups that share statistics.
struct DataGradient : Backward {
  Groups<6> groups;  // x, y, dy, dx, dz, scale

  template <class Row>
  void each_row(const Extents& at, double center, double deviation, Row&& row) const {
    double dys[kRow], xs[kRow], scales[kRow];
    const int64_t x_at = offset_at(x, at), y_at = offset_at(y, at), dy_at = offset_at(dy, at);
    const int64_t scale_at = offset_at(scale, at);
    groups.rows([&](int64_t count, const std::array<int64_t, 6>& offset) {
      read(count, dy_at + offset[2], groups.step(2), y_at + offset[1], groups.step(1),
           x_at + offset[0], groups.step(0), dys, xs);
      for (int64_t i = 0; i < count; ++i) xs[i] = (xs[i] - center) * deviation;
      std::fill(scales, scales + count, 1.0);
      if (scale.data != nullptr)
        read_row(scale, scale_at + offset[5], groups.step(5), count, scales);
      row(count, offset, dys, xs, scales);
    });
  }
  void run(const Part& part) const {
    for (int64_t g = part.begin; g < part.end; ++g) {
      const Extents at = groups.position(g);
      double center = 0;
      const double deviation = deviation_of(groups, 0, at, offset_at(x, at), &center);
      double sum = 0, product = 0;
      each_row(at, center, deviation,
               [&](int64_t count, const auto&, const double* dys, const double* xs,
                   const double* scales) {
                 for (int64_t i = 0; i < count; ++i) {
                   sum += dys[i] * scales[i];
                   product += dys[i] * scales[i] * xs[i];
                 }
               });
      const auto size = static_cast<double>(groups.size());
      write(at, center, deviation, is_rms ? 0 : sum / size, product / size);
    }
  }

 private:
  void write(const Extents& at, double center, double deviation, double sum, double product) const {
    double out[kRow];
    const int64_t dx_at = offset_at(dx, at), dz_at = offset_at(dz, at);
    each_row(at, center, deviation,
             [&](int64_t count, const std::array<int64_t, 6>& offset, const double* dys,
                 const double* xs, const double* scales) {
               if (dz.data != nullptr) {
                 write_row(dz, dz_at + offset[4], groups.step(4), count, dys);
               }
               double old[kRow] = {};
               if (beta_data != 0) {
                 read_row(dx, dx_at + offset[3], groups.step(3), count, old);
               }
               for (int64_t i = 0; i < count; ++i) {
                 out[i] = alpha_data * deviation * (dys[i] * scales[i] - sum - xs[i] * product);
                 if (beta_data != 0) out[i] += beta_data * old[i];
               }
               write_row(dx, dx_at + offset[3], groups.step(3), count, out);
             });
  }
};

/// The gradients of scale and bias, by groups that share those.
struct ParameterGradient : Backward {
  Groups<3> groups;                       // x, y, dy
  Groups<2> statistics;                   // mean, inverse
  bool has_groups_of_statistics = false;  // each group has statistics of its own

  void run(const Part& part) const {
    double dys[kRow], xs[kRow], means[kRow], deviations[kRow];
    for (int64_t g = part.begin; g < part.end; ++g) {
      const Extents at = groups.position(g);
      const int64_t x_at = offset_at(x, at), y_at = offset_at(y, at), dy_at = offset_at(dy, at);
      double center = 0, deviation = 1;
      if (has_groups_of_statistics) deviation = deviation_of(groups, 0, at, x_at, &center);
      double product = 0, sum = 0;
      int64_t position = 0;
      groups.rows([&](int64_t count, const std::array<int64_t, 3>& offset) {
        read(count, dy_at + offset[2], groups.step(2), y_at + offset[1], groups.step(1),
             x_at + offset[0], groups.step(0), dys, xs);
        if (has_groups_of_statistics) {
          std::fill(means, means + count, center);
          std::fill(deviations, deviations + count, deviation);
        } else {
          read_statistics(at, position, count, means, deviations);
        }
        position += count;
        for (int64_t i = 0; i < count; ++i) {
          sum += dys[i];
          product += dys[i] * (xs[i] - means[i]) * deviations[i];
        }
      });
      write(dscale, at, product);
      write(dbias, at, sum);
    }
  }

 private:
  /// The statistics of elements `position` and on of a group, in the order of x's memory.
  void read_statistics(const Extents& group, int64_t position, int64_t count, double* means,
                       double* deviations) const {
    for (int64_t i = 0; i < count; ++i) {
      const Extents at = element(group, position + i);
      means[i] = is_rms || mean.data == nullptr ? 0 : read_one(mean, offset_at(mean, at));
      deviations[i] = read_one(inverse, offset_at(inverse, at));
    }
  }
  /// The coordinates of an element of a group: dimensions by x's strides, as rows() takes them.
  Extents element(Extents at, int64_t index) const {
    for (int k = 0; k < order_count; ++k) {
      at[order[k]] = index % x.dims[order[k]];
      index /= x.dims[order[k]];
    }
    return at;
  }
  void write(const View& to, const Extents& at, double value) const {
    if (to.data == nullptr) return;
    const int64_t offset = offset_at(to, at);
    double result = alpha_parameters * value;
    if (beta_parameters != 0) result += beta_parameters * read_one(to, offset);
    write_one(to, offset, result);
  }

 public:
  int order[kMostDims] = {};
  int order_count = 0;
  /// Orders the dimensions within a group by x's strides, the smallest first.
  void find_order(const Shape& shared) {
    for (int i = x.rank - 1; i >= 0; --i) {
      if (shared.dims[i] == 1 && x.dims[i] != 1) order[order_count++] = i;
    }
    for (int i = 1; i < order_count; ++i) {
      for (int j = i; j > 0 && x.strides[order[j]] < x.strides[order[j - 1]]; --j) {
        std::swap(order[j], order[j - 1]);
      }
    }
  }
};

cudnnStatus_t mismatch() {
  return invalid("the extents of a normalization's tensors do not match");
}

cudnnStatus_t submit_data_gradient(cu::CUstream stream, const NormBackward& norm,
                                   const Arrays& arrays) {
  DataGradient work;
  static_cast<NormBackward&>(work) = norm;
  const Shape& x = work.x;
  const Shape none = absent(x.rank);
  const auto or_none = [&](const View& view) -> const Shape* {
    return view.data == nullptr ? &none : static_cast<const Shape*>(&view);
  };
  if (!work.groups.init(
          x, work.stats,
          {&x, or_none(work.y), &work.dy, &work.dx, or_none(work.dz), or_none(work.scale)})) {
    return mismatch();
  }
  const int64_t count = work.groups.count();
  return submit_step(stream, "cudnn normalization backward", arrays, count,
                     static_cast<double>(work.groups.size()) * 4,
                     [work = std::move(work), count](uint64_t piece, uint64_t pieces) {
                       work.run(Part(count, piece, pieces));
                     });
}

cudnnStatus_t submit_parameter_gradient(cu::CUstream stream, const NormBackward& norm,
                                        const Arrays& arrays) {
  if (norm.dscale.data == nullptr && norm.dbias.data == nullptr) return CUDNN_STATUS_SUCCESS;
  ParameterGradient work;
  static_cast<NormBackward&>(work) = norm;
  const Shape& x = work.x;
  const Shape shared = work.dscale.data != nullptr ? work.dscale : work.dbias;
  const Shape none = absent(x.rank);
  const Shape& y = work.y.data == nullptr ? none : static_cast<const Shape&>(work.y);
  if (!work.groups.init(x, shared, {&x, &y, &work.dy})) return mismatch();
  work.has_groups_of_statistics = shared.has_dims(work.stats);
  if (!work.has_groups_of_statistics && work.inverse.data == nullptr) {
    return unsupported("the gradient of a scale without saved statistics");
  }
  work.find_order(shared);
  const int64_t count = work.groups.count();
  return submit_step(stream, "cudnn normalization backward", arrays, count,
                     static_cast<double>(work.groups.size()) * 2,
                     [work = std::move(work), count](uint64_t piece, uint64_t pieces) {
                       work.run(Part(count, piece, pieces));
                     });
}

}  // namespace

cudnnStatus_t normalize(cu::CUstream stream, NormForward norm) {
  Forward work;
  static_cast<NormForward&>(work) = std::move(norm);
  const int rank = work.x.rank;
  for (View* each : {&work.y, &work.scale, &work.bias, &work.z, &work.mean, &work.inverse,
                     &work.old_mean, &work.old_variance, &work.new_mean, &work.new_variance}) {
    widen(each, rank);
  }
  work.stats = with_rank(work.stats, rank);
  if (!work.groups.init(work.x, work.stats, {&work.x, &work.y, &work.scale, &work.bias, &work.z})) {
    return mismatch();
  }
  if (work.is_inference && work.inverse.data == nullptr && work.mean.data != nullptr) {
    return invalid("a mean without a deviation");
  }
  const bool writes = !work.is_inference;
  Arrays arrays;
  for (const View* each : {&work.x, &work.scale, &work.bias, &work.z, &work.old_mean,
                           &work.old_variance, &work.epsilon.view, &work.factor.view}) {
    arrays.reads("an operand of a normalization", *each);
  }
  for (const View* each : {&work.mean, &work.inverse}) {
    writes ? arrays.writes("statistics", *each) : arrays.reads("statistics", *each);
  }
  arrays.writes("y", work.y).writes("running mean", work.new_mean);
  arrays.writes("running variance", work.new_variance);
  const int64_t count = work.groups.count();
  return submit_step(stream, "cudnn normalization", arrays, count,
                     static_cast<double>(work.groups.size()) * 3,
                     [work = std::move(work), count](uint64_t piece, uint64_t pieces) {
                       work.run(Part(count, piece, pieces));
                     });
}

cudnnStatus_t normalize_backward(cu::CUstream stream, NormBackward norm) {
  const int rank = norm.x.rank;
  for (View* each : {&norm.y, &norm.dy, &norm.dx, &norm.dz, &norm.scale, &norm.bias, &norm.mean,
                     &norm.inverse, &norm.dscale, &norm.dbias}) {
    widen(each, rank);
  }
  norm.stats = with_rank(norm.stats, rank);
  if (norm.has_activation && norm.y.data == nullptr) {
    return invalid("the output of the activation is missing");
  }
  Arrays arrays;
  for (const View* each :
       {&norm.x, &norm.y, &norm.dy, &norm.scale, &norm.mean, &norm.inverse, &norm.epsilon.view}) {
    arrays.reads("an operand of a normalization", *each);
  }
  arrays.writes("dx", norm.dx).writes("dz", norm.dz).writes("dscale", norm.dscale);
  arrays.writes("dbias", norm.dbias);
  // The parameters' gradients come first, because dx may take the place of dy.
  LIB_TRY(submit_parameter_gradient(stream, norm, arrays));
  return submit_data_gradient(stream, norm, arrays);
}

}  // namespace km::cudnn
