// Operations of graphs: normalizations, softmax, resampling, random numbers.
#include <algorithm>
#include <cmath>

#include "dropin/cudnn/engine/groups.h"
#include "dropin/cudnn/engine/layers/pooling.h"
#include "dropin/cudnn/engine/layers/softmax.h"
#include "dropin/cudnn/engine/random.h"
#include "dropin/cudnn/engine/reduction.h"
#include "dropin/cudnn/graph/operation.h"

namespace km::cudnn {
namespace {

/// The extents of a normalization's statistics: those of a tensor of them, or what the mode says.
Shape statistics_of(int64_t mode, const View& x, const View& given, const View& scale) {
  if (given.data != nullptr) return given;
  Shape found = x;
  for (int i = 0; i < x.rank; ++i) {
    const bool is_shared = mode == CUDNN_BATCH_NORM      ? i != 1
                           : mode == CUDNN_INSTANCE_NORM ? i > 1
                           : i == 0 || scale.data == nullptr || i >= scale.rank
                               ? i != 0
                               : scale.dims[i] != 1;
    if (is_shared) found.dims[i] = 1;
  }
  return found;
}

/// The tensor with its channels cut into groups, as a further dimension; scales and biases too.
View grouped(View view, int64_t groups) {
  if (view.data == nullptr || view.rank < 2) return view;
  for (int i = view.rank; i > 2; --i) {
    view.dims[i] = view.dims[i - 1];
    view.strides[i] = view.strides[i - 1];
  }
  const int64_t channels = view.dims[1];  // statistics have one for each group
  view.dims[2] = channels <= groups ? 1 : channels / groups;
  view.strides[2] = view.strides[1];
  view.dims[1] = std::min(channels, groups);
  view.strides[1] *= view.dims[2];
  ++view.rank;
  return view;
}

/// The number of groups, which only tensors of the statistics tell; 0 if there are none.
int64_t groups_of(const Descriptor& operation, cudnnBackendAttributeName_t mean,
                  cudnnBackendAttributeName_t inverse) {
  for (const cudnnBackendAttributeName_t name : {mean, inverse}) {
    const Descriptor* const tensor = operation.descriptor(name);
    TensorInfo info;
    if (tensor == nullptr || read_tensor(*tensor, &info) != CUDNN_STATUS_SUCCESS) continue;
    return info.shape.rank >= 2 ? info.shape.dims[1] : 0;
  }
  return 0;
}

/// Says why channels cannot be cut into the groups; null: they can.
const char* group_problem(const Descriptor& operation, cudnnBackendAttributeName_t x_name,
                          int64_t groups) {
  TensorInfo x;
  const Descriptor* const tensor = operation.descriptor(x_name);
  if (tensor == nullptr || read_tensor(*tensor, &x) != CUDNN_STATUS_SUCCESS) {
    return "group normalization of such tensors";
  }
  if (groups == 0) {
    return "group normalization without a tensor of the statistics, which alone tells the groups";
  }
  if (x.shape.rank < 2 || x.shape.rank >= kMostDims || x.shape.dims[1] % groups != 0) {
    return "group normalization of channels that are no multiple of the groups";
  }
  return nullptr;
}

PoolingSettings pooling_settings(const Descriptor& resample, int rank) {
  PoolingSettings found;
  switch (resample.integer(CUDNN_ATTR_RESAMPLE_MODE)) {
    case CUDNN_RESAMPLE_NEAREST:
      found.kind = PoolingKind::kNearest;
      break;
    case CUDNN_RESAMPLE_BILINEAR:
      found.kind = PoolingKind::kBilinear;
      break;
    case CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING:
      found.kind = PoolingKind::kAverageWithPadding;
      break;
    case CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING:
      found.kind = PoolingKind::kAverage;
      break;
    default:
      found.kind = PoolingKind::kMax;
  }
  found.spatial =
      std::clamp(static_cast<int>(resample.integer(CUDNN_ATTR_RESAMPLE_SPATIAL_DIMS, rank - 2)), 1,
                 kMostDims - 2);
  const auto window = resample.integers(CUDNN_ATTR_RESAMPLE_WINDOW_DIMS);
  const auto steps = resample.numbers(CUDNN_ATTR_RESAMPLE_STRIDES);
  const auto pads = resample.numbers(CUDNN_ATTR_RESAMPLE_PRE_PADDINGS);
  for (size_t i = 0; i < static_cast<size_t>(found.spatial); ++i) {
    found.window[i] = i < window.size() ? window[i] : 1;
    found.exact_steps[i] = i < steps.size() ? steps[i] : 1;
    found.exact_pads[i] = i < pads.size() ? pads[i] : 0;
    found.steps[i] = std::max<int64_t>(static_cast<int64_t>(found.exact_steps[i]), 1);
    found.pads[i] = static_cast<int64_t>(found.exact_pads[i]);
  }
  found.pads_are_values =
      found.kind == PoolingKind::kMax &&
      resample.integer(CUDNN_ATTR_RESAMPLE_PADDING_MODE, CUDNN_NEG_INF_PAD) == CUDNN_ZERO_PAD;
  return found;
}

int64_t group_count(const Descriptor& operation) {
  const bool is_forward = operation.type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR;
  return is_forward ? groups_of(operation, CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC,
                                CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC)
                    : groups_of(operation, CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC,
                                CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC);
}

/// Runs `body(at)` for each position of `shape`, in one piece.
template <class Body>
cudnnStatus_t each_channel(const Execution& execution, const char* name, const Arrays& arrays,
                           const Shape& shape, Body body) {
  return submit_step(execution.stream, name, arrays, 1, static_cast<double>(shape.count()) * 20,
                     [=](uint64_t, uint64_t) {
                       for (int64_t i = 0; i < shape.count(); ++i) {
                         int64_t rest = i;
                         Extents at{};
                         for (int d = shape.rank - 1; d >= 0; --d) {
                           at[static_cast<size_t>(d)] = rest % shape.dims[d];
                           rest /= shape.dims[d];
                         }
                         body(at);
                       }
                     });
}
double value_at(const View& view, const Extents& at, double otherwise) {
  return view.data == nullptr ? otherwise : read_one(view, offset_at(view, at));
}
void put_at(const View& view, const Extents& at, double value) {
  if (view.data != nullptr) write_one(view, offset_at(view, at), value);
}

}  // namespace

const char* norm_problem(const Descriptor& operation) {
  const bool is_forward = operation.type == CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR;
  if (operation.has(is_forward ? CUDNN_ATTR_OPERATION_NORM_FWD_PEER_STAT_DESCS
                               : CUDNN_ATTR_OPERATION_NORM_BWD_PEER_STAT_DESCS)) {
    return "normalization over several devices";
  }
  const int64_t mode = operation.integer(is_forward ? CUDNN_ATTR_OPERATION_NORM_FWD_MODE
                                                    : CUDNN_ATTR_OPERATION_NORM_BWD_MODE);
  if (mode != CUDNN_GROUP_NORM) return nullptr;
  const int64_t groups = group_count(operation);
  return group_problem(
      operation,
      is_forward ? CUDNN_ATTR_OPERATION_NORM_FWD_XDESC : CUDNN_ATTR_OPERATION_NORM_BWD_XDESC,
      groups);
}

cudnnStatus_t run_norm(const Execution& execution, const Descriptor& operation) {
  NormForward norm;
  const auto read = [&](cudnnBackendAttributeName_t name, View* out) {
    return execution.view(operation, name, out);
  };
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_XDESC, &norm.x));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_YDESC, &norm.y));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_SCALE_DESC, &norm.scale));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_BIAS_DESC, &norm.bias));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_MEAN_DESC, &norm.mean));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_INV_VARIANCE_DESC, &norm.inverse));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_MEAN_DESC, &norm.old_mean));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_INPUT_RUNNING_VAR_DESC, &norm.old_variance));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_MEAN_DESC, &norm.new_mean));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_FWD_OUTPUT_RUNNING_VAR_DESC, &norm.new_variance));
  LIB_TRY(
      execution.scalar(operation, CUDNN_ATTR_OPERATION_NORM_FWD_EPSILON_DESC, &norm.epsilon, 1e-5));
  LIB_TRY(execution.scalar(operation, CUDNN_ATTR_OPERATION_NORM_FWD_EXP_AVG_FACTOR_DESC,
                           &norm.factor, 1));
  const int64_t mode = operation.integer(CUDNN_ATTR_OPERATION_NORM_FWD_MODE);
  if (mode == CUDNN_GROUP_NORM) {
    const int64_t groups = group_count(operation);
    for (View* const each :
         {&norm.x, &norm.y, &norm.scale, &norm.bias, &norm.mean, &norm.inverse}) {
      *each = grouped(*each, groups);
    }
  }
  norm.is_rms = mode == CUDNN_RMS_NORM;
  norm.is_inference = operation.integer(CUDNN_ATTR_OPERATION_NORM_FWD_PHASE,
                                        CUDNN_NORM_FWD_TRAINING) == CUDNN_NORM_FWD_INFERENCE;
  norm.stats =
      statistics_of(mode, norm.x, norm.mean.data != nullptr ? norm.mean : norm.inverse, norm.scale);
  return normalize(execution.stream, std::move(norm));
}

