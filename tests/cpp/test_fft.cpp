// Fourier transforms: each kind is compared with its definition, computed here.
#include <cmath>
#include <complex>

#include "support.h"

namespace {

using km_test::status_of;
using Complex = std::complex<float>;

struct Fft : km_test::Fixture {
  static std::vector<Complex> numbers(std::size_t count) {
    std::vector<Complex> made;
    for (std::size_t i = 0; i < count; ++i) {
      made.emplace_back(static_cast<float>(i * 7 % 11) - 5, static_cast<float>(i * 3 % 5) - 2);
    }
    return made;
  }
  // The transform of `count` numbers that begin at `first`.
  static std::vector<Complex> transformed(const std::vector<Complex>& from, std::size_t first,
                                          std::size_t count, double sign) {
    std::vector<Complex> to;
    for (std::size_t k = 0; k < count; ++k) {
      std::complex<double> sum = 0;
      for (std::size_t j = 0; j < count; ++j) {
        const double angle = sign * 2 * 3.14159265358979323846 * static_cast<double>(j * k % count);
        sum += std::complex<double>(from[first + j]) *
               std::polar(1.0, angle / static_cast<double>(count));
      }
      to.emplace_back(sum);
    }
    return to;
  }
  template <class Numbers>
  static void expect_near(const Numbers& found, std::size_t first, const Numbers& expected) {
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(std::abs(found[first + i] - expected[i]), 0, 1e-4) << i;
    }
  }
};

TEST_F(Fft, ComplexLinesInBothDirections) {
  const std::vector<Complex> given = numbers(20);
  const km::fft<Complex> plan(stream, km::fft_shape({10}, 2));
  const auto x = km::slice<Complex>::copy_of(stream, given);
  const km::slice<Complex> y(context, 20);
  plan.forward(x, y);
  const std::vector<Complex> found = y.to_vector(stream);
  expect_near(found, 0, transformed(given, 0, 10, -1));
  expect_near(found, 10, transformed(given, 10, 10, -1));
  plan.inverse(y, y);
  std::vector<Complex> scaled = given;
  for (Complex& each : scaled) each *= 10;
  expect_near(y.to_vector(stream), 0, scaled);
}

TEST_F(Fft, RealNumbersAndBack) {
  const std::vector<Complex> given = numbers(12);
  std::vector<float> real;
  std::vector<Complex> complex;
  for (const Complex& each : given) {
    real.push_back(each.real());
    complex.emplace_back(each.real());
  }
  const auto x = km::slice<float>::copy_of(stream, real);
  const km::slice<Complex> half(context, 7);
  const km::fft<float, Complex> there(stream, {12});
  const km::fft<Complex, float> back(stream, {12});
  there.forward(x, half);
  std::vector<Complex> wanted = transformed(complex, 0, 12, -1);
  wanted.resize(7);
  expect_near(half.to_vector(stream), 0, wanted);
  back.inverse(half, x);
  for (float& each : real) each *= 12;
  expect_near(x.to_vector(stream), 0, real);
}

TEST_F(Fft, LayoutsAndOffsets) {
  // Two lines whose numbers alternate, behind three others.
  const std::vector<Complex> given = numbers(13);
  const auto x = km::slice<Complex>::copy_of(stream, given);
  const km::slice<Complex> y(context, 10);
  const km::fft<Complex> plan(stream, km::fft_shape({5}, 2).input({{}, 2, 1}));
  plan.forward(km::arr(x, 3), y);
  std::vector<Complex> lines;
  for (std::size_t line = 0; line < 2; ++line) {
    for (std::size_t i = 0; i < 5; ++i) lines.push_back(given[3 + line + 2 * i]);
  }
  expect_near(y.to_vector(stream), 0, transformed(lines, 0, 5, -1));
  expect_near(y.to_vector(stream), 5, transformed(lines, 5, 5, -1));
}

TEST_F(Fft, NumbersOf16Bits) {
  const std::vector<km::half_complex> ones(4, {{0x3C00}, {0}});
  const auto x = km::slice<km::half_complex>::copy_of(stream, ones);
  const km::fft<km::half_complex> plan(stream, {4});
  plan.forward(x, x);
  EXPECT_EQ(x.to_vector(stream)[0].real.bits, 0x4400);  // 4
  const std::vector<km::bfloat16> reals(4, {0x3F80});
  const auto from = km::slice<km::bfloat16>::copy_of(stream, reals);
  const km::slice<km::bfloat16_complex> to(context, 3);
  km::fft<km::bfloat16, km::bfloat16_complex>(stream, {4}).forward(from, to);
  EXPECT_EQ(to.to_vector(stream)[0].real.bits, 0x4080);
}

TEST_F(Fft, Errors) {
  const km::slice<Complex> x(context, 9);
  const km::fft<Complex> plan(stream, {10});
  EXPECT_EQ(status_of([&] { plan.forward(x, x); }), KM_ERROR_OUT_OF_BOUNDS);
  EXPECT_EQ(status_of([&] { km::fft<Complex>(stream, {1, 2, 3, 4}); }), KM_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(status_of([&] { km::fft<Complex>().forward(x, x); }), KM_ERROR_INVALID_HANDLE);
  const auto made = km::nothrow::fft<double, std::complex<double>>::create(stream, {0});
  EXPECT_EQ(made.status(), KM_ERROR_INVALID_ARGUMENT);
}

TEST_F(Fft, CallsAreCaptured) {
  const km::slice<Complex> x(context, 8), y(context, 8);
  km::graph graph;
  {
    const km::fft<Complex> plan(stream, {8});
    km::capture capture(stream);
    plan.forward(x, y);
    graph = capture.end();
  }
  const auto nodes = graph.nodes();
  ASSERT_EQ(nodes.size(), 1U);
  EXPECT_EQ(graph.info(nodes[0]).kind, KM_GRAPH_NODE_LIBRARY);
  const km::graph_exec exec(graph);
  const std::vector<Complex> given = numbers(8);
  x.upload(stream, given);
  exec.launch(stream);
  expect_near(y.to_vector(stream), 0, transformed(given, 0, 8, -1));
}

}  // namespace
