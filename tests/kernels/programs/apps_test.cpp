#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("programs/apps.cu"); }

/// Acceleration of one body, in the kernel's order and with its padding of massless bodies.
std::array<float, 3> force_on(const float* own, const vector<float>& bodies, int padded) {
  std::array<float, 3> force{};
  for (int k = 0; k < padded; ++k) {
    const float zero[4] = {};
    const float* other = 4 * k < static_cast<int>(bodies.size()) ? &bodies[4 * k] : zero;
    const float d[3] = {other[0] - own[0], other[1] - own[1], other[2] - own[2]};
    const float d2 = std::fma(d[0], d[0], std::fma(d[1], d[1], std::fma(d[2], d[2], 0.01f)));
    const float scale = other[3] / (d2 * std::sqrt(d2));
    for (int c = 0; c < 3; ++c) force[c] = std::fma(d[c], scale, force[c]);
  }
  return force;
}

TEST(Apps, NBody) {
  const int n = 300, padded = 320;
  const auto bodies = random_f32(4 * n, 1, -1.0f, 1.0f);
  Buffer<float> in(session(), bodies), out(session(), 3 * n);
  kernels().run("nbody", cover(n, 64), in, out, n);
  vector<float> want;
  for (int i = 0; i < n; ++i) {
    const auto force = force_on(&bodies[4 * i], bodies, padded);
    want.insert(want.end(), force.begin(), force.end());
  }
  expect_bits("nbody", out.read(), want);
}

TEST(Apps, BlackScholes) {
  const uint32_t n = 3000;
  const auto price = random_f32(n, 2, 5.0f, 30.0f), strike = random_f32(n, 3, 1.0f, 100.0f);
  const auto years = random_f32(n, 4, 0.25f, 10.0f);
  const float rate = 0.02f, volatility = 0.3f;
  Buffer<float> in_p(session(), price), in_s(session(), strike), in_y(session(), years);
  Buffer<float> call(session(), n), put(session(), n);
  kernels().run("black_scholes", cover(n), in_p, in_s, in_y, call, put, rate, volatility, n);
  vector<float> want_call, want_put;
  const auto cdf = [](double x) { return 0.5 * std::erfc(-x / std::sqrt(2.0)); };
  for (uint32_t i = 0; i < n; ++i) {
    const double s = price[i], x = strike[i], t = years[i], r = rate, v = volatility;
    const double root = v * std::sqrt(t);
    const double d1 = (std::log(s / x) + (r + 0.5 * v * v) * t) / root, d2 = d1 - root;
    const double discounted = x * std::exp(-r * t);
    want_call.push_back(static_cast<float>(s * cdf(d1) - discounted * cdf(d2)));
    want_put.push_back(static_cast<float>(discounted * cdf(-d2) - s * cdf(-d1)));
  }
  // A few ulps of the terms before they cancel.
  const auto bound = [&](uint64_t i) { return 4e-6 * static_cast<double>(price[i] + strike[i]); };
  expect_near("black_scholes call", call.read(), want_call, bound);
  expect_near("black_scholes put", put.read(), want_put, bound);
}

TEST(Apps, SparseMatrixVector) {
  const int rows = 700;
  Random random(5);
  vector<int32_t> row_start{0}, column;
  vector<float> value;
  for (int row = 0; row < rows; ++row) {
    const uint32_t count = row % 7 == 0 ? 0 : random.below(30);
    for (uint32_t k = 0; k < count; ++k) {
      column.push_back(static_cast<int32_t>(random.below(rows)));
      value.push_back(random.uniform(-1, 1));
    }
    row_start.push_back(static_cast<int32_t>(column.size()));
  }
  const auto x = random_f32(rows, 6, -1.0f, 1.0f);
  Buffer<int32_t> in_start(session(), row_start), in_column(session(), column);
  Buffer<float> in_value(session(), value), in_x(session(), x), y(session(), rows);
  kernels().run("spmv_csr", cover(rows), in_start, in_column, in_value, in_x, y, rows);
  vector<float> want;
  for (int row = 0; row < rows; ++row) {
    float sum = 0;
    for (int k = row_start[row]; k < row_start[row + 1]; ++k) {
      sum = std::fma(value[k], x[column[k]], sum);
    }
    want.push_back(sum);
  }
  expect_bits("spmv_csr", y.read(), want);
}

