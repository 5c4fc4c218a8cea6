#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

Module& kernels() { return session().cuda("memory/memory.cu"); }

TEST(Memory, VectorOfFloats) {
  const uint32_t n = 1003;
  const auto in_values = random_f32(4 * n, 1, -9.0f, 9.0f);
  Buffer<float> in(session(), in_values), out(session(), 4 * n);
  kernels().run("vector_float4", cover(n), in, out, n);
  vector<float> want(4 * n);
  for (uint32_t i = 0; i < n; ++i) {
    const float* v = &in_values[4 * i];
    const std::array<float, 4> row{v[3], v[0] + v[1], v[2] * 2, v[1]};
    std::copy(row.begin(), row.end(), want.begin() + 4 * (n - 1 - i));
  }
  expect_bits("vector_float4", out.read(), want);
}

TEST(Memory, VectorOfSmallIntegers) {
  const uint32_t n = 777;
  const auto bytes = cast_all<uint8_t>(random_u32(4 * n, 2));
  const auto shorts = cast_all<int16_t>(random_u32(2 * n, 3));
  Buffer<uint8_t> in_bytes(session(), bytes), out(session(), 4 * n);
  Buffer<int16_t> in_shorts(session(), shorts);
  Buffer<int32_t> sums(session(), n);
  kernels().run("vector_small", cover(n), in_bytes, in_shorts, out, sums, n);
  vector<uint8_t> want;
  vector<int32_t> want_sums;
  for (uint32_t i = 0; i < n; ++i) {
    const uint8_t* b = &bytes[4 * i];
    want.insert(want.end(), {b[3], b[2], b[1], b[0]});
    want_sums.push_back(b[0] + b[1] - b[2] + b[3] + shorts[2 * i] * 3 - shorts[2 * i + 1]);
  }
  expect_bits("vector_small bytes", out.read(), want);
  expect_bits("vector_small sums", sums.read(), want_sums);
}

TEST(Memory, VectorOfWideTypes) {
  const uint32_t n = 555;
  const auto in_values = random_bits_f64(2 * n, 4);
  Buffer<double> in(session(), in_values);
  Buffer<uint64_t> out(session(), 2 * n);
  kernels().run("vector_wide", cover(n), in, out, n);
  vector<uint64_t> want;
  for (uint32_t i = 0; i < n; ++i) {
    want.insert(want.end(), {bits_of(in_values[2 * i + 1]), bits_of(in_values[2 * i]) ^ 1});
  }
  expect_bits("vector_wide", out.read(), want);
}

TEST(Memory, VectorsSideBySide) {
  for (const uint32_t n : {512u, 333u}) {
    const auto words = random_u32(4 * n, 7);
    const auto wide = random_bits_f64(2 * n, 8);
    Buffer<uint32_t> in4(session(), words), in2(session(), words);
    Buffer<uint32_t> out4(session(), 4 * n), out2(session(), 2 * n);
    Buffer<double> in_wide(session(), wide);
    Buffer<uint64_t> out_wide(session(), 2 * n);
    kernels().run("turned_words", cover(n), in4, in2, in_wide, out4, out2, out_wide, n);
    vector<uint32_t> want4, want2;
    vector<uint64_t> want_wide;
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t* v = &words[4 * i];
      want4.insert(want4.end(), {v[3], v[0], v[2], v[1]});
      want2.insert(want2.end(), {words[2 * i + 1], words[2 * i]});
      want_wide.insert(want_wide.end(), {bits_of(wide[2 * i + 1]), bits_of(wide[2 * i])});
    }
    expect_bits("four words", out4.read(), want4);
    expect_bits("two words", out2.read(), want2);
    expect_bits("two doubles", out_wide.read(), want_wide);
  }
}

struct Particle {
  float x, y, z;
  uint8_t kind;
  uint16_t id;
  double mass;
};

TEST(Memory, Structures) {
  const uint32_t n = 301;
  Random random(5);
  vector<Particle> particles(n);
  vector<uint32_t> order(n);
  for (uint32_t i = 0; i < n; ++i) {
    particles[i] = {random.uniform(0, 1),    random.uniform(0, 1),         random.uniform(0, 1),
                    static_cast<uint8_t>(i), static_cast<uint16_t>(i * 7), random.uniform64(1, 2)};
    order[i] = random.below(n);
  }
  Buffer<Particle> in(session(), particles), out(session(), n);
  Buffer<uint32_t> in_order(session(), order);
  kernels().run("structures", cover(n), in, out, in_order, n);
  const auto got = out.read();
  for (uint32_t i = 0; i < n; ++i) {
    const Particle& p = particles[order[i]];
    const Particle want{
        p.x + 1,     p.y, p.z, static_cast<uint8_t>(p.kind ^ 0x5A), static_cast<uint16_t>(p.id + i),
        p.mass * 0.5};
    ASSERT_EQ(got[i].x, want.x) << i;
    ASSERT_EQ(got[i].y, want.y) << i;
    ASSERT_EQ(got[i].z, want.z) << i;
    ASSERT_EQ(got[i].kind, want.kind) << i;
    ASSERT_EQ(got[i].id, want.id) << i;
    ASSERT_EQ(got[i].mass, want.mass) << i;
  }
}

TEST(Memory, ArraysToStructures) {
  const uint32_t n = 1234;
  const auto x = random_u32(n, 6), y = random_u32(n, 7), z = random_u32(n, 8);
  Buffer<uint32_t> in_x(session(), x), in_y(session(), y), in_z(session(), z);
  Buffer<uint32_t> out(session(), 3 * n);
  kernels().run("soa_to_aos", cover(n, 96), in_x, in_y, in_z, out, n);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < n; ++i) want.insert(want.end(), {x[i], y[i], z[i]});
  expect_bits("soa_to_aos", out.read(), want);
}

