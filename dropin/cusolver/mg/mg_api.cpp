// cuSOLVER for several devices. Their memory is the host's, so that a matrix is gathered, LAPACK
// works on it in the calling thread, and the result is distributed again.
#include <climits>

#include "dropin/cusolver/dense/eigen.h"
#include "dropin/cusolver/dense/lu.h"
#include "dropin/cusolver/frame/job.h"
#include "dropin/cusolver/mg/distribution.h"

namespace km::cusolver {

namespace {

/// A distributed matrix as functions take it.
struct Distributed {
  cudaLibMgMatrixDesc_t description;
  void** places;
  int row, column;
};

/// The description of a part with `rows` rows and `columns` columns, and its places on the devices.
cusolverStatus_t open(const MgHandle& h, const Distributed& given, int rows, int columns,
                      cudaDataType compute, std::shared_ptr<MgMatrix>* matrix,
                      std::vector<void*>* places) {
  *matrix = find_object<MgMatrix>(given.description);
  if (*matrix == nullptr) return invalid("a matrix's description is not live");
  const MgMatrix& m = **matrix;
  if (h.device_count == 0) return invalid("cusolverMgDeviceSelect has not been called");
  if (m.type != compute) return invalid("computeType is %d", static_cast<int>(compute));
  if (rows < 0 || columns < 0) return invalid("a size is below 0: %d, %d", rows, columns);
  const bool is_inside = given.row >= 1 && given.column >= 1 &&
                         int64_t{given.row} - 1 + rows <= m.rows &&
                         int64_t{given.column} - 1 + columns <= m.columns;
  if (!is_inside) {
    return invalid("%d rows and %d columns from (%d, %d) leave the matrix", rows, columns,
                   given.row, given.column);
  }
  places->resize(static_cast<size_t>(m.devices));
  return read_place("the array of pointers", given.places, places->data(),
                    places->size() * sizeof(void*));
}

/// Runs `routine`, a function of (T*, lda, info), on a square part.
template <class Routine>
cusolverStatus_t on_square(MgHandle& h, const Distributed& a, int n, cudaDataType compute,
                           int* info, Routine&& routine) {
  std::shared_ptr<MgMatrix> matrix;
  std::vector<void*> places;
  LIB_TRY(open(h, a, n, n, compute, &matrix, &places));
  return for_type(compute, [&]<class T>(T*) -> cusolverStatus_t {
    Gathered<T> part(h, *matrix, places, a.row, a.column, n, n);
    LIB_TRY(part.read());
    int found = 0;
    LIB_TRY(routine(part.data(), part.leading(), &found));
    LIB_TRY(part.write());
    return write_value("info", info, found);
  });
}

cusolverStatus_t check_fill(cublasFillMode_t fill) {
  if (fill == CUBLAS_FILL_MODE_LOWER || fill == CUBLAS_FILL_MODE_UPPER) {
    return CUSOLVER_STATUS_SUCCESS;
  }
  return invalid("uplo is %d", static_cast<int>(fill));
}

/// Reads or writes exchanges, which are distributed as the columns of their matrix.
template <class Copy>
cusolverStatus_t for_exchanges(const MgMatrix& matrix, int first_column, int64_t count,
                               int** places, Copy&& copy) {
  std::vector<int*> found(static_cast<size_t>(matrix.devices));
  LIB_TRY(read_place("array_d_IPIV", places, found.data(), found.size() * sizeof(int*)));
  for (int64_t j = 0; j < count; ++j) {
    const int64_t column = first_column - 1 + j;
    int* const place = found[static_cast<size_t>(matrix.device_of(column))];
    if (place == nullptr) return invalid("array_d_IPIV has a null pointer");
    LIB_CHECK(copy(reinterpret_cast<uint64_t>(place + matrix.local_column(column)), j));
  }
  return CUSOLVER_STATUS_SUCCESS;
}

/// Solves with a factorized matrix: `routine` is a function of (matrix, A, lda, B, ldb, info).
template <class Routine>
cusolverStatus_t solve(MgHandle& h, const Distributed& a, const Distributed& b, int n, int nrhs,
                       cudaDataType compute, int* info, Routine&& routine) {
  std::shared_ptr<MgMatrix> a_matrix, b_matrix;
  std::vector<void*> a_places, b_places;
  LIB_TRY(open(h, a, n, n, compute, &a_matrix, &a_places));
  LIB_TRY(open(h, b, n, nrhs, compute, &b_matrix, &b_places));
  return for_type(compute, [&]<class T>(T*) -> cusolverStatus_t {
    Gathered<T> factors(h, *a_matrix, a_places, a.row, a.column, n, n);
    Gathered<T> x(h, *b_matrix, b_places, b.row, b.column, n, nrhs);
    LIB_TRY(factors.read());
    LIB_TRY(x.read());
    int found = 0;
    LIB_TRY(routine(*a_matrix, factors.data(), factors.leading(), x.data(), x.leading(), &found));
    LIB_TRY(x.write());
    return write_value("info", info, found);
  });
}

cusolverStatus_t give_size(const char* function, cusolverMgHandle_t handle, int64_t* lwork) {
  return call_with<MgHandle>(function, handle, [&](MgHandle&) {
    return write_value("lwork", lwork, int64_t{kWorkElements});
  });
}

cusolverStatus_t select(MgHandle& h, int count, const int* ids) {
  int most = 0;
  LIB_CHECK(h.driver->cuDeviceGetCount(&most));
  if (count < 1 || count > most) return invalid("%d devices; there are %d", count, most);
  std::vector<int> devices(static_cast<size_t>(count));
  LIB_TRY(read_place("deviceId", ids, devices.data(), devices.size() * sizeof(int)));
  for (const int each : devices) {
    if (each < 0 || each >= most) return invalid("there is no device %d", each);
  }
  h.device_count = count;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverMgCreate(cusolverMgHandle_t* handle) {
  return call(__func__, [&]() -> cusolverStatus_t {
    LIB_TRY(require_lapack());
    return create_handle<MgHandle>(handle);
  });
}
cusolverStatus_t cusolverMgDestroy(cusolverMgHandle_t handle) {
  return call(__func__, [&] { return end_object<MgHandle>(handle); });
}
cusolverStatus_t cusolverMgDeviceSelect(cusolverMgHandle_t handle, int count, int* ids) {
  return call_with<MgHandle>(__func__, handle, [&](MgHandle& h) { return select(h, count, ids); });
}

cusolverStatus_t cusolverMgCreateDeviceGrid(cudaLibMgGrid_t* grid, int32_t rows, int32_t columns,
                                            const int32_t* ids, cusolverMgGridMapping_t mapping) {
  return call(__func__, [&]() -> cusolverStatus_t {
    LIB_REQUIRE(grid);
    constexpr int kMostDevices = 1024;
    if (rows != 1 || columns < 1 || columns > kMostDevices) {
      return invalid("a grid of %d x %d devices; it has one row", rows, columns);
    }
    if (mapping != CUDALIBMG_GRID_MAPPING_ROW_MAJOR &&
        mapping != CUDALIBMG_GRID_MAPPING_COL_MAJOR) {
      return invalid("mapping is %d", static_cast<int>(mapping));
    }
    auto made = std::make_shared<MgGrid>();
    made->devices.resize(static_cast<size_t>(columns));
    LIB_TRY(
        read_place("deviceId", ids, made->devices.data(), made->devices.size() * sizeof(int32_t)));
    return give_object("grid", grid, std::move(made));
  });
}
cusolverStatus_t cusolverMgDestroyGrid(cudaLibMgGrid_t grid) {
  return call(__func__, [&] { return end_object<MgGrid>(grid, CUSOLVER_STATUS_INVALID_VALUE); });
}

cusolverStatus_t cusolverMgCreateMatrixDesc(cudaLibMgMatrixDesc_t* description, int64_t rows,
                                            int64_t columns, int64_t row_block,
                                            int64_t column_block, cudaDataType type,
                                            const cudaLibMgGrid_t grid) {
  return call(__func__, [&]() -> cusolverStatus_t {
    LIB_REQUIRE(description);
    const std::shared_ptr<MgGrid> found = find_object<MgGrid>(grid);
    if (found == nullptr) return invalid("grid is not live");
    if (rows < 0 || rows > INT_MAX || columns < 0 || columns > INT_MAX) {
      return invalid("a size is not from 0 to 2^31-1");
    }
    if (row_block != rows) {
      return unsupported("rows are not distributed, so that rowBlockSize is numRows");
    }
    if (column_block < 1 || column_block > INT_MAX) return invalid("colBlockSize is out of range");
    return for_type(type, [&]<class T>(T*) {
      const int devices = static_cast<int>(found->devices.size());
      return give_object(
          "desc", description,
          std::make_shared<MgMatrix>(MgMatrix{rows, columns, column_block, type, devices}));
    });
  });
}
cusolverStatus_t cusolverMgDestroyMatrixDesc(cudaLibMgMatrixDesc_t description) {
  return call(__func__,
              [&] { return end_object<MgMatrix>(description, CUSOLVER_STATUS_INVALID_VALUE); });
}

cusolverStatus_t cusolverMgPotrf_bufferSize(cusolverMgHandle_t handle, cublasFillMode_t, int,
                                            void**, int, int, cudaLibMgMatrixDesc_t, cudaDataType,
                                            int64_t* lwork) {
  return give_size(__func__, handle, lwork);
}
cusolverStatus_t cusolverMgPotrf(cusolverMgHandle_t handle, cublasFillMode_t uplo, int n, void** a,
                                 int ia, int ja, cudaLibMgMatrixDesc_t description,
                                 cudaDataType compute, void**, int64_t, int* info) {
  return call_with<MgHandle>(__func__, handle, [&](MgHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_fill(uplo));
    return on_square(h, {description, a, ia, ja}, n, compute, info,
                     [&]<class T>(T* data, int lda, int* found) {
                       lapack<T>(kPotrf, letter(uplo), n, data, lda, found);
                       return CUSOLVER_STATUS_SUCCESS;
                     });
  });
}

cusolverStatus_t cusolverMgPotri_bufferSize(cusolverMgHandle_t handle, cublasFillMode_t, int,
                                            void**, int, int, cudaLibMgMatrixDesc_t, cudaDataType,
                                            int64_t* lwork) {
  return give_size(__func__, handle, lwork);
}
cusolverStatus_t cusolverMgPotri(cusolverMgHandle_t handle, cublasFillMode_t uplo, int n, void** a,
                                 int ia, int ja, cudaLibMgMatrixDesc_t description,
                                 cudaDataType compute, void**, int64_t, int* info) {
  return call_with<MgHandle>(__func__, handle, [&](MgHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_fill(uplo));
    return on_square(h, {description, a, ia, ja}, n, compute, info,
                     [&]<class T>(T* data, int lda, int* found) {
                       lapack<T>(kPotri, letter(uplo), n, data, lda, found);
                       return CUSOLVER_STATUS_SUCCESS;
                     });
  });
}

cusolverStatus_t cusolverMgPotrs_bufferSize(cusolverMgHandle_t handle, cublasFillMode_t, int, int,
                                            void**, int, int, cudaLibMgMatrixDesc_t, void**, int,
                                            int, cudaLibMgMatrixDesc_t, cudaDataType,
                                            int64_t* lwork) {
  return give_size(__func__, handle, lwork);
}
cusolverStatus_t cusolverMgPotrs(cusolverMgHandle_t handle, cublasFillMode_t uplo, int n, int nrhs,
                                 void** a, int ia, int ja, cudaLibMgMatrixDesc_t a_description,
                                 void** b, int ib, int jb, cudaLibMgMatrixDesc_t b_description,
                                 cudaDataType compute, void**, int64_t, int* info) {
  return call_with<MgHandle>(__func__, handle, [&](MgHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_fill(uplo));
    return solve(h, {a_description, a, ia, ja}, {b_description, b, ib, jb}, n, nrhs, compute, info,
                 [&]<class T>(const MgMatrix&, T* factors, int lda, T* x, int ldb, int* found) {
                   lapack<T>(kPotrs, letter(uplo), n, nrhs, factors, lda, x, ldb, found);
                   return CUSOLVER_STATUS_SUCCESS;
                 });
  });
}

