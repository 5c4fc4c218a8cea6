#include <numeric>

#include <gtest/gtest.h>

#include "harness/compare.h"
#include "harness/inputs.h"
#include "harness/session.h"

namespace km::kernels {
namespace {

using std::vector;

constexpr uint32_t kThreads = 64, kRows = 64;

Module& kernels() {
  return session().cuda("matrices/matrix_moves.cu",
                        {"--gpu-architecture=compute_90", "-std=c++17"});
}

/// Where the half `half` of lane `lane` lies in its matrix.
struct Element {
  uint32_t row, column;
};
Element element_of(uint32_t lane, uint32_t half, bool transposed) {
  const Element plain{lane / 4, 2 * (lane % 4) + half};
  return transposed ? Element{plain.column, plain.row} : plain;
}

/// Every lane names another row.
vector<uint32_t> shuffled_rows() {
  vector<uint32_t> rows(kThreads);
  std::iota(rows.begin(), rows.end(), 0u);
  Random random(1);
  for (uint32_t i = kThreads - 1; i > 0; --i) std::swap(rows[i], rows[random.below(i + 1)]);
  return rows;
}

vector<uint16_t> random_halves(uint32_t count) { return cast_all<uint16_t>(random_u32(count, 2)); }

void check_load(const char* kernel, uint32_t matrices, bool transposed) {
  const auto values = random_halves(kRows * 8);
  const auto rows = shuffled_rows();
  Buffer<uint16_t> in(session(), values);
  Buffer<uint32_t> row(session(), rows), out(session(), 4 * kThreads);
  kernels().run(kernel, Shape{{1}, {kThreads}}, in, row, out);
  vector<uint32_t> want;
  for (uint32_t t = 0; t < kThreads; ++t) {
    for (uint32_t m = 0; m < 4; ++m) {
      uint32_t word = 0;
      for (uint32_t half = 0; half < 2; ++half) {
        const Element at = element_of(t % 32, half, transposed);
        const uint32_t lane = t / 32 * 32 + (8 * m + at.row) % 32;
        word |= uint32_t{values[8 * rows[lane] + at.column]} << (16 * half);
      }
      want.push_back(m < matrices ? word : m + 1);
    }
  }
  expect_bits(kernel, out.read(), want);
}

void check_store(const char* kernel, uint32_t matrices, bool transposed) {
  const auto values = random_u32(4 * kThreads, 3);
  const auto rows = shuffled_rows();
  Buffer<uint32_t> in(session(), values), row(session(), rows);
  Buffer<uint16_t> out(session(), kRows * 8);
  kernels().run(kernel, Shape{{1}, {kThreads}}, in, row, out);
  vector<uint16_t> want(kRows * 8, 0xEEEE);
  for (uint32_t t = 0; t < kThreads; ++t) {
    for (uint32_t m = 0; m < matrices; ++m) {
      for (uint32_t half = 0; half < 2; ++half) {
        const Element at = element_of(t % 32, half, transposed);
        const uint32_t lane = t / 32 * 32 + 8 * m + at.row;
        want[8 * rows[lane] + at.column] = static_cast<uint16_t>(values[4 * t + m] >> (16 * half));
      }
    }
  }
  expect_bits(kernel, out.read(), want);
}

TEST(MatrixMoves, Load) {
  check_load("load_1", 1, false);
  check_load("load_2", 2, false);
  check_load("load_4", 4, false);
}

TEST(MatrixMoves, LoadTransposed) {
  check_load("load_1_trans", 1, true);
  check_load("load_2_trans", 2, true);
  check_load("load_4_trans", 4, true);
}

TEST(MatrixMoves, Store) {
  check_store("store_1", 1, false);
  check_store("store_2", 2, false);
  check_store("store_4", 4, false);
}

TEST(MatrixMoves, StoreTransposed) {
  check_store("store_1_trans", 1, true);
  check_store("store_2_trans", 2, true);
  check_store("store_4_trans", 4, true);
}

TEST(MatrixMoves, Transpose) {
  const auto values = random_u32(kThreads, 4);
  Buffer<uint32_t> in(session(), values), out(session(), kThreads);
  kernels().run("transpose", Shape{{1}, {kThreads}}, in, out);
  vector<uint32_t> want;
  for (uint32_t t = 0; t < kThreads; ++t) {
    uint32_t word = 0;
    for (uint32_t half = 0; half < 2; ++half) {
      const Element at = element_of(t % 32, half, true);
      const uint32_t from = values[t / 32 * 32 + 4 * at.row + at.column / 2];
      word |= (from >> (16 * (at.column % 2)) & 0xFFFF) << (16 * half);
    }
    want.push_back(word);
  }
  expect_bits("transpose", out.read(), want);
}

}  // namespace
}  // namespace km::kernels
