#include "dropin/cudnn/engine/pointwise.h"

#include <cmath>
#include <memory>

#include "dropin/cudnn/engine/space.h"

namespace km::cudnn {
namespace {

constexpr double kInverseSqrt2 = 0.70710678118654752440;
constexpr double kInverseSqrt2Pi = 0.39894228040143267794;
constexpr double kSqrt2OverPi = 0.79788456080286535588;
constexpr double kTanhCubic = 0.044715;

template <class T>
T sigmoid(T x) {
  return T{1} / (T{1} + std::exp(-x));
}
template <class T>
T gelu_tanh(T x) {
  return std::tanh(static_cast<T>(kSqrt2OverPi) * (x + static_cast<T>(kTanhCubic) * x * x * x));
}
template <class T>
T softplus(T x, T beta) {
  return x * beta > T{20} ? x : std::log1p(std::exp(beta * x)) / beta;
}

template <class T, class Function>
void each(int64_t count, const T* x, T* y, Function&& function) {
  for (int64_t i = 0; i < count; ++i) y[i] = function(x[i]);
}
template <class T, class Function>
void each_pair(int64_t count, const T* x, const T* b, T* y, Function&& function) {
  for (int64_t i = 0; i < count; ++i) y[i] = function(x[i], b[i]);
}

/// max() and min() that give NaN if an operand is NaN.
template <class T>
T larger(T a, T b) {
  return a > b || a != a ? a : b;
}
template <class T>
T smaller(T a, T b) {
  return a < b || a != a ? a : b;
}

template <class T>
struct Binary {
  int64_t count;
  const T *x, *b;
  T* y;
  template <class Function>
  bool operator()(Function&& function) const {
    each_pair(count, x, b, y, function);
    return true;
  }
};

template <class T>
bool apply_arithmetic(cudnnPointwiseMode_t mode, const Binary<T>& with) {
  switch (mode) {
    case CUDNN_POINTWISE_ADD:
      return with([](T x, T b) { return x + b; });
    case CUDNN_POINTWISE_SUB:
      return with([](T x, T b) { return x - b; });
    case CUDNN_POINTWISE_MUL:
      return with([](T x, T b) { return x * b; });
    case CUDNN_POINTWISE_DIV:
      return with([](T x, T b) { return x / b; });
    case CUDNN_POINTWISE_ADD_SQUARE:
      return with([](T x, T b) { return x + b * b; });
    case CUDNN_POINTWISE_MAX:
      return with([](T x, T b) { return larger(x, b); });
    case CUDNN_POINTWISE_MIN:
      return with([](T x, T b) { return smaller(x, b); });
    case CUDNN_POINTWISE_MOD:
      return with([](T x, T b) { return std::fmod(x, b); });
    case CUDNN_POINTWISE_FLOOR_MOD:
      return with([](T x, T b) { return x - std::floor(x / b) * b; });
    case CUDNN_POINTWISE_POW:
      return with([](T x, T b) { return std::pow(x, b); });
    case CUDNN_POINTWISE_ATAN2:
      return with([](T x, T b) { return std::atan2(x, b); });
    default:
      return false;
  }
}

template <class T>
bool apply_logic(cudnnPointwiseMode_t mode, const Binary<T>& with) {
  switch (mode) {
    case CUDNN_POINTWISE_CMP_EQ:
      return with([](T x, T b) { return static_cast<T>(x == b); });
    case CUDNN_POINTWISE_CMP_NEQ:
      return with([](T x, T b) { return static_cast<T>(x != b); });
    case CUDNN_POINTWISE_CMP_GT:
      return with([](T x, T b) { return static_cast<T>(x > b); });
    case CUDNN_POINTWISE_CMP_GE:
      return with([](T x, T b) { return static_cast<T>(x >= b); });
    case CUDNN_POINTWISE_CMP_LT:
      return with([](T x, T b) { return static_cast<T>(x < b); });
    case CUDNN_POINTWISE_CMP_LE:
      return with([](T x, T b) { return static_cast<T>(x <= b); });
    case CUDNN_POINTWISE_LOGICAL_AND:
      return with([](T x, T b) { return static_cast<T>(x != 0 && b != 0); });
    case CUDNN_POINTWISE_LOGICAL_OR:
      return with([](T x, T b) { return static_cast<T>(x != 0 || b != 0); });
    default:
      return false;
  }
}

/// Backward modes: x is dy, b what the forward operation read (TANH, SIGMOID: what it wrote).
template <class T>
bool apply_backward(const PointwiseSettings& s, const Binary<T>& with) {
  const auto low = static_cast<T>(s.lower_clip), high = static_cast<T>(s.upper_clip);
  const auto slope = static_cast<T>(s.lower_slope), alpha = static_cast<T>(s.elu_alpha);
  const auto plus = static_cast<T>(s.softplus_beta), swish = static_cast<T>(s.swish_beta);
  if (s.mode == kTanhBackwardOfInput) {
    return with([](T dy, T x) { return dy * (T{1} - std::tanh(x) * std::tanh(x)); });
  }
  if (s.mode == kSigmoidBackwardOfInput) {
    return with([](T dy, T x) { return dy * sigmoid(x) * (T{1} - sigmoid(x)); });
  }
  switch (s.mode) {
    case CUDNN_POINTWISE_RELU_BWD:
      return with([=, clips = s.has_upper_clip](T dy, T x) {
        if (clips && x >= high) return T{0};
        return x > low ? dy : dy * slope;
      });
    case CUDNN_POINTWISE_TANH_BWD:
      return with([](T dy, T y) { return dy * (T{1} - y * y); });
    case CUDNN_POINTWISE_SIGMOID_BWD:
      return with([](T dy, T y) { return dy * y * (T{1} - y); });
    case CUDNN_POINTWISE_ELU_BWD:
      return with([=](T dy, T x) { return x > 0 ? dy : dy * alpha * std::exp(x); });
    case CUDNN_POINTWISE_GELU_BWD:
      return with([](T dy, T x) {
        const T cdf = T{0.5} * (T{1} + std::erf(x * static_cast<T>(kInverseSqrt2)));
        return dy * (cdf + x * static_cast<T>(kInverseSqrt2Pi) * std::exp(T{-0.5} * x * x));
      });
    case CUDNN_POINTWISE_GELU_APPROX_TANH_BWD:
      return with([](T dy, T x) {
        const T tanh = gelu_tanh(x);
        const T inner =
            static_cast<T>(kSqrt2OverPi) * (T{1} + T{3} * static_cast<T>(kTanhCubic) * x * x);
        return dy * T{0.5} * (T{1} + tanh + x * (T{1} - tanh * tanh) * inner);
      });
    case CUDNN_POINTWISE_SOFTPLUS_BWD:
      return with([=](T dy, T x) { return dy * sigmoid(plus * x); });
    case CUDNN_POINTWISE_SWISH_BWD:
      return with([=](T dy, T x) {
        const T gate = sigmoid(swish * x);
        return dy * (gate + swish * x * gate * (T{1} - gate));
      });
    default:
      return false;
  }
}

template <class T>
struct Unary {
  int64_t count;
  const T* x;
  T* y;
  template <class Function>
  bool operator()(Function&& function) const {
    each(count, x, y, function);
    return true;
  }
};

template <class T>
bool apply_forward(const PointwiseSettings& s, const Unary<T>& with) {
  const auto low = static_cast<T>(s.lower_clip), high = static_cast<T>(s.upper_clip);
  const auto slope = static_cast<T>(s.lower_slope), alpha = static_cast<T>(s.elu_alpha);
  const auto plus = static_cast<T>(s.softplus_beta), swish = static_cast<T>(s.swish_beta);
  switch (s.mode) {
    case CUDNN_POINTWISE_RELU_FWD:
      return with([=, clips = s.has_upper_clip](T x) {
        if (clips && x > high) return high;
        return x > low || x != x ? x : low + slope * (x - low);
      });
    case CUDNN_POINTWISE_TANH_FWD:
      return with([](T x) { return std::tanh(x); });
    case CUDNN_POINTWISE_SIGMOID_FWD:
      return with([](T x) { return sigmoid(x); });
    case CUDNN_POINTWISE_ELU_FWD:
      return with([=](T x) { return x > 0 ? x : alpha * std::expm1(x); });
    case CUDNN_POINTWISE_GELU_FWD:
      return with(
          [](T x) { return T{0.5} * x * (T{1} + std::erf(x * static_cast<T>(kInverseSqrt2))); });
    case CUDNN_POINTWISE_GELU_APPROX_TANH_FWD:
      return with([](T x) { return T{0.5} * x * (T{1} + gelu_tanh(x)); });
    case CUDNN_POINTWISE_SOFTPLUS_FWD:
      return with([=](T x) { return softplus(x, plus); });
    case CUDNN_POINTWISE_SWISH_FWD:
      return with([=](T x) { return x * sigmoid(swish * x); });
    default:
      return false;
  }
}

template <class T>
bool apply_mathematics(cudnnPointwiseMode_t mode, const Unary<T>& with) {
  if (mode == kComplement) return with([](T x) { return T{1} - x; });
  switch (mode) {
    case CUDNN_POINTWISE_ABS:
      return with([](T x) { return std::fabs(x); });
    case CUDNN_POINTWISE_CEIL:
      return with([](T x) { return std::ceil(x); });
    case CUDNN_POINTWISE_COS:
      return with([](T x) { return std::cos(x); });
    case CUDNN_POINTWISE_EXP:
      return with([](T x) { return std::exp(x); });
    case CUDNN_POINTWISE_FLOOR:
      return with([](T x) { return std::floor(x); });
    case CUDNN_POINTWISE_LOG:
      return with([](T x) { return std::log(x); });
    case CUDNN_POINTWISE_NEG:
      return with([](T x) { return -x; });
    case CUDNN_POINTWISE_RSQRT:
      return with([](T x) { return T{1} / std::sqrt(x); });
    case CUDNN_POINTWISE_SIN:
      return with([](T x) { return std::sin(x); });
    case CUDNN_POINTWISE_SQRT:
      return with([](T x) { return std::sqrt(x); });
    case CUDNN_POINTWISE_TAN:
      return with([](T x) { return std::tan(x); });
    case CUDNN_POINTWISE_ERF:
      return with([](T x) { return std::erf(x); });
    case CUDNN_POINTWISE_RECIPROCAL:
      return with([](T x) { return T{1} / x; });
    case CUDNN_POINTWISE_LOGICAL_NOT:
      return with([](T x) { return static_cast<T>(x == 0); });
    case CUDNN_POINTWISE_IDENTITY:
    case CUDNN_POINTWISE_GEN_INDEX:
      return with([](T x) { return x; });
    default:
      return false;
  }
}

/// One pointwise operation over tensors with common extents.
struct Operation {
  PointwiseSettings settings;
  View x, b, t, y;
  bool has_b = false, has_t = false;
  Space<4> space;