cusolverStatus_t cusolverMgGetrf_bufferSize(cusolverMgHandle_t handle, int, int, void**, int, int,
                                            cudaLibMgMatrixDesc_t, int**, cudaDataType,
                                            int64_t* lwork) {
  return give_size(__func__, handle, lwork);
}
cusolverStatus_t cusolverMgGetrf(cusolverMgHandle_t handle, int m, int n, void** a, int ia, int ja,
                                 cudaLibMgMatrixDesc_t description, int** pivots,
                                 cudaDataType compute, void**, int64_t, int* info) {
  return call_with<MgHandle>(__func__, handle, [&](MgHandle& h) -> cusolverStatus_t {
    std::shared_ptr<MgMatrix> matrix;
    std::vector<void*> places;
    LIB_TRY(open(h, {description, a, ia, ja}, m, n, compute, &matrix, &places));
    return for_type(compute, [&]<class T>(T*) -> cusolverStatus_t {
      Gathered<T> part(h, *matrix, places, ia, ja, m, n);
      LIB_TRY(part.read());
      std::vector<int> rows(static_cast<size_t>(std::min(m, n)) + 1);
      int found = 0;
      lapack<T>(kGetrf, m, n, part.data(), part.leading(), rows.data(), &found);
      LIB_TRY(part.write());
      LIB_TRY(for_exchanges(*matrix, ja, std::min(m, n), pivots, [&](uint64_t place, int64_t j) {
        return h.driver->cuMemcpyHtoDAsync_v2(place, &rows[static_cast<size_t>(j)], sizeof(int),
                                              nullptr);
      }));
      LIB_CHECK(h.driver->cuStreamSynchronize(nullptr));
      return write_value("info", info, found);
    });
  });
}