TEST(Memory, ReadOnlyGather) {
  const uint32_t n = 2049, size = 4096;
  const auto table = random_f32(size, 9, -1.0f, 1.0f);
  auto index = cast_all<int32_t>(random_u32(n, 10));
  for (int32_t& i : index) i &= size - 1;
  Buffer<float> in(session(), table), out(session(), n);
  Buffer<int32_t> in_index(session(), index);
  kernels().run("read_only_gather", cover(n), in, in_index, out, n);
  vector<float> want;
  for (const int32_t i : index) want.push_back(table[i] + table[i ^ 1]);
  expect_bits("read_only_gather", out.read(), want);
}

TEST(Memory, Scatter) {
  const uint32_t n = 3001;
  vector<uint32_t> index(n), want(n, 0xCDCDCDCD);
  const auto value = random_u32(n, 11);
  for (uint32_t i = 0; i < n; ++i) index[i] = static_cast<uint32_t>(uint64_t{i} * 1009 % n);
  Buffer<uint32_t> in_index(session(), index), in_value(session(), value), out(session(), n);
  kernels().run("scatter", cover(n), in_index, in_value, out, n);
  for (uint32_t i = 0; i < n; ++i) {
    if (value[i] % 4 != 0) want[index[i]] = value[i];
  }
  expect_bits("scatter", out.read(), want);
}

TEST(Memory, Strides) {
  const uint32_t n = 997;
  const auto in_values = random_u32(2 * n, 12);
  Buffer<uint32_t> in(session(), in_values);
  for (const uint32_t stride : {0u, 1u, 2u, 7u, 1000u}) {
    Buffer<uint32_t> out(session(), n);
    kernels().run("strides", cover(n), in, out, stride, n);
    vector<uint32_t> want;
    for (uint32_t i = 0; i < n; ++i) {
      want.push_back(in_values[2 * i] + in_values[2 * n - 1 - i] * 3 +
                     in_values[i * stride % (2 * n)]);
    }
    expect_bits("strides", out.read(), want);
  }
}

TEST(Memory, ManyApart) {
  constexpr uint32_t kThreads = 75, kWords = 43, kHalves = 19;
  const auto words = random_u32(kThreads * kWords, 21);
  std::vector<uint16_t> halves;
  for (uint32_t i = 0; i < kThreads * kHalves; ++i) halves.push_back(words[i] >> 16);
  const std::vector<uint32_t> no_words(words.size());
  const std::vector<uint16_t> no_halves(halves.size());
  Buffer<uint32_t> in(session(), words), out(session(), no_words);
  Buffer<uint16_t> in_halves(session(), halves), out_halves(session(), no_halves);
  kernels().run("many_apart", cover(kThreads, 64), in, out, in_halves, out_halves, kThreads);
  std::vector<uint32_t> want(no_words);
  std::vector<uint16_t> want_halves(no_halves);
  for (uint32_t i = 0; i < kThreads; ++i) {
    for (uint32_t k = 0; k < 41; ++k) want[i * kWords + k] = words[i * kWords + (k + 1) % 41] + k;
    for (uint32_t k = 0; k < 17; ++k) {
      want_halves[i * kHalves + k] = halves[i * kHalves + (k + 1) % 17] ^ i;
    }
  }
  expect_bits("many_apart", out.read(), want);
  expect_bits("many_apart halves", out_halves.read(), want_halves);
}

TEST(Memory, ByteNeighbours) {
  const uint32_t n = 1001;
  const auto in_values = cast_all<uint8_t>(random_u32(n, 13));
  Buffer<uint8_t> in(session(), in_values), out(session(), n);
  kernels().run("byte_neighbours", cover(n), in, out, n);
  vector<uint8_t> want(n, 0xCD);
  for (uint32_t i = 0; i < n; ++i) {
    if (i % 3 == 1) continue;
    const int left = i == 0 ? 0 : in_values[i - 1], right = i + 1 == n ? 0 : in_values[i + 1];
    want[i] = static_cast<uint8_t>(left + 2 * in_values[i] + right);
  }
  expect_bits("byte_neighbours", out.read(), want);
}

/// The numbers 0 to n - 1 in another order.
vector<uint32_t> shuffled(uint32_t n) {
  vector<uint32_t> order(n);
  for (uint32_t i = 0; i < n; ++i) order[i] = static_cast<uint32_t>(i * uint64_t{7919} % n);
  return order;
}

/// The array that byte_rows() makes of rows of `row` elements.
template <class T>
vector<T> moved_rows(const vector<uint32_t>& order, const vector<T>& in, uint32_t row) {
  vector<T> want(in.size());
  std::memset(want.data(), 0xCD, want.size() * sizeof(T));
  for (uint32_t i = 0; i < order.size(); ++i) {
    if (i % 5 == 3) continue;
    std::copy_n(&in[row * (order[i] ^ 1)], row, &want[row * order[i]]);
  }
  return want;
}

TEST(Memory, RowsOfBytesAndHalvesAtAnyPlace) {
  const uint32_t n = 1000;
  const auto order = shuffled(n);
  const auto bytes = cast_all<uint8_t>(random_u32(4 * n, 31));
  const auto pairs = cast_all<uint16_t>(random_u32(2 * n, 32));
  const auto fours = cast_all<uint16_t>(random_u32(4 * n, 33));
  Buffer<uint32_t> index(session(), order);
  Buffer<uint8_t> in4(session(), bytes), out4(session(), 4 * n);
  Buffer<uint16_t> in2(session(), pairs), out2(session(), 2 * n);
  Buffer<uint16_t> in8(session(), fours), out8(session(), 4 * n);
  kernels().run("byte_rows", cover(n), index, in4, out4, in2, out2, in8, out8, n);
  expect_bits("rows of 4 bytes", out4.read(), moved_rows(order, bytes, 4));
  expect_bits("rows of 2 halves", out2.read(), moved_rows(order, pairs, 2));
  expect_bits("rows of 4 halves", out8.read(), moved_rows(order, fours, 4));
}

