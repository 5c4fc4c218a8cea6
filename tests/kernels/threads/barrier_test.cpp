#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("threads/barrier.cu"); }

TEST(Barrier, TreeReduction) {
  const uint32_t n = 10000, block = 256, blocks = (n + block - 1) / block;
  const auto values = random_f32(n, 1, -1.0f, 1.0f);
  Buffer<float> in(session(), values), sums(session(), blocks);
  kernels().run("tree_reduction", Shape{{blocks}, {block}}, in, sums, n);
  vector<float> want;
  for (uint32_t b = 0; b < blocks; ++b) {
    vector<float> tile(block, 0.0f);
    for (uint32_t t = 0; t < block && b * block + t < n; ++t) tile[t] = values[b * block + t];
    for (uint32_t half = block / 2; half > 0; half /= 2) {
      for (uint32_t t = 0; t < half; ++t) tile[t] += tile[t + half];
    }
    want.push_back(tile[0]);
  }
  expect_bits("tree_reduction", sums.read(), want);
}

uint32_t of_low_thread(uint32_t t, int32_t n) {
  const auto index = static_cast<int32_t>(t);
  uint32_t cell = 0;
  if (t < 40) cell += 1;
  if (index < n) cell += 2;
  if (t <= static_cast<uint32_t>(n)) cell += 4;
  if (t == 0) cell += 8;
  if (index >= n) cell += 16;
  if (t != 0) cell += 32;
  for (int32_t k = 0; k < 3; ++k) cell += index < n * k ? 64 : 0;
  cell += (index < n ? cell & 2 : t) << 8;
  if (index >= n) {
    cell += 1U << 21;
  } else if (t % 3 == 0) {
    cell += 1U << 20;
  }
  if (index < n) cell += 1U << 22;
  if (index < 2 * n) cell += 1U << 23;
  for (int32_t distance = 64; distance > 0; distance /= 2) cell += index < distance ? 1U << 24 : 0;
  return cell;
}

template <typename T>
vector<T> folded(const vector<T>& in) {
  vector<T> cells = in;
  const auto add = [&](uint32_t threads, uint32_t distance, T factor) {
    for (uint32_t t = 0; t < threads; ++t) {
      cells[t] = static_cast<T>(cells[t] + static_cast<T>(factor * cells[t + distance]));
    }
  };
  add(64, 64, 1);
  add(33, 33, 3);
  add(7, 7, 1);
  add(32, 32, 1);
  add(16, 16, 1);
  add(8, 8, 1);
  add(4, 4, 1);
  for (uint32_t t = 0; t < 2; ++t) cells[t + 20] = static_cast<T>(cells[t] + cells[t + 2]);
  add(4, 19, 1);
  add(2, 21, 1);
  cells[3] = static_cast<T>(cells[0] + cells[1]);
  return cells;
}

template <typename T>
void expect_folded(const char* kernel) {
  vector<T> values;
  for (uint32_t t = 0; t < 128; ++t) values.push_back(static_cast<T>(t * 7 % 61));
  Buffer<T> in(session(), values), out(session(), 128);
  kernels().run(kernel, Shape{{1}, {128}}, in, out);
  expect_bits(kernel, out.read(), folded(values));
}

TEST(Barrier, KnownFirstThreads) {
  expect_folded<uint8_t>("fold_u8");
  expect_folded<uint16_t>("fold_u16");
  expect_folded<float>("fold_f32");
  expect_folded<uint64_t>("fold_u64");
}

