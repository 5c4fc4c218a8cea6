#include "dropin/cudnn/engine/layers/pooling.h"

#include <cmath>
#include <limits>

#include "dropin/cudnn/engine/layers/planes.h"

namespace km::cudnn {
namespace {

/// One element that an output depends on.
struct Tap {
  int64_t input;  // its number in the plane; -1: padding
  double weight;
  int64_t window;  // its number in the window
};

struct Pooling {
  PoolingSettings s;
  View x, y, index;
  bool has_index;

  /// The taps of one output element.
  void find_taps(int64_t output, std::vector<Tap>* taps) const {
    taps->assign(1, Tap{0, 1, 0});
    Extents at{};
    for (int d = s.spatial - 1; d >= 0; --d) {
      at[d] = output % y.dims[d + 2];
      output /= y.dims[d + 2];
    }
    for (int d = 0; d < s.spatial; ++d) add_dimension(d, at[d], taps);
    if (s.kind == PoolingKind::kAverage) weigh(taps, true);
    if (s.kind == PoolingKind::kAverageWithPadding) weigh(taps, false);
  }

 private:
  void add_dimension(int d, int64_t at, std::vector<Tap>* taps) const {
    std::vector<Tap> wider;
    const auto add = [&](int64_t position, double weight, int64_t number) {
      const int64_t extent = x.dims[d + 2];
      const bool is_inside = position >= 0 && position < extent;
      for (const Tap& each : *taps) {
        const int64_t input = is_inside && each.input >= 0 ? each.input * extent + position : -1;
        wider.push_back({input, each.weight * weight, each.window * s.window[d] + number});
      }
    };
    if (s.kind == PoolingKind::kNearest || s.kind == PoolingKind::kBilinear) {
      add_exact(d, at, add);
    } else {
      for (int64_t i = 0; i < s.window[d]; ++i) add(at * s.steps[d] - s.pads[d] + i, 1, i);
    }
    // The window's numbers count row by row.
    std::stable_sort(wider.begin(), wider.end(),
                     [](const Tap& a, const Tap& b) { return a.window < b.window; });
    taps->swap(wider);
  }
  template <class Add>
  void add_exact(int d, int64_t at, Add&& add) const {
    const double position = static_cast<double>(at) * s.exact_steps[d] - s.exact_pads[d];
    const auto last = static_cast<double>(x.dims[d + 2] - 1);
    if (s.kind == PoolingKind::kNearest) {
      add(static_cast<int64_t>(std::clamp(std::floor(position + 0.5), 0.0, last)), 1, 0);
      return;
    }
    const double low = std::floor(position), part = position - low;
    add(static_cast<int64_t>(std::clamp(low, 0.0, last)), 1 - part, 0);
    add(static_cast<int64_t>(std::clamp(low + 1, 0.0, last)), part, 1);
  }
  static void weigh(std::vector<Tap>* taps, bool is_inside_only) {
    const auto inside =
        std::count_if(taps->begin(), taps->end(), [](const Tap& each) { return each.input >= 0; });
    const auto count = is_inside_only ? inside : static_cast<std::ptrdiff_t>(taps->size());
    for (Tap& each : *taps) each.weight = count == 0 ? 0 : 1 / static_cast<double>(count);
  }

 public:
  /// The tap with the largest value, the first of several; NaN is larger than everything.
  const Tap* find_maximum(const std::vector<Tap>& taps, const double* values, double* most) const {
    const Tap* found = nullptr;
    *most = s.pads_are_values ? s.padding : -std::numeric_limits<double>::infinity();
    for (const Tap& each : taps) {
      if (each.input < 0) continue;
      const double value = values[each.input];
      if (found != nullptr && !(value > *most) && value == value) continue;
      if (found != nullptr && *most != *most) continue;
      if (s.pads_are_values && found == nullptr && has_padding(taps) && value < s.padding) continue;
      found = &each;
      *most = value;
    }
    return found;
  }
  static bool has_padding(const std::vector<Tap>& taps) {
    return std::any_of(taps.begin(), taps.end(), [](const Tap& each) { return each.input < 0; });
  }