cudnnStatus_t run_norm_backward(const Execution& execution, const Descriptor& operation) {
  NormBackward norm;
  const auto read = [&](cudnnBackendAttributeName_t name, View* out) {
    return execution.view(operation, name, out);
  };
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_BWD_XDESC, &norm.x));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_BWD_DYDESC, &norm.dy));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_BWD_DXDESC, &norm.dx));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_BWD_SCALE_DESC, &norm.scale));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_BWD_MEAN_DESC, &norm.mean));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_BWD_INV_VARIANCE_DESC, &norm.inverse));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_BWD_DSCALE_DESC, &norm.dscale));
  LIB_TRY(read(CUDNN_ATTR_OPERATION_NORM_BWD_DBIAS_DESC, &norm.dbias));
  LIB_TRY(
      execution.scalar(operation, CUDNN_ATTR_OPERATION_NORM_BWD_EPSILON_DESC, &norm.epsilon, 1e-5));
  const int64_t mode = operation.integer(CUDNN_ATTR_OPERATION_NORM_BWD_MODE);
  if (mode == CUDNN_GROUP_NORM) {
    const int64_t groups = group_count(operation);
    for (View* const each : {&norm.x, &norm.dy, &norm.dx, &norm.scale, &norm.mean, &norm.inverse,
                             &norm.dscale, &norm.dbias}) {
      *each = grouped(*each, groups);
    }
  }
  norm.is_rms = mode == CUDNN_RMS_NORM;
  norm.stats =
      statistics_of(mode, norm.x, norm.mean.data != nullptr ? norm.mean : norm.inverse, norm.scale);
  return normalize_backward(execution.stream, std::move(norm));
}