TEST(Apps, ConvolutionOfRows) {
  const int width = 333, height = 17, radius = 5;
  const auto image = cast_all<uint8_t>(random_u32(width * height, 7));
  const auto weights = random_f32(2 * radius + 1, 8, 0.0f, 1.0f);
  Buffer<uint8_t> in(session(), image);
  Buffer<float> in_weights(session(), weights), out(session(), width * height);
  const uint32_t block = 128;
  kernels().run("convolution_rows",
                Shape{{3, static_cast<uint32_t>(height)}, {block}, (block + 2 * radius) * 4}, in,
                out, in_weights, radius, width, height);
  vector<float> want;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      float sum = 0;
      for (int k = -radius; k <= radius; ++k) {
        const float pixel = image[y * width + std::clamp(x + k, 0, width - 1)];
        sum = std::fma(weights[k + radius], pixel, sum);
      }
      want.push_back(sum);
    }
  }
  expect_bits("convolution_rows", out.read(), want);
}

uint8_t sobel_at(const vector<uint8_t>& image, int width, int height, int x, int y) {
  if (x == 0 || y == 0 || x == width - 1 || y == height - 1) return 0;
  const int weights[3] = {1, 2, 1};
  int gx = 0, gy = 0;
  for (int k = -1; k <= 1; ++k) {
    const int w = weights[k + 1];
    gx += w * (image[(y + k) * width + x + 1] - image[(y + k) * width + x - 1]);
    gy += w * (image[(y + 1) * width + x + k] - image[(y - 1) * width + x + k]);
  }
  const float magnitude = std::sqrt(static_cast<float>(gx * gx + gy * gy));
  return magnitude > 255.0f ? 255 : static_cast<uint8_t>(magnitude);
}

TEST(Apps, Sobel) {
  const int width = 131, height = 67;
  const auto image = cast_all<uint8_t>(random_u32(width * height, 9));
  Buffer<uint8_t> in(session(), image), out(session(), width * height);
  kernels().run("sobel", Shape{{5, 9}, {32, 8}}, in, out, width, height);
  vector<uint8_t> want;
  for (int i = 0; i < width * height; ++i) {
    want.push_back(sobel_at(image, width, height, i % width, i / width));
  }
  expect_bits("sobel", out.read(), want);
}

TEST(Apps, KMeansAssignment) {
  const int dimensions = 5, clusters = 9;
  const uint32_t n = 1500;
  const auto points = random_f32(dimensions * n, 10, 0.0f, 1.0f);
  const auto centres = random_f32(dimensions * clusters, 11, 0.0f, 1.0f);
  Buffer<float> in(session(), points), in_centres(session(), centres);
  Buffer<int32_t> label(session(), n);
  kernels().run("kmeans_assign", cover(n), in, in_centres, label, dimensions, clusters, n);
  vector<int32_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    vector<float> distance(clusters, 0.0f);
    for (int c = 0; c < clusters; ++c) {
      for (int d = 0; d < dimensions; ++d) {
        const float difference = points[d * n + i] - centres[c * dimensions + d];
        distance[c] = std::fma(difference, difference, distance[c]);
      }
    }
    want.push_back(static_cast<int32_t>(std::min_element(distance.begin(), distance.end()) -
                                        distance.begin()));
  }
  expect_bits("kmeans_assign", label.read(), want);
}

TEST(Apps, Heat3d) {
  const int nx = 45, ny = 23, nz = 12, plane = nx * ny;
  const auto values = random_f32(plane * nz, 12, 0.0f, 1.0f);
  Buffer<float> in(session(), values), out(session(), values);
  kernels().run("heat_3d", Shape{{2, 6}, {32, 4}}, in, out, nx, ny, nz);
  auto want = values;
  for (int i = 0; i < plane * nz; ++i) {
    const int x = i % nx, y = i / nx % ny, z = i / plane;
    if (x < 1 || y < 1 || z < 1 || x >= nx - 1 || y >= ny - 1 || z >= nz - 1) continue;
    const float sum = values[i - 1] + values[i + 1] + values[i - nx] + values[i + nx] +
                      values[i - plane] + values[i + plane];
    want[i] = std::fma(0.1f, sum - 6.0f * values[i], values[i]);
  }
  expect_bits("heat_3d", out.read(), want);
}

using Complex = std::array<float, 2>;