  void run(const Part& part) const {
    std::vector<Tap> taps;
    for (int64_t plane = part.begin; plane < part.end; ++plane) {
      const std::vector<double> values = read_plane(x, plane);
      std::vector<double> results(static_cast<size_t>(plane_size(y)));
      std::vector<double> found(has_index ? results.size() : 0);
      for (size_t i = 0; i < results.size(); ++i) {
        find_taps(static_cast<int64_t>(i), &taps);
        if (s.kind == PoolingKind::kMax) {
          const Tap* const tap = find_maximum(taps, values.data(), &results[i]);
          if (has_index) found[i] = tap == nullptr ? -1 : static_cast<double>(tap->window);
          continue;
        }
        for (const Tap& each : taps) {
          if (each.input >= 0) results[i] += each.weight * values[static_cast<size_t>(each.input)];
        }
      }
      write_plane(y, plane, s.alpha, s.beta, results);
      if (has_index) write_plane(index, plane, 1, 0, found);
    }
  }
  /// y is dy here, and `dx` has x's extents.
  void run_backward(const View& dx, const Part& part) const {
    std::vector<Tap> taps;
    for (int64_t plane = part.begin; plane < part.end; ++plane) {
      const bool is_max = s.kind == PoolingKind::kMax;
      const std::vector<double> gradients = read_plane(y, plane);
      const std::vector<double> values =
          is_max && !has_index ? read_plane(x, plane) : std::vector<double>();
      const std::vector<double> found =
          has_index ? read_plane(index, plane) : std::vector<double>();
      std::vector<double> results(static_cast<size_t>(plane_size(dx)));
      for (size_t i = 0; i < gradients.size(); ++i) {
        find_taps(static_cast<int64_t>(i), &taps);
        if (is_max) keep_maximum(values, has_index ? &found[i] : nullptr, &taps);
        for (const Tap& each : taps) {
          if (each.input < 0) continue;
          results[static_cast<size_t>(each.input)] += each.weight * gradients[i];
        }
      }
      write_plane(dx, plane, s.alpha, s.beta, results);
    }
  }

 private:
  void keep_maximum(const std::vector<double>& values, const double* number,
                    std::vector<Tap>* taps) const {
    Tap kept{-1, 0, 0};
    if (number != nullptr) {
      const auto at = std::find_if(taps->begin(), taps->end(), [&](const Tap& each) {
        return static_cast<double>(each.window) == *number;
      });
      if (at != taps->end()) kept = *at;
    } else {
      double most = 0;
      if (const Tap* const tap = find_maximum(*taps, values.data(), &most)) kept = *tap;
    }
    taps->assign(1, kept);
  }
};

cudnnStatus_t check(const PoolingSettings& s, const View& x, const View& y) {
  if (x.rank != s.spatial + 2 || y.rank != x.rank) {
    return invalid("tensors of rank %d and %d for %d spatial dimensions", x.rank, y.rank,
                   s.spatial);
  }
  if (x.dims[0] != y.dims[0] || x.dims[1] != y.dims[1]) {
    return invalid("the planes of a pooling's tensors do not match");
  }
  return CUDNN_STATUS_SUCCESS;
}
double plane_ns(const PoolingSettings& s, const View& y) {
  double found = static_cast<double>(plane_size(y)) * 10;
  for (int i = 0; i < s.spatial; ++i)
    found *= static_cast<double>(std::max<int64_t>(s.window[i], 1));
  return found;
}

}  // namespace

cudnnStatus_t pool(cu::CUstream stream, const PoolingSettings& settings, const View& x,
                   const View& y, const View& index) {
  LIB_TRY(check(settings, x, y));
  if (index.data != nullptr && !index.has_dims(y)) return invalid("an index of other extents");
  Arrays arrays;
  arrays.reads("x", x).writes("y", y).writes("index", index);
  const int64_t planes = x.dims[0] * x.dims[1];
  return submit_step(
      stream, "cudnn pooling", arrays, planes, plane_ns(settings, y),
      [work = Pooling{settings, x, y, index, index.data != nullptr}, planes](
          uint64_t piece, uint64_t pieces) { work.run(Part(planes, piece, pieces)); });
}

cudnnStatus_t pool_backward(cu::CUstream stream, const PoolingSettings& settings, const View& x,
                            const View& dy, const View& dx, const View& index) {
  LIB_TRY(check(settings, dx, dy));
  const bool needs_x = settings.kind == PoolingKind::kMax && index.data == nullptr;
  if (needs_x && (x.data == nullptr || !x.has_dims(dx))) return invalid("x is missing");
  const View input = needs_x ? x : View(dx, nullptr);
  Arrays arrays;
  arrays.reads("x", input).reads("dy", dy).reads("index", index).writes("dx", dx);
  const int64_t planes = dx.dims[0] * dx.dims[1];
  return submit_step(
      stream, "cudnn pooling backward", arrays, planes, plane_ns(settings, dy),
      [work = Pooling{settings, input, dy, index, index.data != nullptr}, dx, planes](
          uint64_t piece, uint64_t pieces) { work.run_backward(dx, Part(planes, piece, pieces)); });
}

}  // namespace km::cudnn
