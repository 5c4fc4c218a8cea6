// The transforms of libcufft for each set of instructions, line by line against the definition in
// long double, and whole ones for several numbers of threads.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <numbers>
#include <random>
#include <vector>

#include "math/fft/lines_tables.h"
#include "math/fft/transform.h"

namespace km::fft {
namespace {

using Exact = std::complex<long double>;

std::vector<Exact> transformed(const std::vector<Exact>& from, int sign) {
  const size_t n = from.size();
  std::vector<Exact> roots(n), to(n);
  for (size_t k = 0; k < n; ++k) {
    roots[k] = std::polar(1.0L, sign * 2 * std::numbers::pi_v<long double> *
                                    static_cast<long double>(k) / static_cast<long double>(n));
  }
  for (size_t k = 0; k < n; ++k) {
    for (size_t j = 0, at = 0; j < n; ++j, at = at + k < n ? at + k : at + k - n)
      to[k] += from[j] * roots[at];
  }
  return to;
}

template <class T>
constexpr Storage kStorageOf = sizeof(T) == sizeof(float) ? Storage::kFloat : Storage::kDouble;

/// Lines of one kind, with gaps between their numbers and between the lines.
template <class T>
class Lines {
 public:
  Lines(LineKind kind, uint64_t n, uint64_t lines, bool few_lines) : kind_(kind), n_(n) {
    job_.kind = kind;
    job_.n = n;
    job_.lines = job_.extents[0] = lines;
    job_.outer_rank = 1;
    job_.plan = make_line_plan<T>(job_.plan_length(), few_lines);
    job_.plan->prepare();
    if (job_.is_packed()) {
      const Roots<T> roots(n);
      auto made = std::make_shared<std::vector<Complex<T>>>();
      for (uint64_t k = 0; k <= n / 2; ++k) made->push_back(roots(k));
      job_.real_roots = made;
    }
    in_ = side(&job_.in, kind != LineKind::kRealToComplex);
    out_ = side(&job_.out, kind != LineKind::kComplexToReal);
    std::mt19937_64 random(n * 31 + lines);
    std::normal_distribution<double> numbers;
    for (T& each : in_) each = static_cast<T>(numbers(random));
    job_.in.base = reinterpret_cast<char*>(in_.data());
    job_.out.base = reinterpret_cast<char*>(out_.data());
  }

  /// The largest error of the lines, relative to each, in units of T's precision.
  double error(const LineCode<T>& code) {
    const AlignedMemory scratch(code.scratch_bytes(job_));
    code.run(job_, 0, job_.lines, scratch.data());
    double worst = 0;
    for (uint64_t line = 0; line < job_.lines; ++line) worst = std::max(worst, line_error(line));
    return worst;
  }

 private:
  std::vector<T> side(Side* side, bool is_complex) {
    side->storage = kStorageOf<T>;
    side->is_complex = is_complex;
    side->stride = job_.lines % 3 + 1;
    side->outer[0] = static_cast<int64_t>(n_) * side->stride + 2;
    return std::vector<T>(static_cast<size_t>(side->outer[0]) * job_.lines * 2);
  }
  static Exact number(const std::vector<T>& from, const Side& side, uint64_t line, uint64_t k) {
    const auto at =
        static_cast<size_t>(side.outer[0]) * line + static_cast<size_t>(side.stride) * k;
    if (!side.is_complex) return from[at];
    return {from[2 * at], from[2 * at + 1]};
  }
  double line_error(uint64_t line) const {
    std::vector<Exact> from(n_);
    const bool is_half = kind_ == LineKind::kComplexToReal;
    for (uint64_t k = 0; k < n_; ++k) {
      const bool is_mirrored = is_half && k > n_ / 2;
      from[k] = number(in_, job_.in, line, is_mirrored ? n_ - k : k);
      if (is_mirrored) from[k] = std::conj(from[k]);
      if (is_half && (k == 0 || 2 * k == n_)) from[k] = from[k].real();
    }
    const bool is_inverse = is_half || kind_ == LineKind::kInverse;
    const std::vector<Exact> wanted = transformed(from, is_inverse ? 1 : -1);
    long double error = 0, total = 0;
    for (uint64_t k = 0; k < (kind_ == LineKind::kRealToComplex ? n_ / 2 + 1 : n_); ++k) {
      const Exact want = is_half ? Exact(wanted[k].real()) : wanted[k];
      error += std::norm(number(out_, job_.out, line, k) - want);
      total += std::norm(want);
    }
    return static_cast<double>(std::sqrt(error / total) / (std::numeric_limits<T>::epsilon() / 2));
  }