/// Decimation in time, recursive; the same operations as the kernel's, in another order.
vector<Complex> fft(const vector<Complex>& in, const vector<Complex>& twiddles) {
  const size_t n = in.size();
  if (n == 1) return in;
  vector<Complex> even, odd, out(n);
  for (size_t i = 0; i < n; i += 2) {
    even.push_back(in[i]);
    odd.push_back(in[i + 1]);
  }
  even = fft(even, twiddles);
  odd = fft(odd, twiddles);
  for (size_t k = 0; k < n / 2; ++k) {
    const Complex w = twiddles[k * (256 / n)], a = even[k], b = odd[k];
    const Complex p{std::fma(b[0], w[0], -(b[1] * w[1])), std::fma(b[0], w[1], b[1] * w[0])};
    out[k] = {a[0] + p[0], a[1] + p[1]};
    out[k + n / 2] = {a[0] - p[0], a[1] - p[1]};
  }
  return out;
}

TEST(Apps, FourierTransform) {
  const uint32_t batches = 5;
  const auto values = random_f32(512 * batches, 13, -1.0f, 1.0f);
  vector<float> flat_twiddles;
  vector<Complex> twiddles;
  for (int k = 0; k < 128; ++k) {
    const double angle = -2 * M_PI * k / 256;
    twiddles.push_back({static_cast<float>(std::cos(angle)), static_cast<float>(std::sin(angle))});
    flat_twiddles.insert(flat_twiddles.end(), twiddles.back().begin(), twiddles.back().end());
  }
  Buffer<float> data(session(), values), in_twiddles(session(), flat_twiddles);
  kernels().run("fft_256", Shape{{batches}, {128}}, data, in_twiddles);
  vector<float> want;
  for (uint32_t b = 0; b < batches; ++b) {
    vector<Complex> row;
    for (int i = 0; i < 256; ++i) {
      row.push_back({values[512 * b + 2 * i], values[512 * b + 2 * i + 1]});
    }
    for (const Complex& value : fft(row, twiddles)) {
      want.insert(want.end(), value.begin(), value.end());
    }
  }
  expect_bits("fft_256", data.read(), want);
}

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
vector<uint32_t> sha256_constants() {
  vector<uint32_t> constants;
  for (uint32_t candidate = 2; constants.size() < 64; ++candidate) {
    bool prime = true;
    for (uint32_t d = 2; d * d <= candidate; ++d) prime = prime && candidate % d != 0;
    if (!prime) continue;
    const long double root = std::cbrt(static_cast<long double>(candidate));
    constants.push_back(static_cast<uint32_t>((root - std::floor(root)) * 0x1p32L));
  }
  return constants;
}

TEST(Apps, Sha256) {
  const vector<std::string> messages{"", "abc", "kernelmill"};
  const uint32_t n = 96;
  vector<uint32_t> blocks(16 * n, 0);
  for (uint32_t i = 0; i < n; ++i) {
    const std::string& text = messages[i % 3];
    auto* bytes = reinterpret_cast<uint8_t*>(&blocks[16 * i]);
    std::memcpy(bytes, text.data(), text.size());
    bytes[text.size()] = 0x80;
    bytes[63] = static_cast<uint8_t>(8 * text.size());
  }
  const auto constants = sha256_constants();
  kernels().write_global("c_sha256", constants.data(), 256);
  Buffer<uint32_t> in(session(), blocks), digests(session(), 8 * n);
  kernels().run("sha256", cover(n, 64), in, digests, n);
  const auto got = digests.read();
  // The standard's own test vectors.
  const std::array<uint32_t, 8> empty{0xe3b0c442, 0x98fc1c14, 0x9afbf4c8, 0x996fb924,
                                      0x27ae41e4, 0x649b934c, 0xa495991b, 0x7852b855};
  const std::array<uint32_t, 8> abc{0xba7816bf, 0x8f01cfea, 0x414140de, 0x5dae2223,
                                    0xb00361a3, 0x96177a9c, 0xb410ff61, 0xf20015ad};
  for (uint32_t i = 0; i < n; i += 3) {
    const auto row = got.begin() + 8 * i;
    EXPECT_TRUE(std::equal(empty.begin(), empty.end(), row)) << i;
    EXPECT_TRUE(std::equal(abc.begin(), abc.end(), row + 8)) << i;
    EXPECT_TRUE(std::equal(row + 16, row + 24, got.begin() + 16)) << i;
  }
}