TEST(Memory, BytesOfWordsAtAnyPlace) {
  const uint32_t n = 1000;
  const auto order = shuffled(n);
  const auto bytes = cast_all<uint8_t>(random_u32(n + 15, 34));
  Buffer<uint32_t> index(session(), order);
  Buffer<uint8_t> in(session(), bytes);
  Buffer<uint64_t> out(session(), 2 * n);
  kernels().run("bytes_of_words", cover(n), index, in, out, n);
  vector<uint64_t> want(2 * n, 0xCDCDCDCDCDCDCDCD);
  for (uint32_t i = 0; i < n; ++i) {
    if (i % 7 != 2) std::memcpy(&want[2 * i], &bytes[order[i]], 16);
  }
  expect_bits("bytes_of_words", out.read(), want);
}

struct Matrix {
  float m[9];
  int32_t flags[2];
  double scale;
};

TEST(Memory, StructureArgument) {
  const uint32_t n = 500;
  const auto in_values = random_f32(3 * n, 14, -5.0f, 5.0f);
  const Matrix matrix{{1, 2, 3, -4, 5.5f, 6, 7, -8, 9.25f}, {0x5A, 0x0F}, 0.3};
  const int8_t sign = -1;
  const int16_t bias = -300;
  Buffer<float> in(session(), in_values), out(session(), 3 * n);
  kernels().run("structure_argument", cover(n), matrix, in, out, sign, bias, n);
  vector<float> want;
  for (uint32_t i = 0; i < n; ++i) {
    const float* v = &in_values[3 * i];
    for (int row = 0; row < 3; ++row) {
      const float* r = matrix.m + 3 * row;
      float sum = std::fma(r[0], v[0], std::fma(r[1], v[1], r[2] * v[2]));
      if (matrix.flags[row % 2] >> (i % 8) & 1) sum = -sum;
      want.push_back(static_cast<float>(sum * matrix.scale) * -1.0f + -300.0f);
    }
  }
  expect_bits("structure_argument", out.read(), want);
}

TEST(Memory, ConstantMemory) {
  const uint32_t n = 640;
  const auto in_values = cast_all<uint8_t>(random_u32(n, 15));
  const auto table = cast_all<int32_t>(random_u32(256, 16));
  const float weights[5] = {0.0625f, 0.25f, 0.375f, 0.25f, 0.0625f};
  kernels().write_global("c_table", table.data(), table.size() * 4);
  Buffer<uint8_t> in(session(), in_values);
  Buffer<float> out(session(), n);
  Buffer<int32_t> looked_up(session(), n);
  kernels().run("constant_memory", cover(n), in, out, looked_up, n);
  vector<float> want;
  vector<int32_t> want_looked_up;
  for (int i = 0; i < static_cast<int>(n); ++i) {
    float sum = 0;
    for (int k = -2; k <= 2; ++k) {
      sum = std::fma(weights[k + 2], in_values[std::clamp(i + k, 0, static_cast<int>(n) - 1)], sum);
    }
    want.push_back(sum);
    want_looked_up.push_back(table[in_values[i]]);
  }
  expect_bits("constant_memory", out.read(), want);
  expect_bits("constant_memory table", looked_up.read(), want_looked_up);
}

/// A session of its own: the kernels change the module's globals.
TEST(Memory, GlobalInitialisers) {
  Session fresh;
  Module& module = fresh.cuda("memory/memory.cu");
  Buffer<int32_t> ints(fresh, 14);
  Buffer<float> floats(fresh, 5);
  Buffer<int64_t> wide(fresh, 1);
  module.run("global_initialisers", Shape{{1}, {32}}, ints, floats, wide);
  vector<int32_t> want{82, 13 + 15 * 100, 'm'};
  for (const char c : std::string("kernelmill") + '\0') want.push_back(c);
  expect_bits("initialised integers", ints.read(), want);
  expect_bits("initialised floats", floats.read(),
              vector<float>{1.5f, -2.5f, 3.25f, 1e-40f, 3.25f});
  EXPECT_EQ(wide.read()[0], -1234567890123456789);
}

TEST(Memory, GlobalsKeepTheirValues) {
  Session fresh;
  Module& module = fresh.cuda("memory/memory.cu");
  module.run("global_update", Shape{{1}, {64}}, int32_t{4});
  module.run("global_update", Shape{{1}, {64}}, int32_t{6});
  int32_t counter = 0;
  module.read_global("g_counter", &counter, sizeof counter);
  EXPECT_EQ(counter, 51);
  vector<int32_t> array(8);
  module.read_global("g_array", array.data(), 32);
  expect_bits("g_array", array, vector<int32_t>{40, 44, 48, 52, 56, 60, 64, 68});
  Buffer<int32_t> ints(fresh, 14);
  Buffer<float> floats(fresh, 5);
  Buffer<int64_t> wide(fresh, 1);
  const int32_t seven = 7;
  module.write_global("g_counter", &seven, sizeof seven);
  vector<int32_t> doubled(12);
  module.run("global_update", Shape{{1}, {8}}, int32_t{0});
  module.run("global_initialisers", Shape{{1}, {32}}, ints, floats, wide);
  EXPECT_EQ(ints.read()[0], 14);
  EXPECT_EQ(ints.read()[1], 80 + 96 * 100);
}