TEST(Barrier, WorkOfTheFirstThreads) {
  using Block = std::array<uint32_t, 2>;
  for (const auto& [width, height] : {Block{1, 1}, Block{32, 1}, Block{96, 1}, Block{128, 1},
                                      Block{500, 1}, Block{1024, 1}, Block{64, 4}, Block{48, 3}}) {
    const uint32_t blocks = 3, threads = width * height;
    Buffer<uint32_t> out(session(), blocks * threads);
    for (const int32_t n : {-5, 0, 1, 31, 32, 33, 64, 100, 255, 1000, 5000}) {
      kernels().run("low_threads", Shape{{blocks}, {width, height}}, out, n);
      vector<uint32_t> want;
      for (uint32_t i = 0; i < blocks * threads; ++i) want.push_back(of_low_thread(i % width, n));
      expect_bits("low_threads", out.read(), want);
    }
  }
}

TEST(Barrier, WarpsThatEndEarly) {
  const uint32_t block = 256;
  const auto values = random_u32(block, 5);
  Buffer<uint32_t> in(session(), values);
  for (const uint32_t n : {1u, 2u, 3u, 9u}) {
    Buffer<uint32_t> out(session(), vector<uint32_t>(block, 99));
    kernels().run("early_warps", Shape{{1}, {block}}, in, out, n);
    vector<uint32_t> want(block, 99);
    for (uint32_t t = 0; t < 128; ++t) {
      if (t / 32 == n || (t < 32 && (n == 1 || n == 2))) continue;
      uint32_t sum = values[127 - t], other = values[127 - (t ^ 1)];
      for (uint32_t k = 1; k < 3; ++k) {
        const uint32_t before = sum;
        sum += other + k;
        other += before + k;
      }
      want[t] = sum;
    }
    expect_bits("early_warps", out.read(), want);
  }
}

TEST(Barrier, StridedReduction) {
  const uint32_t n = 5000;
  const auto values = random_u32(n, 2);
  Buffer<uint32_t> in(session(), values);
  for (const uint32_t block : {1u, 17u, 32u, 100u, 256u, 1000u}) {
    const uint32_t blocks = (n + block - 1) / block;
    Buffer<uint32_t> sums(session(), blocks);
    kernels().run("strided_reduction", Shape{{blocks}, {block}, block * 4}, in, sums, n);
    vector<uint32_t> want(blocks, 0);
    for (uint32_t i = 0; i < n; ++i) want[i / block] += values[i];
    expect_bits("strided_reduction", sums.read(), want);
  }
}

TEST(Barrier, HillisSteeleScan) {
  const uint32_t n = 1000, block = 192;
  const auto values = random_u32(n, 3);
  Buffer<uint32_t> in(session(), values), out(session(), n);
  kernels().run("hillis_steele_scan", cover(n, block), in, out, n);
  vector<uint32_t> want(n);
  for (uint32_t i = 0; i < n; ++i) want[i] = values[i] + (i % block == 0 ? 0 : want[i - 1]);
  expect_bits("hillis_steele_scan", out.read(), want);
}

TEST(Barrier, BlellochScan) {
  const uint32_t n = 512 * 5;
  const auto values = cast_all<int32_t>(random_u32(n, 4));
  Buffer<int32_t> in(session(), values), out(session(), n);
  kernels().run("blelloch_scan", Shape{{5}, {256}}, in, out);
  vector<int32_t> want(n);
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    if (i % 512 == 0) sum = 0;
    want[i] = static_cast<int32_t>(sum);
    sum += static_cast<uint32_t>(values[i]);
  }
  expect_bits("blelloch_scan", out.read(), want);
}

TEST(Barrier, BitonicSort) {
  const uint32_t n = 512 * 7;
  auto values = random_u32(n, 5);
  for (uint32_t i = 0; i < 512; ++i) values[i] %= 4;
  Buffer<uint32_t> data(session(), values);
  kernels().run("bitonic_sort", Shape{{7}, {256}}, data);
  for (uint32_t i = 0; i < n; i += 512) {
    std::sort(values.begin() + i, values.begin() + i + 512);
  }
  expect_bits("bitonic_sort", data.read(), values);
}