  const LineKind kind_;
  const uint64_t n_;
  LineJob<T> job_;
  std::vector<T> in_, out_;
};

template <class T>
void check_lines(const LineCode<T>& code) {
  constexpr double kMostError = 6;
  std::vector<uint64_t> lengths;
  for (uint64_t n = 1; n <= 32; ++n) lengths.push_back(n);
  lengths.insert(lengths.end(), {97, 128, 210, 257, 343, 512, 720, 961, 1000, 1009});
  for (const uint64_t n : lengths) {
    for (const LineKind kind : {LineKind::kForward, LineKind::kInverse, LineKind::kRealToComplex,
                                LineKind::kComplexToReal}) {
      for (const uint64_t lines : {1, 17}) {
        if (n > 128 && lines == 17) continue;
        Lines<T> few(kind, n, lines, true), many(kind, n, lines, false);
        EXPECT_LT(few.error(code), kMostError) << n << " numbers, kind " << static_cast<int>(kind);
        EXPECT_LT(many.error(code), kMostError) << n << " numbers, kind " << static_cast<int>(kind);
      }
    }
  }
}

TEST(FftLines, EachSetOfInstructions) {
  for (const LineSet& set : line_sets()) {
    check_lines(*set.of_floats);
    check_lines(*set.of_doubles);
  }
}

/// A transform of n numbers in `batch` arrays, by this number of threads.
std::vector<float> run(TransformKind kind, std::vector<uint64_t> sizes, uint64_t batch,
                       uint32_t threads) {
  TransformShape shape;
  shape.kind = kind;
  int64_t step = 1;
  for (size_t i = sizes.size(); i-- > 0; step *= static_cast<int64_t>(sizes[i]) + 2) {
    shape.axes.insert(shape.axes.begin(), Axis{sizes[i], step, step});
  }
  shape.batch.push_back({batch, step, step});
  std::vector<float> in(static_cast<size_t>(step) * batch * 2), out(in.size());
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i * 7919 % 1009) - 500;
  Binding binding;
  binding.in = reinterpret_cast<char*>(in.data());
  binding.out = reinterpret_cast<char*>(out.data());
  run_here(*make_transform(shape, threads)->bind(binding));
  return out;
}

TEST(FftTransform, ThreadsDoNotChangeResults) {
  const std::vector<std::vector<uint64_t>> sizes = {{40000}, {65537}, {60, 70}, {20, 30, 40}};
  for (const TransformKind kind :
       {TransformKind::kComplex, TransformKind::kRealToComplex, TransformKind::kComplexToReal}) {
    for (const std::vector<uint64_t>& each : sizes) {
      for (const uint64_t batch : {1, 5}) {
        const std::vector<float> one = run(kind, each, batch, 1);
        for (const uint32_t threads : {2, 3, 16}) EXPECT_EQ(run(kind, each, batch, threads), one);
      }
    }
  }
}

TEST(FftTransform, ExtentsDoNotOverflow) {
  TransformShape shape;
  Extent in, out;
  shape.axes = {{4, -3, 5}};
  ASSERT_TRUE(find_extents(shape, &in, &out));
  EXPECT_EQ(in.below, 9 * 8);
  EXPECT_EQ(in.above, 8);
  EXPECT_EQ(out.above, 16 * 8);
  shape.axes = {{uint64_t{1} << 40, int64_t{1} << 40, 1}};
  EXPECT_FALSE(find_extents(shape, &in, &out));
  shape.axes = {{uint64_t{1} << 63, 1, 1}};
  EXPECT_FALSE(find_extents(shape, &in, &out));
  shape.axes = {{uint64_t{1} << 30, 1, 1}, {uint64_t{1} << 30, 1, 1}};
  EXPECT_FALSE(find_extents(shape, &in, &out));
}

}  // namespace
}  // namespace km::fft