TEST(Memory, LocalArray) {
  const uint32_t n = 1000;
  const auto in_values = random_u32(n, 17);
  Buffer<uint32_t> in(session(), in_values), out(session(), n);
  kernels().run("local_array", cover(n), in, out, n);
  vector<uint32_t> want;
  for (const uint32_t start : in_values) {
    std::array<uint32_t, 16> bins;
    for (uint32_t k = 0; k < 16; ++k) bins[k] = k;
    uint32_t x = start;
    for (int k = 0; k < 20; ++k, x = x * 1664525u + 1013904223u) bins[x % 16] += x >> 8;
    uint32_t sum = 0;
    for (uint32_t k = 0; k < 16; ++k) sum = sum * 31 + bins[(k + (start >> 4)) % 16];
    want.push_back(sum);
  }
  expect_bits("local_array", out.read(), want);
}

TEST(Memory, LocalArrayEscapes) {
  const uint32_t n = 200;
  auto want = cast_all<uint8_t>(random_u32(13 * n, 18));
  Buffer<uint8_t> in(session(), want), out(session(), 13 * n);
  kernels().run("local_escapes", cover(n, 64), in, out, n);
  for (uint32_t i = 0; i < n; ++i) {
    const auto row = want.begin() + 13 * i;
    std::reverse(row, row + 3 + i % 11);
  }
  expect_bits("local_escapes", out.read(), want);
}

TEST(Memory, LocalSort) {
  const uint32_t n = 400;
  auto want = cast_all<int32_t>(random_u32(12 * n, 19));
  for (size_t i = 0; i < want.size(); i += 5) want[i] %= 3;
  Buffer<int32_t> in(session(), want), out(session(), 12 * n);
  kernels().run("local_sort", cover(n), in, out, n);
  for (uint32_t i = 0; i < n; ++i) std::sort(want.begin() + 12 * i, want.begin() + 12 * (i + 1));
  expect_bits("local_sort", out.read(), want);
}

TEST(Memory, IndexWraps) {
  const uint32_t n = 3000, size = 1024;
  const auto in_values = random_u32(size, 20);
  Buffer<uint32_t> in(session(), in_values);
  for (const uint32_t base : {0u, 1000u, 0xFFFFFFF0u, 0x7FFFFFF5u}) {
    Buffer<uint32_t> out(session(), n);
    kernels().run("index_wraps", cover(n), in, out, base, size - 1, n);
    vector<uint32_t> want;
    for (uint32_t i = 0; i < n; ++i) want.push_back(in_values[(base + i * 3) % size]);
    expect_bits("index_wraps", out.read(), want);
  }
}

TEST(Memory, IndexWrapsToZero) {
  const uint32_t n = 1000, base = 0xFFFFFFFFu - 40;  // inside the second warp
  const auto in_values = random_u32(n, 21);
  Buffer<uint32_t> in(session(), in_values), out(session(), n);
  kernels().run("index_wraps_to_zero", Shape{{8}, {100}}, in, out, base, n);
  vector<uint32_t> want(n, 0xCDCDCDCD);
  for (uint32_t i = 41; i < 800; ++i) want[i - 41] = in_values[i - 41] + 1;
  expect_bits("index_wraps_to_zero", out.read(), want);
}

TEST(Memory, IndexSignedWrap) {
  const int32_t n = 500;
  const auto in_values = random_u32(2 * n, 22);
  Buffer<uint32_t> in(session(), in_values);
  for (const int32_t base : {-700, -17, 0x7FFFFFFF - 600}) {
    Buffer<uint32_t> out(session(), 2 * n);
    kernels().run("index_signed_wrap", Shape{{10}, {128}}, in, out, base, n);
    vector<uint32_t> want(2 * n, 0xCDCDCDCD);
    for (int64_t i = 0; i < 1280; ++i) {
      const auto wrapped = static_cast<int32_t>(static_cast<uint32_t>(base + i));
      if (wrapped >= -n && wrapped < n) want[wrapped + n] = in_values[wrapped + n] ^ 0xFF;
    }
    expect_bits("index_signed_wrap", out.read(), want);
  }
}

TEST(Memory, Index64Bit) {
  const int64_t rows = 37, columns = 53, pitch = 64;
  const auto in_values = cast_all<uint8_t>(random_u32(rows * pitch, 23));
  Buffer<uint8_t> in(session(), in_values), out(session(), rows * pitch);
  kernels().run("index_64bit", cover(rows * columns), in, out, pitch, rows, columns);
  vector<uint8_t> want(rows * pitch, 0xCD);
  for (int64_t row = 0; row < rows; ++row) {
    std::copy_n(in_values.begin() + (rows - 1 - row) * pitch, columns, want.begin() + row * pitch);
  }
  expect_bits("index_64bit", out.read(), want);
}

TEST(Memory, GridStride) {
  const uint32_t n = 100003;
  const auto x = random_f32(n, 24, -1.0f, 1.0f), y = random_f32(n, 25, -1.0f, 1.0f);
  for (const Shape shape : {Shape{{1}, {1}}, Shape{{3}, {33}}, Shape{{16}, {256}}}) {
    Buffer<float> in(session(), x), out(session(), y);
    kernels().run("grid_stride", shape, in, out, 1.5f, n);
    vector<float> want;
    for (uint32_t i = 0; i < n; ++i) want.push_back(std::fma(1.5f, x[i], y[i]));
    expect_bits("grid_stride", out.read(), want);
  }
}

/// A driver may end the loops of a thread (lavapipe does): that is a fault, never another result.
TEST(Memory, ManyRoundsAreRightOrAFault) {
  KM_NEEDS_FAULTS();
  const uint32_t n = 100003;
  const auto x = random_f32(n, 24, -1.0f, 1.0f), y = random_f32(n, 25, -1.0f, 1.0f);
  Session own;
  Buffer<float> in(own, x), out(own, y);
  const km_status status =
      own.cuda("memory/memory.cu").try_run("grid_stride", Shape{{1}, {1}}, in, out, 1.5f, n);
  if (status != KM_SUCCESS) {
    const std::string message = last_error_message();
    EXPECT_NE(message.find("the driver ends the loops"), std::string::npos) << message;
    return;
  }
  vector<float> want;
  for (uint32_t i = 0; i < n; ++i) want.push_back(std::fma(1.5f, x[i], y[i]));
  expect_bits("grid_stride", out.read(), want);
}