void check_matmul(const char* kernel, uint32_t tile, int m, int n, int k) {
  const auto a = random_f32(m * k, 6, -1.0f, 1.0f), b = random_f32(k * n, 7, -1.0f, 1.0f);
  Buffer<float> in_a(session(), a), in_b(session(), b), out(session(), m * n);
  const auto blocks = [&](int size) { return (static_cast<uint32_t>(size) + tile - 1) / tile; };
  kernels().run(kernel, Shape{{blocks(n), blocks(m)}, {tile, tile}}, in_a, in_b, out, m, n, k);
  vector<float> want;
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      float sum = 0;
      for (int p = 0; p < k; ++p) sum = std::fma(a[row * k + p], b[p * n + column], sum);
      want.push_back(sum);
    }
  }
  // Padding with zeros adds fma(0, 0, sum) = sum, or turns -0 into +0: none of which occurs here.
  expect_bits(kernel, out.read(), want);
}

TEST(Barrier, MatrixProductTile16) {
  check_matmul("matmul_tile16", 16, 64, 64, 64);
  check_matmul("matmul_tile16", 16, 50, 37, 61);
}

TEST(Barrier, MatrixProductTile32) {
  check_matmul("matmul_tile32", 32, 64, 96, 64);
  check_matmul("matmul_tile32", 32, 33, 70, 45);
}

TEST(Barrier, Transpose) {
  for (const auto& [width, height] : {std::pair{64, 96}, std::pair{77, 50}}) {
    const auto values = random_u32(width * height, 8);
    Buffer<uint32_t> in(session(), values), out(session(), width * height);
    const Dim grid{static_cast<uint32_t>(width + 31) / 32, static_cast<uint32_t>(height + 31) / 32};
    kernels().run("transpose", Shape{grid, {32, 8}}, in, out, width, height);
    vector<uint32_t> want;
    for (int x = 0; x < width; ++x) {
      for (int y = 0; y < height; ++y) want.push_back(values[y * width + x]);
    }
    expect_bits("transpose", out.read(), want);
  }
}

TEST(Barrier, Stencil1d) {
  const int n = 1000;
  const auto values = random_f32(n, 9, -1.0f, 1.0f);
  Buffer<float> in(session(), values), out(session(), n);
  kernels().run("stencil_1d", cover(n, 128), in, out, n);
  vector<float> want;
  for (int i = 0; i < n; ++i) {
    float sum = 0;
    for (int k = -4; k <= 4; ++k) {
      const float value = i + k >= 0 && i + k < n ? values[i + k] : 0.0f;
      sum += value * static_cast<float>(k + 5);
    }
    want.push_back(sum);
  }
  expect_bits("stencil_1d", out.read(), want);
}

/// One 16x16 block of stencil_2d, whose halo stays as it was loaded.
void stencil_block(const vector<float>& in, vector<float>& out, int width, int height, int bx,
                   int by, int steps) {
  std::array<std::array<float, 18>, 18> tile{};
  for (int y = 0; y < 18; ++y) {
    for (int x = 0; x < 18; ++x) {
      const int gx = bx * 16 + x - 1, gy = by * 16 + y - 1;
      if (gx >= 0 && gy >= 0 && gx < width && gy < height) tile[y][x] = in[gy * width + gx];
    }
  }
  for (int s = 0; s < steps; ++s) {
    const auto old = tile;
    for (int y = 1; y <= 16; ++y) {
      for (int x = 1; x <= 16; ++x) {
        const float sum = old[y - 1][x] + old[y + 1][x] + old[y][x - 1] + old[y][x + 1];
        tile[y][x] = std::fma(0.2f, sum - 4.0f * old[y][x], old[y][x]);
      }
    }
  }
  for (int y = by * 16; y < std::min(height, by * 16 + 16); ++y) {
    for (int x = bx * 16; x < std::min(width, bx * 16 + 16); ++x) {
      out[y * width + x] = tile[y - by * 16 + 1][x - bx * 16 + 1];
    }
  }
}

