// Sparse calls, whose results are compared with those written down here.
#include <complex>

#include "support.h"

namespace {

using km_test::status_of;

/// The matrix 1 0 2 / 0 3 0 in each format.
struct Sparse : km_test::Fixture {
  km::blas blas{stream};
  km::slice<float> values = on_device<float>({1, 2, 3});
  km::slice<float> by_columns = on_device<float>({1, 3, 2});
  km::slice<std::int32_t> offsets = on_device<std::int32_t>({0, 2, 3});
  km::slice<std::int32_t> columns = on_device<std::int32_t>({0, 2, 1});
  km::slice<std::int64_t> column_offsets = on_device<std::int64_t>({1, 2, 3, 4});
  km::slice<std::int64_t> rows = on_device<std::int64_t>({1, 2, 1});
  km::slice<std::int32_t> row_of_each = on_device<std::int32_t>({0, 0, 1});

  template <class T>
  km::slice<T> on_device(const std::vector<T>& numbers) {
    return km::slice<T>::copy_of(stream, numbers);
  }
  void expect(const km::slice<float>& slice, const std::vector<float>& expected) {
    EXPECT_EQ(slice.to_vector(stream), expected);
  }
};

TEST_F(Sparse, MultipliesVectorsInAllFormats) {
  const auto x = on_device<float>({1, 10, 100});
  const auto a = km::csr(2, 3, offsets, columns, values);
  const auto b = km::csc(2, 3, column_offsets, rows, by_columns, 1);
  const auto c = km::coo(2, 3, row_of_each, columns, values);
  for (const km_sparse_format format : {1, 2, 3}) {
    const auto y = on_device<float>({1, 1});
    const auto& matrix = format == 1 ? a : format == 2 ? b : c;
    EXPECT_EQ(matrix.native.format, format);
    km::sparse_mv(blas, KM_BLAS_OPERATION_NONE, 2, matrix, x, 1, y);
    expect(y, {403, 61});
  }
  const auto z = on_device<float>({0, 7, 0, 7, 0});
  km::sparse_mv(blas, KM_BLAS_OPERATION_TRANSPOSE, 1, a, km::vec(x, 2), 0, km::vec(z, 2));
  expect(z, {1, 7, 300, 7, 2});
}

TEST_F(Sparse, MultipliesMatrices) {
  const auto a = km::csr(2, 3, offsets, columns, values);
  const auto b = on_device<float>({1, 2, 3, 4, 5, 6});
  const auto c = on_device<float>({0, 0, 0, 0});
  km::sparse_mm(blas, KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_NONE, 2, 1, a, b, 0, c);
  expect(c, {11, 14, 9, 12});
  km::sparse_mm(blas, KM_BLAS_OPERATION_NONE, KM_BLAS_OPERATION_TRANSPOSE, 2, 1, a, b, 0, c);
  expect(c, {7, 16, 6, 15});
  const auto t = on_device<float>({0, 0, 0});
  km::sparse_mm(blas, KM_BLAS_OPERATION_TRANSPOSE, KM_BLAS_OPERATION_NONE, 1, 1, a, km::mat(b, 1),
                0, t);
  expect(t, {1, 6, 2});
}

TEST_F(Sparse, SolvesTriangles) {
  const auto lower_offsets = on_device<std::int32_t>({0, 1, 3});
  const auto lower_columns = on_device<std::int32_t>({0, 0, 1});
  const auto lower_values = on_device<float>({2, 1, 4});
  const auto a = km::csr(2, 2, lower_offsets, lower_columns, lower_values);
  const auto x = on_device<float>({4, 10}), y = on_device<float>({0, 0});
  km::sparse_sv(blas, KM_BLAS_OPERATION_NONE, KM_BLAS_TRIANGLE_LOWER, KM_BLAS_DIAGONAL_STORED, 1, a,
                x, y);
  expect(y, {2, 2});
  km::sparse_sv(blas, KM_BLAS_OPERATION_TRANSPOSE, KM_BLAS_TRIANGLE_LOWER, KM_BLAS_DIAGONAL_UNIT, 1,
                a, x, x);
  expect(x, {-6, 10});
  const auto b = on_device<float>({4, 2, 10, 5});
  km::sparse_sm(blas, KM_BLAS_OPERATION_NONE, KM_BLAS_TRIANGLE_LOWER, KM_BLAS_DIAGONAL_STORED, 2, 1,
                a, b, b);
  expect(b, {2, 1, 2, 1});
}

TEST_F(Sparse, ErrorsNameTheArgument) {
  const auto x = on_device<float>({1, 10});
  const auto a = km::csr(2, 3, offsets, columns, values);
  EXPECT_EQ(status_of([&] { km::sparse_mv(blas, KM_BLAS_OPERATION_NONE, 1, a, x, 0, x); }),
            KM_ERROR_OUT_OF_BOUNDS);
  const auto b = km::csr(2, 3, offsets, columns, values, 2);
  EXPECT_EQ(status_of([&] { km::sparse_mv(blas, KM_BLAS_OPERATION_NONE, 1, b, x, 0, x); }),
            KM_ERROR_INVALID_ARGUMENT);
  const km::nothrow::blas other = *km::nothrow::blas::create(stream);
  EXPECT_EQ(km::sparse_mv(other, KM_BLAS_OPERATION_NONE, 1, b, x, 0, x).status(),
            KM_ERROR_INVALID_ARGUMENT);
}

}  // namespace