TEST(Memory, ThreeDimensions) {
  const uint32_t nx = 21, ny = 13, nz = 6;
  for (const Dim block :
       {Dim{32, 4, 2}, Dim{5, 3, 2}, Dim{1, 7, 3}, Dim{16, 16, 1}, Dim{8, 8, 8}}) {
    const Dim grid{(nx + block.x - 1) / block.x, (ny + block.y - 1) / block.y,
                   (nz + block.z - 1) / block.z};
    Buffer<uint32_t> out(session(), nx * ny * nz);
    kernels().run("three_dimensions", Shape{grid, block}, out, nx, ny, nz);
    vector<uint32_t> want;
    for (uint32_t z = 0; z < nz; ++z) {
      for (uint32_t y = 0; y < ny; ++y) {
        for (uint32_t x = 0; x < nx; ++x) {
          const uint32_t block_sum = x / block.x + y / block.y + z / block.z;
          want.push_back(x | y << 8 | z << 16 | block_sum << 24);
        }
      }
    }
    expect_bits("three_dimensions", out.read(), want);
  }
}

TEST(Memory, SpecialRegisters) {
  const Shape shape{{2, 3, 2}, {7, 5, 3}};
  const uint32_t threads = 105, blocks = 12;
  Buffer<uint32_t> out(session(), threads * blocks * 4);
  kernels().run("special_registers", shape, out);
  vector<uint32_t> want;
  for (uint32_t i = 0; i < threads * blocks; ++i) {
    const uint32_t thread = i % threads;
    want.insert(want.end(), {thread, thread % 32, thread / 32, 2 | 3 << 8 | 2 << 16});
  }
  expect_bits("special_registers", out.read(), want);
}

TEST(Memory, VolatileAccesses) {
  const uint32_t n = 300;
  auto values = random_u32(n, 26);
  Buffer<uint32_t> data(session(), values);
  kernels().run("volatile_accesses", cover(n), data, n);
  for (uint32_t& value : values) value = (value + 1) * 2;
  expect_bits("volatile_accesses", data.read(), values);
}

TEST(Memory, Templates) {
  const int32_t n = 333;
  auto a = cast_all<int32_t>(random_u32(n, 27));
  for (int32_t& value : a) value >>= 8;
  const auto b = random_f64(n, 28, -1.0, 1.0);
  Buffer<int32_t> in_a(session(), a), out_a(session(), n);
  Buffer<double> in_b(session(), b), out_b(session(), n);
  kernels().run("templates", cover(n), in_a, in_b, out_a, out_b, n);
  vector<int32_t> want_a;
  vector<double> want_b;
  for (int i = 0; i < n; ++i) {
    int32_t sum_a = 0;
    double sum_b = 0;
    for (int k = std::max(i - 3, 0); k <= std::min(i + 3, n - 1); ++k) sum_a += a[k];
    for (int k = std::max(i - 2, 0); k <= std::min(i + 2, n - 1); ++k) sum_b += b[k];
    want_a.push_back(sum_a);
    want_b.push_back(sum_b);
  }
  expect_bits("templates int", out_a.read(), want_a);
  expect_bits("templates double", out_b.read(), want_b);
}

/// Indices in [-n, n), in no order.
vector<int32_t> shuffled_indices(int32_t n) {
  vector<int32_t> index(n);
  for (int32_t i = 0; i < n; ++i) index[i] = static_cast<int32_t>(i * 2654435761u % (2 * n)) - n;
  return index;
}

TEST(Memory, ElementsByIndex) {
  const int32_t n = 300;
  const auto values = random_u32(4 * n, 51), fresh = random_u32(n, 52);
  const vector<int32_t> index = shuffled_indices(n);
  Buffer<int32_t> places(session(), index);
  Buffer<uint32_t> in(session(), values), from(session(), fresh);
  Buffer<uint32_t> out(session(), n), spread(session(), values);
  const uint64_t middle = in.address() + 4 * n;
  vector<uint32_t> want_picked, want_walked, want_spread = values;
  for (int32_t i = 0; i < n; ++i) {
    want_picked.push_back(values[n + index[i]]);
    uint32_t sum = 0;
    for (int32_t k = 0; k < 2 + i % 5; ++k) sum = sum * 3 + values[n + index[i] + 3 * k];
    want_walked.push_back(sum);
    want_spread[n + index[i]] = fresh[i];  // the last of those that meet wins, here
  }
  kernels().run("picked", cover(n), middle, places, out, n);
  expect_bits("picked", out.read(), want_picked);
  kernels().run("walked", cover(n), middle, places, out, n);
  expect_bits("walked", out.read(), want_walked);
  kernels().run("spread", Shape{{1}, {320}}, spread.address() + 4 * n, places, from, n);
  expect_bits("spread", spread.read(), want_spread);
}

/// Inactive lanes of a packet lie where nothing is mapped, active ones in the window.
template <class T>
void check_moved_down(const char* name, uint32_t threads, uint32_t distance,
                      const vector<T>& found) {
  vector<T> tile(threads), want;
  for (uint32_t t = 0; t < threads; ++t) tile[t] = static_cast<T>(3 * t + 1);
  const vector<T> before = tile;
  for (uint32_t t = distance; t < threads; ++t) {
    tile[t - distance] = static_cast<T>(before[t - distance] + 5);
  }
  for (uint32_t t = 0; t < threads; ++t) {
    want.push_back(t < distance ? static_cast<T>(t) : before[t - distance]);
    want.push_back(tile[t]);
  }
  expect_bits(name, found, want);
}

