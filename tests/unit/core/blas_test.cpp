#include "core/blas/blas.h"

#include <gtest/gtest.h>

namespace km {
namespace {

BlasRegion region(uint64_t address, uint64_t lines, uint64_t line_bytes, uint64_t pitch_bytes) {
  return {address, lines, line_bytes, pitch_bytes, 1, 0};
}

TEST(BlasRegion, ExtentsEndWithTheLastLine) {
  uint64_t bytes = 0;
  EXPECT_TRUE(region(0, 3, 10, 100).extent(&bytes));
  EXPECT_EQ(bytes, 210U);
  EXPECT_TRUE(region(0, 0, 10, 100).extent(&bytes));
  EXPECT_EQ(bytes, 0U);
  BlasRegion batch = region(0, 3, 10, 100);
  batch.batch_count = 4;
  batch.stride_bytes = 1000;
  EXPECT_TRUE(batch.extent(&bytes));
  EXPECT_EQ(bytes, 3210U);
  batch.stride_bytes = UINT64_MAX / 3;
  EXPECT_FALSE(batch.extent(&bytes));
}

/// All bytes, one by one.
bool overlap_by_bytes(const BlasRegion& a, const BlasRegion& b) {
  const auto marks = [](const BlasRegion& r) {
    std::vector<bool> mark(4096);
    for (uint64_t m = 0; m < r.batch_count; ++m) {
      for (uint64_t i = 0; i < r.lines; ++i) {
        for (uint64_t k = 0; k < r.line_bytes; ++k) {
          mark[r.address + m * r.stride_bytes + i * r.pitch_bytes + k] = true;
        }
      }
    }
    return mark;
  };
  const std::vector<bool> first = marks(a), second = marks(b);
  for (size_t i = 0; i < first.size(); ++i) {
    if (first[i] && second[i]) return true;
  }
  return false;
}

TEST(BlasRegion, OverlapsAreFoundExactly) {
  uint32_t state = 1;
  const auto next = [&state](uint32_t limit) {
    state = state * 1664525U + 1013904223U;
    return (state >> 8) % limit;
  };
  int overlaps = 0, interleaved = 0;
  for (int round = 0; round < 20000; ++round) {
    BlasRegion regions[2];
    for (BlasRegion& r : regions) {
      r.lines = next(6);
      r.line_bytes = next(9);
      r.pitch_bytes = r.line_bytes + next(30);
      r.address = next(120);
      r.batch_count = 1 + next(4);
      r.stride_bytes = next(3) == 0 ? 0 : next(200);
    }
    const bool expected = overlap_by_bytes(regions[0], regions[1]);
    ASSERT_EQ(regions_overlap(regions[0], regions[1]), expected) << round;
    overlaps += expected;
    interleaved += !expected && !regions[0].is_empty() && !regions[1].is_empty();
  }
  EXPECT_GT(overlaps, 2000);
  EXPECT_GT(interleaved, 2000);
}

TEST(BlasRoutines, HaveNamesForTheirTypesOnly) {
  EXPECT_STREQ(blas_routine_name(KMB_BLAS_GEMM, KM_DATA_TYPE_F64), "dgemm");
  EXPECT_STREQ(blas_routine_name(KMB_BLAS_GEMM, KM_DATA_TYPE_BF16), "bgemm");
  EXPECT_STREQ(blas_routine_name(KMB_BLAS_SYMV, KM_DATA_TYPE_C32), "chemv");
  EXPECT_EQ(blas_routine_name(KMB_BLAS_ROTM, KM_DATA_TYPE_C32), nullptr);
  EXPECT_EQ(blas_routine_name(KMB_BLAS_AXPY, KM_DATA_TYPE_F16), nullptr);
  EXPECT_EQ(blas_routine_name(KMB_BLAS_AXPY, 99), nullptr);
}

}  // namespace
}  // namespace km