cusolverStatus_t cusolverMgGetrs_bufferSize(cusolverMgHandle_t handle, cublasOperation_t, int, int,
                                            void**, int, int, cudaLibMgMatrixDesc_t, int**, void**,
                                            int, int, cudaLibMgMatrixDesc_t, cudaDataType,
                                            int64_t* lwork) {
  return give_size(__func__, handle, lwork);
}
cusolverStatus_t cusolverMgGetrs(cusolverMgHandle_t handle, cublasOperation_t trans, int n,
                                 int nrhs, void** a, int ia, int ja,
                                 cudaLibMgMatrixDesc_t a_description, int** pivots, void** b,
                                 int ib, int jb, cudaLibMgMatrixDesc_t b_description,
                                 cudaDataType compute, void**, int64_t, int* info) {
  return call_with<MgHandle>(__func__, handle, [&](MgHandle& h) -> cusolverStatus_t {
    if (trans < CUBLAS_OP_N || trans > CUBLAS_OP_C) return invalid("TRANS is %d", int(trans));
    return solve(h, {a_description, a, ia, ja}, {b_description, b, ib, jb}, n, nrhs, compute, info,
                 [&]<class T>(const MgMatrix& matrix, T* factors, int lda, T* x, int ldb,
                              int* found) -> cusolverStatus_t {
                   std::vector<int> rows(static_cast<size_t>(n) + 1);
                   LIB_TRY(for_exchanges(matrix, ja, n, pivots, [&](uint64_t place, int64_t j) {
                     return h.driver->cuMemcpyDtoHAsync_v2(&rows[static_cast<size_t>(j)], place,
                                                           sizeof(int), nullptr);
                   }));
                   LIB_CHECK(h.driver->cuStreamSynchronize(nullptr));
                   if (const int* const wrong = find_wrong_row(rows.data(), n, n)) {
                     return invalid("array_d_IPIV exchanges row %d of %d", *wrong, n);
                   }
                   lapack<T>(kGetrs, letter(trans), n, nrhs, factors, lda, rows.data(), x, ldb,
                             found);
                   return CUSOLVER_STATUS_SUCCESS;
                 });
  });
}