TEST(Memory, LanesBelowTheWindow) {
  for (const uint32_t threads : {33u, 64u, 128u}) {
    for (const uint32_t distance : {0u, 1u, 5u, 16u, 31u, 32u, 60u}) {
      const size_t n = size_t{2} * threads;
      Buffer<uint8_t> bytes(session(), n);
      Buffer<uint16_t> halves(session(), n);
      Buffer<float> words(session(), n);
      Buffer<double> longs(session(), n);
      Shape shape{{1}, {threads}};
      shape.shared_bytes = 8 * threads;
      kernels().run("below_window", shape, distance, bytes, halves, words, longs);
      check_moved_down("bytes", threads, distance, bytes.read());
      check_moved_down("halves", threads, distance, halves.read());
      check_moved_down("words", threads, distance, words.read());
      check_moved_down("longs", threads, distance, longs.read());
    }
  }
}

TEST(Memory, ElementsByHalvedIndex) {
  const int32_t width = 70, blocks = 3;
  vector<float> values(width * blocks);
  std::iota(values.begin(), values.end(), 0.5f);
  vector<float> want(values.size());
  for (size_t i = 0; i + 1 < values.size(); i += 2) {
    want[i] = values[i + 1];
    want[i + 1] = values[i] + 1;
  }
  Buffer<float> in(session(), values), out(session(), values.size());
  kernels().run("halved", Shape{{blocks}, {32}}, in, out, width);
  expect_bits("halved", out.read(), want);
}

/// A division of a negative number is no shift, and warps have numbers of both signs.
TEST(Memory, ElementsByDividedIndex) {
  constexpr int32_t kRows = 200, kThreads = 40, kRounds = 2;
  vector<float> values(4 * kRows);
  std::iota(values.begin(), values.end(), 0.5f);
  Buffer<float> in(session(), values);
  for (const int32_t start : {-80, -399, -200, -400, 0, 3, 64}) {
    Buffer<float> out(session(), vector<float>(4 * kRows));
    vector<float> want(4 * kRows);
    for (int32_t t = 0; t < kThreads * kRounds; ++t) {
      const int32_t place = start + 4 * t, row = kRows / 2 + place / 4;
      for (int32_t k = 0; k < 4; ++k) want[4 * row + k] = values[4 * row + k];
      want[4 * row] += static_cast<float>(place / 2 % 4);
    }
    Buffer<int32_t> first(session(), vector<int32_t>{start});
    const uint64_t middle = uint64_t{16} * (kRows / 2);
    kernels().run("divided", Shape{{1}, {kThreads}}, in.address() + middle, out.address() + middle,
                  first, kRounds);
    expect_bits("divided", out.read(), want);
  }
}

TEST(Memory, HalvedIndexWraps) {
  constexpr int32_t kRounds = 3, kThreads = 40;
  for (const int64_t first : {int64_t{-63}, int64_t{-20}, int64_t{0}, int64_t{INT32_MAX} - 90,
                              int64_t{INT32_MIN}, int64_t{INT32_MAX}}) {
    vector<int32_t> content(4 * kRounds * kThreads + 4), want;
    for (int32_t i = 0; i < 4; ++i) content[4 * kRounds * kThreads + i] = 100 + i;
    for (int32_t k = 0; k < kRounds * kThreads; ++k) {
      const int64_t sum = first + 64 * (k / kThreads) + 2 * (k % kThreads);
      const auto u = static_cast<uint32_t>(sum);
      const auto i = static_cast<int32_t>(u);
      want.insert(want.end(), {i >> 1, static_cast<int32_t>(u >> 1), 100 + ((i >> 1) & 3),
                               static_cast<int32_t>(u >> 4)});
    }
    Buffer<int32_t> out(session(), content);
    kernels().run("halved_wraps", Shape{{1}, {kThreads}}, static_cast<int32_t>(first), kRounds,
                  out);
    auto found = out.read();
    found.resize(want.size());
    expect_bits("halved_wraps", found, want);
  }
}

TEST(Memory, ElementsByClampedIndex) {
  for (const int32_t width : {1, 31, 100, 257}) {
    for (const int32_t reach : {0, 1, 3, 40}) {
      vector<float> values(width), want(width);
      for (int32_t i = 0; i < width; ++i) values[i] = static_cast<float>(i * 37 % 64);
      const auto at = [&](int32_t i) { return values[std::clamp(i, 0, width - 1)]; };
      for (int32_t x = 0; x < width; ++x) {
        for (int32_t k = -reach; k <= reach; ++k) want[x] += at(x + k);
        want[x] += at(x + reach) + static_cast<float>(std::max(x - reach, 3));
      }
      Buffer<float> in(session(), values), out(session(), width);
      kernels().run("clamped", cover(width), in, out, width, reach);
      expect_bits("clamped", out.read(), want);
    }
  }
}

TEST(Memory, ClampedIndexWraps) {
  const uint32_t threads = 64;
  for (const int32_t first : {-40, 0, 100, INT32_MAX - 20, INT32_MIN, INT32_MIN + 9}) {
    for (const int32_t bound : {-7, 0, 20, 110, INT32_MAX, INT32_MIN}) {
      vector<int32_t> content(size_t{4} * threads + 4), want;
      for (int32_t i = 0; i < 4; ++i) content[4 * threads + i] = 50 + i;
      for (uint32_t t = 0; t < threads; ++t) {
        const auto i = static_cast<int32_t>(static_cast<uint32_t>(first) + t);
        const int64_t low = std::min(i, bound), high = std::max(i, bound);
        want.insert(
            want.end(),
            {static_cast<int32_t>(low), static_cast<int32_t>(high), 50 + (std::clamp(i, 0, 3) ^ 1),
             static_cast<int32_t>((high - low) >> 7) ^ std::max(i >> 31, bound)});
      }
      Buffer<int32_t> in(session(), vector<int32_t>{first}), out(session(), content);
      kernels().run("clamped_wraps", Shape{{1}, {threads}}, in, bound, out);
      auto found = out.read();
      found.resize(want.size());
      expect_bits("clamped_wraps", found, want);
    }
  }
}