TEST(Barrier, Stencil2d) {
  const int width = 70, height = 45, steps = 5;
  const auto values = random_f32(width * height, 10, 0.0f, 1.0f);
  Buffer<float> in(session(), values), out(session(), width * height);
  kernels().run("stencil_2d", Shape{{5, 3}, {16, 16}}, in, out, width, height, steps);
  vector<float> want(width * height);
  for (int by = 0; by < 3; ++by) {
    for (int bx = 0; bx < 5; ++bx) stencil_block(values, want, width, height, bx, by, steps);
  }
  expect_bits("stencil_2d", out.read(), want);
}

TEST(Barrier, EarlyExit) {
  for (const uint32_t n : {1u, 31u, 100u, 128u, 333u}) {
    const auto values = random_u32(n, 11);
    Buffer<uint32_t> in(session(), values), out(session(), n);
    kernels().run("early_exit", cover(n, 128), in, out, n);
    vector<uint32_t> want(n);
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t start = i / 128 * 128, last = std::min(n - start, 128u) - 1;
      const uint32_t from = i - start == last ? 0 : i - start + 1;
      want[i] = values[start + last - from] * 3;
    }
    expect_bits("early_exit", out.read(), want);
  }
}

TEST(Barrier, InFunction) {
  const uint32_t blocks = 6, block = 96;
  const auto values = random_u32(blocks * block, 12);
  const vector<uint32_t> rounds{0, 1, 2, 7, 13, 40};
  Buffer<uint32_t> in(session(), values), in_rounds(session(), rounds);
  Buffer<uint32_t> out(session(), blocks * block);
  kernels().run("barrier_in_function", Shape{{blocks}, {block}}, in, in_rounds, out);
  auto want = values;
  for (uint32_t b = 0; b < blocks; ++b) {
    const auto row = want.begin() + b * block;
    for (uint32_t k = 0; k < rounds[b]; ++k) {
      std::for_each(row, row + block, [&](uint32_t& value) { value += k; });
      std::rotate(row, row + (k + 1) % block, row + block);
    }
  }
  expect_bits("barrier_in_function", out.read(), want);
}

TEST(Barrier, ByBlock) {
  const uint32_t blocks = 11;
  auto want = random_u32(blocks * 64, 13);
  Buffer<uint32_t> data(session(), want);
  kernels().run("barriers_by_block", Shape{{blocks}, {64}}, data);
  for (uint32_t b = 0; b < blocks; ++b) {
    const auto row = want.begin() + b * 64;
    if (b % 3 == 0) std::reverse(row, row + 64);
    for (uint32_t k = 0; b % 3 == 1 && k < b; ++k) {
      std::rotate(row, row + 1, row + 64);
      std::for_each(row, row + 64, [&](uint32_t& value) { value += k; });
    }
    for (uint32_t t = 0; t < 64; t += 2) std::swap(row[t], row[t + 1]);
  }
  expect_bits("barriers_by_block", data.read(), want);
}

TEST(Barrier, UntilConverged) {
  const int blocks = 4, n = 160;
  auto want = cast_all<int32_t>(random_u32(blocks * n, 14));
  std::sort(want.begin(), want.begin() + n);  // the first block has nothing to do
  Buffer<int32_t> in(session(), want), out(session(), blocks * n), rounds(session(), blocks);
  kernels().run("until_converged", Shape{{blocks}, {n}}, in, out, rounds);
  for (int b = 0; b < blocks; ++b) std::sort(want.begin() + b * n, want.begin() + (b + 1) * n);
  expect_bits("until_converged", out.read(), want);
  for (const int32_t count : rounds.read()) EXPECT_EQ(count, n + 1);
}