cudnnStatus_t run_bn_finalize(const Execution& execution, const Descriptor& operation) {
  View sum, squares, scale, bias, old_mean, old_variance, new_mean, new_variance, mean, deviation;
  View eq_scale, eq_bias;
  const std::pair<cudnnBackendAttributeName_t, View*> tensors[] = {
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SUM_DESC, &sum},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_Y_SQ_SUM_DESC, &squares},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_SCALE_DESC, &scale},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_BIAS_DESC, &bias},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_MEAN_DESC, &old_mean},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_PREV_RUNNING_VAR_DESC, &old_variance},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_MEAN_DESC, &new_mean},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_UPDATED_RUNNING_VAR_DESC, &new_variance},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_MEAN_DESC, &mean},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_SAVED_INV_STD_DESC, &deviation},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_SCALE_DESC, &eq_scale},
      {CUDNN_ATTR_OPERATION_BN_FINALIZE_EQ_BIAS_DESC, &eq_bias}};
  Arrays arrays;
  for (const auto& [name, view] : tensors) {
    LIB_TRY(execution.view(operation, name, view));
    arrays.writes("a tensor of the statistics", *view);
  }
  Scalar epsilon, factor, count;
  LIB_TRY(
      execution.scalar(operation, CUDNN_ATTR_OPERATION_BN_FINALIZE_EPSILON_DESC, &epsilon, 1e-5));
  LIB_TRY(execution.scalar(operation, CUDNN_ATTR_OPERATION_BN_FINALIZE_EXP_AVERATE_FACTOR_DESC,
                           &factor, 1));
  LIB_TRY(
      execution.scalar(operation, CUDNN_ATTR_OPERATION_BN_FINALIZE_ACCUM_COUNT_DESC, &count, 1));
  const bool is_training = operation.integer(CUDNN_ATTR_OPERATION_BN_FINALIZE_STATS_MODE) ==
                           CUDNN_BN_FINALIZE_STATISTICS_TRAINING;
  const Shape shape = is_training ? static_cast<const Shape&>(sum) : old_mean;
  return each_channel(execution, "cudnn bn finalize", arrays, shape, [=](const Extents& at) {
    const double size = count.get();
    double center = value_at(old_mean, at, 0), spread = value_at(old_variance, at, 1);
    if (is_training) {
      center = value_at(sum, at, 0) / size;
      spread = value_at(squares, at, 0) / size - center * center;
      const double weight = factor.get();
      const double unbiased = size > 1 ? spread * size / (size - 1) : spread;
      put_at(new_mean, at, (1 - weight) * value_at(old_mean, at, 0) + weight * center);
      put_at(new_variance, at, (1 - weight) * value_at(old_variance, at, 0) + weight * unbiased);
    }
    const double inverse = 1 / std::sqrt(spread + epsilon.get());
    put_at(mean, at, center);
    put_at(deviation, at, inverse);
    put_at(eq_scale, at, value_at(scale, at, 1) * inverse);
    put_at(eq_bias, at, value_at(bias, at, 0) - center * value_at(scale, at, 1) * inverse);
  });
}