TEST(Memory, DifferenceOfWrappedSums) {
  const uint32_t threads = 64;
  for (const uint32_t other : {0u, 7u, 0x7fffffe0u}) {
    const vector<uint32_t> first{0x7ffffff0u, other};
    vector<int64_t> want;
    for (uint32_t t = 0; t < threads; ++t) {
      const int64_t difference =
          int64_t{static_cast<int32_t>(t + first[0])} - int64_t{static_cast<int32_t>(t + first[1])};
      want.push_back(difference < 0 ? 2 * difference : difference + 1);
    }
    Buffer<uint32_t> in(session(), first);
    Buffer<int64_t> out(session(), threads);
    kernels().run("difference_of_wrapped", Shape{{1}, {threads}}, in, out);
    expect_bits("difference_of_wrapped", out.read(), want);
  }
}

/// Unsigned ones beyond half of their range are no negative ones.
TEST(Memory, ElementsByLargeIndex) {
  const uint32_t n = 200;
  vector<uint64_t> values(n + 1), want;
  for (uint32_t i = 0; i <= n; ++i) values[i] = i * 0x9e3779b97f4a7c15u;
  vector<uint32_t> index(n);
  const uint32_t first = 0x80000000u - n / 2;
  for (uint32_t i = 0; i < n; ++i) {
    index[i] = first + i * 77 % n;
    want.push_back(values[i * 77 % n] + values[i * 77 % n + 1]);
  }
  Buffer<uint64_t> in(session(), values), out(session(), n);
  Buffer<uint32_t> places(session(), index);
  kernels().run("picked_unsigned", cover(n), in.address() - uint64_t{8} * first, places, out, n);
  expect_bits("picked_unsigned", out.read(), want);
}

TEST(Memory, MisalignedElements) {
  KM_NEEDS_FAULTS();
  const int32_t n = 40;
  const vector<int32_t> index(n, 5);
  for (const char* kernel : {"picked", "picked_unsigned", "spread", "walked"}) {
    Session own;
    Buffer<int32_t> places(own, index);
    Buffer<uint64_t> in(own, 400), out(own, n);
    auto& module = own.cuda("memory/memory.cu");
    EXPECT_EQ(module.try_run(kernel, Shape{{1}, {64}}, in.address() + 2, places, out, n),
              KM_ERROR_MISALIGNED_ADDRESS);
    if (std::string(kernel) == "picked_unsigned") continue;  // two loads: either
    char address[32];
    std::snprintf(address, sizeof address, "0x%" PRIx64, in.address() + 2 + 5 * 4);
    EXPECT_NE(last_error_message().find(address), std::string::npos) << last_error_message();
  }
}

/// One lane decides, if it is there.
TEST(Memory, OneMisalignedElement) {
  KM_NEEDS_FAULTS();
  const int32_t n = 40;
  for (const int32_t bad : {0, 31, 33, 39, 40}) {
    vector<int32_t> index(64);
    for (int32_t i = 0; i < 64; ++i) index[i] = 4 * (i * 7 % 64);
    index[bad] += 3;
    Session own;
    Buffer<int32_t> places(own, index);
    Buffer<uint32_t> in(own, 65), out(own, n);
    const auto status =
        own.cuda("memory/memory.cu").try_run("picked_bytes", Shape{{1}, {64}}, in, places, out, n);
    EXPECT_EQ(status, bad < n ? KM_ERROR_MISALIGNED_ADDRESS : KM_SUCCESS) << bad;
    if (bad >= n) continue;
    const std::string thread = "thread (" + std::to_string(bad) + ",0,0)";
    EXPECT_NE(last_error_message().find(thread), std::string::npos) << last_error_message();
  }
}

TEST(Memory, ManyPickedElements) {
  constexpr uint32_t kThreads = 64, kEach = 24;
  const auto words = random_u32(kThreads, 33);
  vector<uint64_t> far;
  for (const uint32_t word : random_u32(kThreads * kEach, 34)) far.push_back(word % kThreads * 4);
  const vector<int32_t> near(far.rbegin(), far.rend());
  vector<uint32_t> want(kThreads);
  for (uint32_t i = 0; i < kThreads; ++i) {
    for (uint32_t k = 0; k < kEach; ++k) want[i] = want[i] * 3 + words[near[k * kThreads + i] / 4];
    for (uint32_t k = 0; k < kEach; ++k) want[i] = want[i] * 3 + words[far[k * kThreads + i] / 4];
  }
  auto run = [&](Session& own, const vector<int32_t>& index, const vector<uint64_t>& wide) {
    Buffer<uint32_t> in(own, words), out(own, kThreads);
    Buffer<int32_t> indices(own, index);
    Buffer<uint64_t> distances(own, wide);
    const km_status status =
        own.cuda("memory/memory.cu")
            .try_run("many_picked", Shape{{1}, {kThreads}}, in, indices, distances, out);
    if (status == KM_SUCCESS) expect_bits("many_picked", out.read(), want);
    return status;
  };
  EXPECT_EQ(run(session(), near, far), KM_SUCCESS);
  for (const uint32_t k : {0u, kEach - 1}) {
    for (const uint32_t lane : {5u, 63u}) {
      const std::string thread = "thread (" + std::to_string(lane) + ",0,0)";
      auto index = near;
      auto wide = far;
      index[k * kThreads + lane] += 2;
      wide[k * kThreads + lane] += 1;
      Session one, other;
      EXPECT_EQ(run(one, index, far), KM_ERROR_MISALIGNED_ADDRESS);
      EXPECT_NE(last_error_message().find(thread), std::string::npos) << last_error_message();
      EXPECT_EQ(run(other, near, wide), KM_ERROR_MISALIGNED_ADDRESS);
      EXPECT_NE(last_error_message().find(thread), std::string::npos) << last_error_message();
    }
  }
}

