#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "backends/cpu/library/library.h"

namespace km::cpu::test {
namespace {

/// A random matrix with a diagonal, and dense operands, in host memory.
struct Operands {
  static constexpr uint64_t kRows = 20000, kPerRow = 12, kColumns = 70;
  std::vector<int32_t> offsets = {0}, indices;
  std::vector<float> values, b = std::vector<float>(kRows * kColumns);

  Operands() {
    std::mt19937 random(11);
    const auto number = [&] { return static_cast<float>(random() % 2000) / 1000.0F - 1; };
    for (uint64_t row = 0; row < kRows; ++row) {
      indices.push_back(static_cast<int32_t>(row));
      values.push_back(4);
      for (uint64_t k = 1; k < kPerRow; ++k) {
        indices.push_back(static_cast<int32_t>(random() % kRows));
        values.push_back(number() / kPerRow);
      }
      offsets.push_back(static_cast<int32_t>(indices.size()));
    }
    for (float& each : b) each = number();
  }

  kmb_sparse_call call(kmb_sparse_routine routine, km_blas_operation operation,
                       std::vector<float>& c) const {
    const auto address = [](const auto& vector) {
      return reinterpret_cast<uint64_t>(vector.data());
    };
    const bool is_vector = routine == KMB_SPARSE_MV;
    kmb_sparse_call made{};
    made.routine = routine;
    made.type = KM_DATA_TYPE_F32;
    made.layout = KM_BLAS_LAYOUT_ROWS;
    made.operation_a = operation;
    made.operation_b = KM_BLAS_OPERATION_NONE;
    made.triangle = KM_BLAS_TRIANGLE_LOWER;
    made.diagonal = KM_BLAS_DIAGONAL_STORED;
    made.format = KM_SPARSE_FORMAT_CSR;
    made.index_size_bytes = 4;
    made.rows = made.columns = kRows;
    made.nonzeros = values.size();
    made.k = is_vector ? 1 : kColumns;
    made.alpha[0] = 1;
    made.offsets = address(offsets), made.indices = address(indices);
    made.values = address(values);
    made.b = {address(b), is_vector ? 1 : static_cast<int64_t>(kColumns), 0};
    made.c = {address(c), is_vector ? 1 : static_cast<int64_t>(kColumns), 0};
    return made;
  }
};

struct Outcome {
  uint64_t pieces;
  std::vector<float> values;
};

Outcome run(const Operands& operands, kmb_sparse_routine routine, km_blas_operation operation,
            uint32_t threads) {
  Outcome outcome{0, std::vector<float>(Operands::kRows * Operands::kColumns)};
  const auto task =
      make_sparse_task("a sparse call", operands.call(routine, operation, outcome.values), threads);
  outcome.pieces = (*task)->pieces();
  // From the last to the first: pieces have no order.
  for (uint64_t piece = outcome.pieces; piece-- > 0;) EXPECT_TRUE((*task)->run(piece));
  return outcome;
}

TEST(Sparse, ResultsDoNotDependOnThreads) {
  const Operands operands;
  for (const kmb_sparse_routine routine : {KMB_SPARSE_MV, KMB_SPARSE_MM, KMB_SPARSE_SM}) {
    for (const km_blas_operation operation :
         {KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_TRANSPOSE}) {
      const Outcome one = run(operands, routine, operation, 1);
      const Outcome many = run(operands, routine, operation, 7);
      const bool is_one_column = routine == KMB_SPARSE_MV && operation != KM_BLAS_OPERATION_NONE;
      EXPECT_EQ(many.pieces > one.pieces, !is_one_column) << routine << " " << operation;
      const size_t bytes = one.values.size() * sizeof(float);
      EXPECT_EQ(std::memcmp(one.values.data(), many.values.data(), bytes), 0)
          << routine << " " << operation;
    }
  }
}

TEST(Sparse, OffsetsThatLeaveTheArraysAreErrors) {
  Operands operands;
  operands.offsets[100] = 1 << 30;
  std::vector<float> c(Operands::kRows * Operands::kColumns);
  for (const kmb_sparse_routine routine : {KMB_SPARSE_MV, KMB_SPARSE_MM, KMB_SPARSE_SM}) {
    const auto task =
        make_sparse_task("a sparse call", operands.call(routine, KM_BLAS_OPERATION_NONE, c), 7);
    uint64_t failures = 0;
    for (uint64_t piece = 0; piece < (*task)->pieces(); ++piece) {
      const Status done = (*task)->run(piece);
      if (done) continue;
      ++failures;
      EXPECT_EQ(done.error().status, KM_ERROR_ILLEGAL_ADDRESS);
      EXPECT_NE(done.error().message.find("1073741824"), std::string::npos) << done.error().message;
    }
    EXPECT_GT(failures, 0U);
  }
}

}  // namespace
}  // namespace km::cpu::test