TEST(Barrier, VotesOfBlock) {
  const int n = 700, block = 96;
  auto values = cast_all<int32_t>(random_u32(n, 15));
  for (int i = 0; i < n; ++i) values[i] = values[i] % 30 + (i / block % 2 == 0 ? 30 : 0);
  for (int32_t& value : values) value = std::min(value, 70);
  values[300] = 77;
  Buffer<int32_t> in(session(), values), out(session(), n);
  kernels().run("votes_of_block", cover(n, block), in, out, n);
  vector<int32_t> want;
  for (int i = 0; i < n; ++i) {
    int count = 0, all = 1, any = 0;
    const int start = i / block * block;
    for (int k = start; k < std::min(start + block, n); ++k) {
      count += values[k] > 10;
      all &= values[k] >= 0;
      any |= values[k] == 77;
    }
    want.push_back(count | all << 16 | any << 17);
  }
  expect_bits("votes_of_block", out.read(), want);
}

TEST(Barrier, Histogram) {
  const uint32_t n = 100001;
  auto values = cast_all<uint8_t>(random_u32(n, 16));
  for (uint32_t i = 0; i < n; i += 2) values[i] = values[i] < 200 ? 7 : 9;
  Buffer<uint8_t> in(session(), values);
  Buffer<uint32_t> bins(session(), vector<uint32_t>(256, 3));
  kernels().run("histogram", Shape{{13}, {160}}, in, bins, n);
  vector<uint32_t> want(256, 3);
  for (const uint8_t value : values) ++want[value];
  expect_bits("histogram", bins.read(), want);
}

TEST(Barrier, DynamicShared) {
  const int n = 500, block = 125, shift = 11;
  const auto values = random_f64(n, 17, -1.0, 1.0);
  Buffer<double> in(session(), values), out(session(), n);
  kernels().run("dynamic_shared", Shape{{4}, {block}, block * 12}, in, out, n, shift);
  vector<double> want;
  for (int i = 0; i < n; ++i) {
    const int t = i % block, start = i - t;
    const int next = ((t + 1) % block * 7 + shift) % block;
    want.push_back(values[start + (t * 7 + shift) % block] + next);
  }
  expect_bits("dynamic_shared", out.read(), want);
}

TEST(Barrier, LargeShared) {
  const uint32_t words = 25000, blocks = 3;
  const auto values = random_u32(words * blocks, 18);
  Buffer<uint32_t> in(session(), values), out(session(), words * blocks);
  const Shape shape{{blocks}, {256}, words * 4};
  const km_status refused = kernels().try_run("large_shared", shape, in, out, words);
  EXPECT_EQ(refused, KM_ERROR_INVALID_LAUNCH) << "100,000 bytes without opting in";
  kernels().set_dynamic_shared_limit("large_shared", words * 4);
  kernels().run("large_shared", shape, in, out, words);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < words * blocks; ++i) {
    const uint32_t k = i % words, start = i - k;
    want.push_back(values[start + words - 1 - k] + values[start + k * 977 % words]);
  }
  expect_bits("large_shared", out.read(), want);
}

TEST(Barrier, GameOfLife) {
  const int worlds = 3, generations = 20;
  auto want = cast_all<uint8_t>(random_u32(worlds * 1024, 19));
  for (uint8_t& cell : want) cell &= 1;
  Buffer<uint8_t> in(session(), want), out(session(), worlds * 1024);
  kernels().run("game_of_life", Shape{{worlds}, {32, 32}}, in, out, generations);
  for (int g = 0; g < generations; ++g) {
    const auto old = want;
    for (int i = 0; i < worlds * 1024; ++i) {
      const int x = i % 32, y = i / 32 % 32, base = i - i % 1024;
      int alive = -old[i];
      for (int k = 0; k < 9; ++k) {
        alive += old[base + (y + k / 3 + 31) % 32 * 32 + (x + k % 3 + 31) % 32];
      }
      want[i] = alive == 3 || (alive == 2 && old[i] == 1);
    }
  }
  expect_bits("game_of_life", out.read(), want);
}