cusolverStatus_t cusolverMgSyevd_bufferSize(cusolverMgHandle_t handle, cusolverEigMode_t,
                                            cublasFillMode_t, int, void**, int, int,
                                            cudaLibMgMatrixDesc_t, void*, cudaDataType,
                                            cudaDataType, int64_t* lwork) {
  return give_size(__func__, handle, lwork);
}
cusolverStatus_t cusolverMgSyevd(cusolverMgHandle_t handle, cusolverEigMode_t jobz,
                                 cublasFillMode_t uplo, int n, void** a, int ia, int ja,
                                 cudaLibMgMatrixDesc_t description, void* w, cudaDataType w_type,
                                 cudaDataType compute, void**, int64_t, int* info) {
  return call_with<MgHandle>(__func__, handle, [&](MgHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_fill(uplo));
    if (jobz != CUSOLVER_EIG_MODE_NOVECTOR && jobz != CUSOLVER_EIG_MODE_VECTOR) {
      return invalid("jobz is %d", static_cast<int>(jobz));
    }
    return on_square(h, {description, a, ia, ja}, n, compute, info,
                     [&]<class T>(T* data, int lda, int* found) -> cusolverStatus_t {
                       LIB_TRY(require_type<Real<T>>("dataTypeW", w_type));
                       const Scratch<Real<T>> values(static_cast<size_t>(n));
                       *found = symmetric_eigen(letter(jobz), uplo, n, data, lda, values.get());
                       if (n == 0) return CUSOLVER_STATUS_SUCCESS;
                       return write_place("W", w, values.get(),
                                          static_cast<size_t>(n) * sizeof(Real<T>));
                     });
  });
}

}  // extern "C"

}  // namespace km::cusolver