/// From every place of a page's last bytes, where a packet's elements may not all be read at once.
template <class T>
void copy_some(const char* kernel) {
  constexpr uint32_t kThreads = 96, kElements = 8192 / sizeof(T);
  vector<T> values(kElements + kThreads);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i * 0x9E3779B97F4A7C15u);
  Buffer<T> in(session(), values);
  for (const uint32_t lanes : {0u, 1u, 0x80000000u, 0x00F0F1E3u, 0xFFFFFF00u, 0xFFFFFFFFu}) {
    for (uint32_t first = 0; first < kElements; first += 5 + kElements / 64) {
      Buffer<T> out(session(), kThreads);
      vector<T> want = out.read();
      for (uint32_t i = 0; i < kThreads; ++i) {
        if (lanes >> i % 32 & 1) want[i] = values[first + i];
      }
      kernels().run(kernel, Shape{{1}, {kThreads}}, in.address() + first * sizeof(T), out, lanes);
      expect_bits(kernel, out.read(), want);
    }
  }
}

/// "0x7f12..." of lane `lane`'s element, and its thread.
void expect_place(uint64_t address, uint32_t lane) {
  char text[32];
  std::snprintf(text, sizeof text, "0x%" PRIx64, address);
  EXPECT_NE(last_error_message().find(text), std::string::npos) << last_error_message();
  const std::string thread = "thread (" + std::to_string(lane) + ",0,0)";
  EXPECT_NE(last_error_message().find(thread), std::string::npos) << last_error_message();
}

TEST(Memory, ParametersThatMakeUpForEachOther) {
  KM_NEEDS_FAULTS();
  const uint32_t n = 100;
  const auto values = random_f32(n, 61, -1.0f, 1.0f);
  Buffer<float> in(session(), values);
  for (const int64_t shift : {0, 4, 3, 1, -2}) {
    const auto skipped = static_cast<uint32_t>(shift == 4);
    const uint32_t count = n - skipped;
    Buffer<float> out(session(), count);
    const uint64_t from = in.address() + 4 * skipped - static_cast<uint64_t>(shift);
    kernels().run("copy_shifted", cover(count), from, shift, out, static_cast<int32_t>(count));
    expect_bits("copy_shifted", out.read(), vector<float>(values.begin() + skipped, values.end()));
  }
  Session own;
  Buffer<float> unread(own, n), never(own, n);
  EXPECT_EQ(own.cuda("memory/memory.cu")
                .try_run("copy_shifted", cover(n), unread.address() + 1, int64_t{0}, never,
                         static_cast<int32_t>(n - 1)),
            KM_ERROR_MISALIGNED_ADDRESS);
  expect_place(unread.address() + 1, 0);
}

TEST(Memory, SideBySideInSomeLanes) {
  copy_some<uint8_t>("copy_some_u8");
  copy_some<uint16_t>("copy_some_u16");
  copy_some<uint32_t>("copy_some_u32");
  copy_some<uint64_t>("copy_some_u64");
}

TEST(Memory, MisalignedSideBySide) {
  KM_NEEDS_FAULTS();
  for (const uint32_t lanes : {0x00000020u, 0xFFFFFFE0u}) {
    for (const bool loads : {true, false}) {
      Session own;
      Buffer<uint32_t> in(own, 40), out(own, 40);
      const uint64_t from = in.address() + (loads ? 2 : 0), to = out.address() + (loads ? 0 : 2);
      const auto status =
          own.cuda("memory/memory.cu").try_run("copy_some_u32", Shape{{1}, {32}}, from, to, lanes);
      EXPECT_EQ(status, KM_ERROR_MISALIGNED_ADDRESS);
      expect_place((loads ? from : to) + 5 * 4, 5);
    }
  }
}

/// Where the runtime makes the access: still a fault of this kernel, in this line.
TEST(Memory, NoMemorySideBySide) {
  KM_NEEDS_FAULTS();
  for (const bool loads : {true, false}) {
    Session own;
    Buffer<uint64_t> buffer(own, 40);
    const uint64_t nowhere = 0x1000 - 64, there = buffer.address();
    const auto status = own.cuda("memory/memory.cu")
                            .try_run("copy_some_u64", Shape{{1}, {32}}, loads ? nowhere : there,
                                     loads ? there : nowhere, 0xFFF00000u);
    EXPECT_EQ(status, KM_ERROR_ILLEGAL_ADDRESS);
    EXPECT_NE(last_error_message().find("kernel 'copy_some_u64', block (0,0,0)"), std::string::npos)
        << last_error_message();
    EXPECT_NE(last_error_message().find("PTX line"), std::string::npos) << last_error_message();
  }
}

/// An aligned variable tells nothing of lanes that lie half an element apart.
TEST(Memory, MisalignedLanesOfAnAlignedVariable) {
  KM_NEEDS_FAULTS();
  for (const uint32_t threads : {32u, 20u}) {
    Session own;
    Buffer<uint32_t> out(own, threads);
    EXPECT_EQ(own.cuda("memory/memory.cu").try_run("read_halfway", Shape{{1}, {threads}}, out),
              KM_ERROR_MISALIGNED_ADDRESS);
    EXPECT_NE(last_error_message().find("thread (1,0,0)"), std::string::npos)
        << last_error_message();
  }
}

}  // namespace
}  // namespace km::kernels