TEST(Barrier, RowSums) {
  for (const Dim block : {Dim{20, 12}, Dim{16, 3}, Dim{5, 7}, Dim{1, 9}}) {
    const uint32_t n = 4 * block.x * block.y;
    const auto values = cast_all<int32_t>(random_u32(n, 20));
    Buffer<int32_t> in(session(), values), out(session(), n);
    kernels().run("row_sums", Shape{{4}, block}, in, out);
    vector<int32_t> want;
    for (uint32_t i = 0; i < n; ++i) {
      uint32_t sum = 0;
      const uint32_t x = i % block.x;
      for (uint32_t k = 0; k < block.x; ++k) {
        sum += static_cast<uint32_t>(values[i - x + k]) * (k + 1);
      }
      want.push_back(static_cast<int32_t>(sum - x));
    }
    expect_bits("row_sums", out.read(), want);
  }
}

TEST(Barrier, RadixSplit) {
  auto want = random_u32(256 * 4, 21);
  for (uint32_t& key : want) key &= 0xFFFF;
  Buffer<uint32_t> keys(session(), want);
  kernels().run("radix_split", Shape{{4}, {256}}, keys, int32_t{16});
  for (int b = 0; b < 4; ++b) std::sort(want.begin() + b * 256, want.begin() + (b + 1) * 256);
  expect_bits("radix_split", keys.read(), want);
}

/// What several packets compute side by side.
TEST(Barrier, SumsOfRows) {
  const int32_t row_words = 16, rounds = 5;
  Buffer<float> out(session(), 256);
  kernels().run("sums_of_rows", Shape{{3}, {16, 16}}, out, row_words, rounds);
  vector<float> want(256, 0.0f);
  for (int round = 0; round < rounds; ++round) {
    const auto at = [&](int y, int x) { return static_cast<float>(round + x + y); };
    for (int i = 0; i < 256; ++i) {
      for (int k = 0; k < 16; ++k) want[i] += at(i / 16, k) * at(k, i % 16);
    }
  }
  expect_bits("sums_of_rows", out.read(), want);
}

TEST(Barrier, MovingPointers) {
  const auto values = random_u32(4096, 22);
  Buffer<uint32_t> in(session(), values);
  for (const int32_t step : {7, -5, 0}) {
    for (const Dim block : {Dim{128}, Dim{16, 8}, Dim{8, 16}}) {
      const int32_t rounds = 4;
      Buffer<uint32_t> out(session(), 128 * 8);
      kernels().run("moving_pointers", Shape{{1}, block}, in, out, step, rounds);
      vector<uint32_t> want, sums(128);
      for (uint32_t round = 0; round < 8; ++round) {
        for (uint32_t t = 0; t < 128; ++t) {
          const uint32_t other = 127 - t;
          const uint32_t cell = values[other + round * 128] + 3 * values[4095 - other - round * 64];
          const int32_t at =
              static_cast<int32_t>(2 * t + 100 + round / 4) + static_cast<int32_t>(round) * step;
          sums[t] = (sums[t] * 5 + cell + values[at]) ^ values[at + step];
        }
        want.insert(want.end(), sums.begin(), sums.end());
      }
      expect_bits("moving_pointers", out.read(), want);
    }
  }
}

/// Of several packets side by side the message still names the one that faulted.
TEST(Barrier, RowsFarAway) {
  KM_NEEDS_FAULTS();
  Session own;
  const int32_t row_words = 1 << 20, rounds = 1;
  Buffer<float> out(own, 256);
  EXPECT_EQ(own.cuda("threads/barrier.cu")
                .try_run("sums_of_rows", Shape{{1}, {16, 16}}, out, row_words, rounds),
            KM_ERROR_ILLEGAL_ADDRESS);
  const std::string message = last_error_message();
  const size_t at = message.find("offset ");
  ASSERT_NE(at, std::string::npos) << message;
  const auto row = std::stoull(message.substr(at + 7)) / (4ull * row_words);
  EXPECT_NE(message.find("," + std::to_string(row) + ",0)"), std::string::npos) << message;
}

}  // namespace
}  // namespace km::kernels