TEST(Apps, FloydWarshall) {
  const int n = 50;
  auto want = cast_all<int32_t>(random_u32(n * n, 14));
  for (int i = 0; i < n * n; ++i) {
    want[i] = i % (n + 1) == 0 ? 0 : (want[i] & 3) == 0 ? (want[i] >> 8 & 0xFFFF) + 1 : 1 << 28;
  }
  Buffer<int32_t> distance(session(), want);
  for (int through = 0; through < n; ++through) {
    kernels().run("floyd_warshall_step", Shape{{4, 7}, {16, 8}}, distance, n, through);
    for (int i = 0; i < n * n; ++i) {
      want[i] = std::min(want[i], want[i / n * n + through] + want[through * n + i % n]);
    }
  }
  expect_bits("floyd_warshall", distance.read(), want);
}

int32_t common_subsequence(const int8_t* a, const int8_t* b, int n) {
  vector<int32_t> row(n + 1, 0);
  for (int i = 0; i < n; ++i) {
    int32_t corner = 0;
    for (int j = 0; j < n; ++j) {
      const int32_t above = row[j + 1];
      row[j + 1] = a[i] == b[j] ? corner + 1 : std::max(above, row[j]);
      corner = above;
    }
  }
  return row[n];
}

TEST(Apps, CommonSubsequence) {
  const int n = 96, pairs = 6;
  auto a = cast_all<int8_t>(random_u32(n * pairs, 15)),
       b = cast_all<int8_t>(random_u32(n * pairs, 16));
  for (int8_t& c : a) c &= 3;
  for (int8_t& c : b) c &= 3;
  Buffer<int8_t> in_a(session(), a), in_b(session(), b);
  Buffer<int32_t> length(session(), pairs);
  kernels().run("common_subsequence", Shape{{pairs}, {n}}, in_a, in_b, length, n);
  vector<int32_t> want;
  for (int p = 0; p < pairs; ++p) want.push_back(common_subsequence(&a[p * n], &b[p * n], n));
  expect_bits("common_subsequence", length.read(), want);
}

TEST(Apps, MonteCarlo) {
  const uint32_t n = 200;
  const int samples = 300;
  const auto seeds = random_u64(n, 17);
  Buffer<uint64_t> in(session(), seeds);
  Buffer<uint32_t> hits(session(), n);
  kernels().run("monte_carlo", cover(n), in, hits, samples, n);
  vector<uint32_t> want;
  for (uint64_t state : seeds) {
    uint32_t count = 0;
    const auto next = [&] {
      state = state * 6364136223846793005u + 1442695040888963407u;
      return static_cast<float>(state >> 40) * 5.9604645e-8f;
    };
    for (int k = 0; k < samples; ++k) {
      const float x = next(), y = next();
      count += std::fma(x, x, y * y) < 1.0f;
    }
    want.push_back(count);
  }
  expect_bits("monte_carlo", hits.read(), want);
}

TEST(Apps, BinarySearch) {
  const int size = 1000;
  const uint32_t n = 2000;
  auto sorted = cast_all<int32_t>(random_u32(size, 18));
  auto needles = cast_all<int32_t>(random_u32(n, 19));
  std::sort(sorted.begin(), sorted.end());
  for (uint32_t i = 0; i < n; i += 2) needles[i] = sorted[i % size];
  Buffer<int32_t> in(session(), sorted), in_needles(session(), needles), found(session(), n);
  kernels().run("binary_search", cover(n), in, size, in_needles, found, n);
  vector<int32_t> want;
  for (const int32_t needle : needles) {
    want.push_back(static_cast<int32_t>(std::lower_bound(sorted.begin(), sorted.end(), needle) -
                                        sorted.begin()));
  }
  expect_bits("binary_search", found.read(), want);
}

TEST(Apps, Softmax) {
  const int rows = 20, columns = 301;
  const auto values = random_f32(rows * columns, 20, -8.0f, 8.0f);
  Buffer<float> in(session(), values), out(session(), rows * columns);
  kernels().run("softmax_rows", Shape{{rows}, {128}}, in, out, columns);
  vector<float> want;
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int c = 0; c < columns; ++c)
      sum += std::exp(static_cast<double>(values[row * columns + c]));
    for (int c = 0; c < columns; ++c) {
      const auto value = static_cast<double>(values[row * columns + c]);
      want.push_back(static_cast<float>(std::exp(value) / sum));
    }
  }
  // Relative: the exponentials' 2 ulps and their arguments' rounding, and a sum of 301 terms.
  expect_near("softmax", out.read(), want,
              [&](uint64_t i) { return 4e-6 * static_cast<double>(want[i]); });
}

}  // namespace
}  // namespace km::kernels