cudnnStatus_t run_bn_weights(const Execution& execution, const Descriptor& operation) {
  View mean, deviation, scale, x, dy, dscale, dbias, eq_dy, eq_x, eq_bias;
  const std::pair<cudnnBackendAttributeName_t, View*> tensors[] = {
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_MEAN_DESC, &mean},
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_INVSTD_DESC, &deviation},
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_BN_SCALE_DESC, &scale},
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_X_DESC, &x},
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DY_DESC, &dy},
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_SCALE_DESC, &dscale},
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_DBN_BIAS_DESC, &dbias},
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_DY_SCALE_DESC, &eq_dy},
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_X_SCALE_DESC, &eq_x},
      {CUDNN_ATTR_OPERATION_BN_BWD_WEIGHTS_EQ_BIAS, &eq_bias}};
  Arrays arrays;
  for (const auto& [name, view] : tensors) {
    LIB_TRY(execution.view(operation, name, view));
    arrays.writes("a tensor of the gradients", *view);
  }
  Groups<2> groups;
  if (!groups.init(x, mean, {&x, &dy})) return invalid("the extents of x, dy and the mean differ");
  return each_channel(execution, "cudnn bn weights", arrays, mean, [=](const Extents& at) {
    const double center = value_at(mean, at, 0), inverse = value_at(deviation, at, 1);
    double xs[kRow], dys[kRow], sum = 0, product = 0;
    groups.rows([&](int64_t count, const std::array<int64_t, 2>& offset) {
      read_row(x, offset_at(x, at) + offset[0], groups.step(0), count, xs);
      read_row(dy, offset_at(dy, at) + offset[1], groups.step(1), count, dys);
      for (int64_t i = 0; i < count; ++i) {
        sum += dys[i];
        product += dys[i] * (xs[i] - center) * inverse;
      }
    });
    const auto size = static_cast<double>(groups.size());
    const double factor = value_at(scale, at, 1) * inverse;
    put_at(dscale, at, product);
    put_at(dbias, at, sum);
    put_at(eq_dy, at, factor);
    put_at(eq_x, at, -factor * inverse * product / size);
    put_at(eq_bias, at, factor * (center * inverse * product - sum) / size);
  });
}