  template <class T>
  void run(const Part& part) const {
    T xs[kRow], bs[kRow], ts[kRow], ys[kRow];
    const bool is_plain = settings.mode == CUDNN_POINTWISE_IDENTITY;
    std::array<int64_t, 4> at{};
    for (int64_t i = part.begin; i < part.end; ++i) {
      const int64_t count = space.chunk(i, &at);
      read_row(x, at[1], space.step(1), count, xs);
      if (settings.alpha1 != 1) scale(xs, count, settings.alpha1);
      if (has_b && settings.alpha2 == 0) std::fill(bs, bs + count, T{0});
      if (has_b && settings.alpha2 != 0) read_row(b, at[2], space.step(2), count, bs);
      if (has_b && settings.alpha2 != 1) scale(bs, count, settings.alpha2);
      if (has_t) read_row(t, at[3], space.step(3), count, ts);
      if (!is_plain) apply_pointwise(settings, count, xs, bs, ts, ys);
      T* const results = is_plain ? xs : ys;
      if (settings.alpha_result != 1) scale(results, count, settings.alpha_result);
      if (settings.beta != 0) add_old(results, bs, at[0], count);
      write_row(y, at[0], space.step(0), count, results);
    }
  }

 private:
  template <class T>
  static void scale(T* values, int64_t count, double by) {
    for (int64_t i = 0; i < count; ++i) values[i] *= static_cast<T>(by);
  }
  template <class T>
  void add_old(T* values, T* old, int64_t at, int64_t count) const {
    read_row(y, at, space.step(0), count, old);
    for (int64_t i = 0; i < count; ++i) values[i] += static_cast<T>(settings.beta) * old[i];
  }
};

/// Makes GEN_INDEX read the position along its axis.
cudnnStatus_t use_indices(Operation* operation) {
  const int axis = operation->settings.axis;
  const View& y = operation->y;
  if (axis < 0 || axis >= y.rank) return invalid("the axis %d is not one of %d", axis, y.rank);
  auto found = std::make_shared<std::vector<int64_t>>(static_cast<size_t>(y.dims[axis]));
  for (size_t i = 0; i < found->size(); ++i) (*found)[i] = static_cast<int64_t>(i);
  Shape shape = y;
  shape.type = CUDNN_DATA_INT64;
  for (int i = 0; i < shape.rank; ++i) {
    shape.strides[i] = i == axis ? 1 : 0;
    if (i != axis) shape.dims[i] = 1;
  }
  operation->x = View(shape, found->data());
  operation->x.owner = std::move(found);
  return CUDNN_STATUS_SUCCESS;
}

cudnnStatus_t submit_pointwise(cu::CUstream stream, Operation operation) {
  if (operation.settings.mode == CUDNN_POINTWISE_GEN_INDEX) LIB_TRY(use_indices(&operation));
  const Shape& y = operation.y;
  const Shape& b = operation.has_b ? operation.b : y;
  const Shape& t = operation.has_t ? operation.t : y;
  for (const View* each : {&operation.x, &operation.b, &operation.t, &operation.y}) {
    if (type_bits(each->type) == 0) return unsupported("data type %d", each->type);
  }
  if (!operation.space.init(y, {&y, &operation.x, &b, &t})) {
    return invalid("the extents of a pointwise operation's tensors do not match");
  }
  Arrays arrays;
  arrays.reads("x", operation.x);
  if (operation.has_b && operation.settings.alpha2 != 0) arrays.reads("b", operation.b);
  if (operation.has_t) arrays.reads("t", operation.t);
  arrays.writes("y", operation.y);
  bool is_wide = needs_double(operation.y.type) || needs_double(operation.x.type);
  if (operation.has_b) is_wide = is_wide || needs_double(operation.b.type);
  const bool is_packed = y.type == CUDNN_DATA_BOOLEAN;
  const int64_t chunks = operation.space.chunks();
  return submit_step(
      stream, "cudnn pointwise", arrays, is_packed ? std::min<int64_t>(chunks, 1) : chunks,
      static_cast<double>(kRow),
      [operation = std::move(operation), chunks, is_wide](uint64_t piece, uint64_t pieces) {
        const Part part(chunks, piece, pieces);
        is_wide ? operation.run<double>(part) : operation.run<float>(part);
      });
}

}  // namespace

int pointwise_inputs(cudnnPointwiseMode_t mode) noexcept {
  if (mode == CUDNN_POINTWISE_BINARY_SELECT) return 3;
  if (mode == CUDNN_POINTWISE_GEN_INDEX || mode == CUDNN_POINTWISE_LOGICAL_NOT) return 1;
  const double one = 1;
  double result = 0;
  PointwiseSettings settings;
  settings.mode = mode;
  const Binary<double> binary{1, &one, &one, &result};
  const Unary<double> unary{1, &one, &result};
  if (apply_arithmetic(mode, binary) || apply_logic(mode, binary) ||
      apply_backward(settings, binary)) {
    return 2;
  }
  return apply_forward(settings, unary) || apply_mathematics(mode, unary) ? 1 : 0;
}

template <class T>
void apply_pointwise(const PointwiseSettings& settings, int64_t count, const T* x, const T* b,
                     const T* t, T* y) {
  const auto mode = settings.mode;
  if (mode == CUDNN_POINTWISE_BINARY_SELECT) {
    for (int64_t i = 0; i < count; ++i) y[i] = t[i] != 0 ? x[i] : b[i];
    return;
  }
  const Unary<T> unary{count, x, y};
  if (apply_forward(settings, unary) || apply_mathematics(mode, unary) || b == nullptr) return;
  const Binary<T> binary{count, x, b, y};
  static_cast<void>(apply_arithmetic(mode, binary) || apply_logic(mode, binary) ||
                    apply_backward(settings, binary));
}
template void apply_pointwise<float>(const PointwiseSettings&, int64_t, const float*, const float*,
                                     const float*, float*);
template void apply_pointwise<double>(const PointwiseSettings&, int64_t, const double*,
                                      const double*, const double*, double*);

cudnnStatus_t pointwise(cu::CUstream stream, const PointwiseSettings& settings, const View& x,
                        const View* b, const View* t, const View& y) {
  Operation operation;
  operation.settings = settings;
  operation.x = x;
  operation.y = y;
  operation.has_b = b != nullptr;
  operation.has_t = t != nullptr;
  if (b != nullptr) operation.b = *b;
  if (t != nullptr) operation.t = *t;
  return submit_pointwise(stream, std::move(operation));
}

cudnnStatus_t copy_scaled(cu::CUstream stream, double alpha, const View& x, double beta,
                          const View& y) {
  PointwiseSettings settings;
  settings.alpha1 = alpha;
  settings.beta = beta;
  return pointwise(stream, settings, x, nullptr, nullptr, y);
}

}  // namespace km::cudnn
