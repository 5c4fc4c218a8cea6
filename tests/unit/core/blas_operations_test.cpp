// Operations of BLAS calls, as textbooks count them.
#include <gtest/gtest.h>

#include "backend/blas_operations.h"

namespace km {
namespace {

kmb_blas_call call_of(kmb_blas_routine routine, km_data_type type, uint64_t m, uint64_t n,
                      uint64_t k) {
  kmb_blas_call call{};
  call.routine = routine;
  call.type = type;
  call.m = m;
  call.n = n;
  call.k = k;
  call.batch_count = 1;
  return call;
}

TEST(BlasOperations, ProductsOfMatrices) {
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_GEMM, KM_DATA_TYPE_F32, 3, 5, 7)), 2U * 3 * 5 * 7);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_GEMM, KM_DATA_TYPE_BF16, 3, 5, 7)), 2U * 3 * 5 * 7);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_GEMM, KM_DATA_TYPE_C64, 3, 5, 7)), 8U * 3 * 5 * 7);
  kmb_blas_call batch = call_of(KMB_BLAS_GEMM, KM_DATA_TYPE_F64, 3, 5, 7);
  batch.batch_count = 4;
  EXPECT_EQ(blas_operations(batch), 4U * 2 * 3 * 5 * 7);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_SYRK, KM_DATA_TYPE_F32, 0, 6, 5)), 2U * 5 * 21);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_SYR2K, KM_DATA_TYPE_F32, 0, 6, 5)), 4U * 5 * 21);
}

TEST(BlasOperations, SidesDecide) {
  kmb_blas_call call = call_of(KMB_BLAS_TRSM, KM_DATA_TYPE_F32, 4, 6, 0);
  call.side = KM_BLAS_SIDE_LEFT;
  EXPECT_EQ(blas_operations(call), 2U * 6 * 10);
  call.side = KM_BLAS_SIDE_RIGHT;
  EXPECT_EQ(blas_operations(call), 2U * 4 * 21);
  call.routine = KMB_BLAS_SYMM;
  EXPECT_EQ(blas_operations(call), 2U * 4 * 6 * 6);
}

TEST(BlasOperations, MatricesAndVectors) {
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_GEMV, KM_DATA_TYPE_F32, 4, 6, 0)), 2U * 24);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_TRMV, KM_DATA_TYPE_F32, 0, 6, 0)), 2U * 21);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_SYMV, KM_DATA_TYPE_F32, 0, 6, 0)), 2U * 36);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_SYR2, KM_DATA_TYPE_F32, 0, 6, 0)), 4U * 21);
}

TEST(BlasOperations, Vectors) {
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_AXPY, KM_DATA_TYPE_F32, 0, 10, 0)), 20U);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_AXPY, KM_DATA_TYPE_C32, 0, 10, 0)), 80U);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_NRM2, KM_DATA_TYPE_C32, 0, 10, 0)), 40U);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_ROT, KM_DATA_TYPE_C32, 0, 10, 0)), 120U);
  EXPECT_EQ(blas_operations(call_of(KMB_BLAS_COPY, KM_DATA_TYPE_F32, 0, 10, 0)), 0U);
}

}  // namespace
}  // namespace km