cudnnStatus_t run_resample(const Execution& execution, const Descriptor& operation) {
  View x, y, index;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_YDESC, &y));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RESAMPLE_FWD_IDXDESC, &index));
  PoolingSettings settings =
      pooling_settings(*operation.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_DESC), x.rank);
  settings.alpha = operation.number(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_ALPHA, 1);
  settings.beta = operation.number(CUDNN_ATTR_OPERATION_RESAMPLE_FWD_BETA, 0);
  return pool(execution.stream, settings, x, y, index);
}

cudnnStatus_t run_resample_backward(const Execution& execution, const Descriptor& operation) {
  View x, dx, dy, index;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DXDESC, &dx));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DYDESC, &dy));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RESAMPLE_BWD_IDXDESC, &index));
  PoolingSettings settings =
      pooling_settings(*operation.descriptor(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_DESC), dx.rank);
  settings.alpha = operation.number(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_ALPHA, 1);
  settings.beta = operation.number(CUDNN_ATTR_OPERATION_RESAMPLE_BWD_BETA, 0);
  return pool_backward(execution.stream, settings, x, dy, dx, index);
}

cudnnStatus_t run_rng(const Execution& execution, const Descriptor& operation) {
  const Descriptor* const settings = operation.descriptor(CUDNN_ATTR_OPERATION_RNG_DESC);
  RandomSettings random;
  random.distribution = static_cast<cudnnRngDistribution_t>(
      settings->integer(CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_RNG_DISTRIBUTION_BERNOULLI));
  random.probability = settings->number(CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, 0.5);
  random.mean = settings->number(CUDNN_ATTR_RNG_NORMAL_DIST_MEAN, 0);
  random.deviation = settings->number(CUDNN_ATTR_RNG_NORMAL_DIST_STANDARD_DEVIATION, 1);
  random.least = settings->number(CUDNN_ATTR_RNG_UNIFORM_DIST_MINIMUM, 0);
  random.most = settings->number(CUDNN_ATTR_RNG_UNIFORM_DIST_MAXIMUM, 1);
  View y, seed, offset;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RNG_YDESC, &y));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RNG_SEED, &seed));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, &offset));
  const int64_t value =
      seed.data == nullptr ? operation.integer(CUDNN_ATTR_OPERATION_RNG_SEED, 0) : 0;
  return fill_random(execution.stream, random, value, seed, offset, y);
}

const char* softmax_problem(const Descriptor& operation) {
  const bool has_all = operation.descriptor(CUDNN_ATTR_OPERATION_SOFTMAX_XDESC) != nullptr &&
                       operation.descriptor(CUDNN_ATTR_OPERATION_SOFTMAX_YDESC) != nullptr;
  return has_all ? nullptr : "a softmax without x or y";
}

cudnnStatus_t run_softmax(const Execution& execution, const Descriptor& operation) {
  View x, y;
  SoftmaxExtras extras;
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SOFTMAX_XDESC, &x));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SOFTMAX_YDESC, &y));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SOFTMAX_STATS_DESC, &extras.stats));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SOFTMAX_MAX_DESC, &extras.maximum));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SOFTMAX_SUM_EXP_DESC, &extras.sum));
  LIB_TRY(execution.view(operation, CUDNN_ATTR_OPERATION_SOFTMAX_SINK_DESC, &extras.sink));
  Shape groups = x;
  groups.dims[x.rank - 1] = 1;
  return softmax(execution.stream, false, 1, x, 0, y, groups, extras);
}

}  // namespace km::cudnn
