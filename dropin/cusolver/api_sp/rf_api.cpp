// cusolverRf: refactorizations of a matrix, or of a batch of matrices of one pattern.
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "dropin/cusolver/sparse/places.h"
#include "dropin/cusolver/sparse/refactorization.h"

namespace km::cusolver {

namespace {

/// A cusolverRfHandle_t. Its work runs in the legacy default stream.
struct RfHandle : Handle {
  static constexpr HandleKind kKind = HandleKind::kCusolverRf;
  ~RfHandle() { free_device_factors(); }
  void free_device_factors() {
    for (cu::CUdeviceptr& each : device_factors) {
      if (each != 0 && life.goes_on(*driver)) driver->cuMemFree_v2(each);
      each = 0;
    }
  }

  std::mutex mutex;  // guards the members below
  double zero = 0, boost = 0;
  cusolverRfFactorization_t factorization = CUSOLVERRF_FACTORIZATION_ALG0;
  cusolverRfTriangularSolve_t solution = CUSOLVERRF_TRIANGULAR_SOLVE_ALG1;
  cusolverRfMatrixFormat_t format = CUSOLVERRF_MATRIX_FORMAT_CSR;
  cusolverRfUnitDiagonal_t diagonal = CUSOLVERRF_UNIT_DIAGONAL_STORED_L;
  cusolverRfResetValuesFastMode_t fast_mode = CUSOLVERRF_RESET_VALUES_FAST_MODE_OFF;
  bool is_batch = false, is_analyzed = false, is_factorized = false;
  std::vector<Refactorization> systems;  // one for each matrix
  std::vector<int> zero_pivots;          // of each matrix; -1: there is none
  library::ContextLife life;
  cu::CUdeviceptr device_factors[3] = {};  // starts, indices and values of the first system
};

template <class Body>
cusolverStatus_t call_rf(const char* function, cusolverRfHandle_t handle, Body&& body) {
  return call_with<RfHandle>(function, handle, [&](RfHandle& h) -> cusolverStatus_t {
    const std::lock_guard lock(h.mutex);
    return body(h);
  });
}

/// The arrays of one factor or matrix of order n.
struct RfArrays {
  const char* name;
  int count;
  const int *starts, *indices;
};

/// Reads a pattern with indices from 0, by rows; of a handle for columns it is transposed. `order`
/// gets the place of each element among those that were read.
cusolverStatus_t read_rf(Places& places, const RfHandle& h, int n, const RfArrays& arrays,
                         Pattern* out, std::vector<int>* order) {
  if (n < 0 || arrays.count < 0) return invalid("the size of %s is below 0", arrays.name);
  Pattern given;
  given.rows = given.columns = n;
  LIB_TRY(places.begin());
  LIB_TRY(places.read(arrays.name, arrays.starts, int64_t{n} + 1, &given.starts));
  LIB_TRY(places.read(arrays.name, arrays.indices, arrays.count, &given.indices));
  if (given.starts.front() != 0 || given.starts.back() != arrays.count) {
    return invalid("%s does not run from 0 to %d", arrays.name, arrays.count);
  }
  for (int i = 0; i < n; ++i) {
    if (given.starts[i] > given.starts[i + 1])
      return invalid("%s begins after its end", arrays.name);
  }
  for (const int each : given.indices) {
    if (each < 0 || each >= n) return invalid("%s has index %d of %d", arrays.name, each, n);
  }
  *order = identity_of(arrays.count);
  *out = h.format == CUSOLVERRF_MATRIX_FORMAT_CSR ? given : transpose(given, order);
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t read_permutation(Places& places, const char* name, const int* from, int n,
                                  std::vector<int>* out) {
  LIB_TRY(places.begin());
  LIB_TRY(places.read(name, from, n, out));
  return is_permutation(*out) ? CUSOLVER_STATUS_SUCCESS : invalid("%s is no permutation", name);
}

std::vector<double> in_order(const std::vector<double>& values, const std::vector<int>& order) {
  std::vector<double> result;
  for (const int place : order) result.push_back(values[static_cast<size_t>(place)]);
  return result;
}

/// Arguments of a set-up function, but for the values.
struct Setup {
  int n, batch_count;
  RfArrays a, l, u;
  const int *p, *q;
};

template <class ReadValues>
cusolverStatus_t set_up(RfHandle& h, bool is_host, const Setup& setup, ReadValues&& read_values) {
  Places places(h, is_host);
  if (setup.batch_count < 1) return invalid("batchSize is %d", setup.batch_count);
  Csr<double> a;
  Pattern l, u;
  std::vector<int> p, q, order, ignored;
  LIB_TRY(read_rf(places, h, setup.n, setup.l, &l, &ignored));
  LIB_TRY(read_rf(places, h, setup.n, setup.u, &u, &ignored));
  LIB_TRY(read_rf(places, h, setup.n, setup.a, &a, &order));
  LIB_TRY(read_permutation(places, "P", setup.p, setup.n, &p));
  LIB_TRY(read_permutation(places, "Q", setup.q, setup.n, &q));
  std::vector<Refactorization> systems(static_cast<size_t>(setup.batch_count));
  for (int i = 0; i < setup.batch_count; ++i) {
    LIB_TRY(read_values(places, i, &a.values));
    a.values = in_order(a.values, order);
    if (!systems[static_cast<size_t>(i)].set_up(a, l, u, p, q)) {
      return invalid("P A Q^T has elements where neither L nor U has one");
    }
  }
  h.free_device_factors();
  h.systems = std::move(systems);
  h.zero_pivots.assign(h.systems.size(), -1);
  h.is_analyzed = h.is_factorized = false;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t set_up_one(RfHandle& h, bool is_host, const Setup& setup, const double* values) {
  h.is_batch = false;
  return set_up(h, is_host, setup, [&](Places& places, int, std::vector<double>* out) {
    return places.read("csrValA", values, setup.a.count, out);
  });
}

cusolverStatus_t check_mode(const RfHandle& h, bool is_batch) {
  if (h.systems.empty()) return invalid("no set-up function has been called");
  if (h.is_batch != is_batch)
    return invalid("the handle is %sfor a batch", h.is_batch ? "" : "not ");
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t analyze(RfHandle& h, bool is_batch) {
  LIB_TRY(check_mode(h, is_batch));
  h.is_analyzed = true;
  return CUSOLVER_STATUS_SUCCESS;
}

/// Takes new values of all matrices, whose places `read_values` knows.
template <class ReadValues>
cusolverStatus_t reset(RfHandle& h, int n, const RfArrays& a, const int* p, const int* q,
                       ReadValues&& read_values) {
  Places places(h, false);
  Pattern pattern;
  std::vector<int> order, rows, columns;
  LIB_TRY(read_rf(places, h, n, a, &pattern, &order));
  const Pattern& known = h.systems.front().matrix();
  if (pattern.starts != known.starts || pattern.indices != known.indices) {
    return invalid("the pattern of A is not that of the set-up");
  }
  LIB_TRY(read_permutation(places, "P", p, n, &rows));
  LIB_TRY(read_permutation(places, "Q", q, n, &columns));
  for (size_t i = 0; i < h.systems.size(); ++i) {
    std::vector<double> values;
    LIB_TRY(read_values(places, static_cast<int>(i), &values));
    if (!h.systems[i].place(rows, columns)) {
      return invalid("P A Q^T has elements where neither L nor U has one");
    }
    h.systems[i].reset(in_order(values, order), rows, columns);
  }
  h.is_factorized = false;
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t refactorize(RfHandle& h, bool is_batch) {
  LIB_TRY(check_mode(h, is_batch));
  if (!h.is_analyzed) return invalid("cusolverRfAnalyze has not been called");
  bool has_zero = false;
  for (size_t i = 0; i < h.systems.size(); ++i) {
    h.zero_pivots[i] = h.systems[i].factorize(h.zero, h.boost);
    has_zero = has_zero || h.zero_pivots[i] >= 0;
  }
  h.is_factorized = true;
  // A batch has cusolverRfBatchZeroPivot for the positions.
  if (is_batch || !has_zero) return CUSOLVER_STATUS_SUCCESS;
  return frame::fail(CUSOLVER_STATUS_ZERO_PIVOT, "row %d has a zero pivot", h.zero_pivots.front());
}

/// Solves right-hand sides of one matrix in place.
cusolverStatus_t solve_columns(Places& places, const Refactorization& system,
                               const std::vector<int>& p, const std::vector<int>& q, int nrhs,
                               double* xf, int ldxf) {
  for (int64_t j = 0; j < nrhs; ++j) {
    std::vector<double> column;
    LIB_TRY(places.read("XF", xf + j * ldxf, system.rows(), &column));
    system.solve(p, q, column.data());
    LIB_TRY(places.write("XF", xf + j * ldxf, column));
  }
  return CUSOLVER_STATUS_SUCCESS;
}

cusolverStatus_t begin_solve(RfHandle& h, Places& places, bool is_batch, int nrhs, int ldt,
                             int ldxf, const int* p, const int* q, std::vector<int>* rows,
                             std::vector<int>* columns) {
  LIB_TRY(check_mode(h, is_batch));
  if (!h.is_factorized) return invalid("cusolverRfRefactor has not been called");
  const int n = h.systems.front().rows();
  if (nrhs < 0) return invalid("nrhs is %d", nrhs);
  if (ldt < n || ldxf < n) return invalid("ldt is %d and ldxf is %d; n is %d", ldt, ldxf, n);
  LIB_TRY(read_permutation(places, "P", p, n, rows));
  return read_permutation(places, "Q", q, n, columns);
}

/// Gives an array that the program frees.
template <class T>
cusolverStatus_t give_array(const char* name, T** place, const std::vector<T>& values) {
  const size_t size_bytes = values.size() * sizeof(T);
  T* const made = static_cast<T*>(std::malloc(std::max<size_t>(size_bytes, 1)));
  if (made == nullptr) return CUSOLVER_STATUS_ALLOC_FAILED;
  std::memcpy(made, values.data(), size_bytes);
  const cusolverStatus_t given = write_value(name, place, made);
  if (given != CUSOLVER_STATUS_SUCCESS) std::free(made);
  return given;
}

cusolverStatus_t check_factors(const RfHandle& h) {
  LIB_TRY(check_mode(h, false));
  if (h.is_factorized) return CUSOLVER_STATUS_SUCCESS;
  return invalid("cusolverRfRefactor has not been called");
}

/// One of the factors, with its diagonal.
Csr<double> factor_of(const Csr<double>& both, bool is_lower) {
  Csr<double> result;
  result.rows = result.columns = both.rows;
  result.starts.push_back(0);
  for (int i = 0; i < both.rows; ++i) {
    for (int k = both.starts[i]; k < both.starts[i + 1]; ++k) {
      if (is_lower ? both.indices[k] >= i : both.indices[k] < i) continue;
      result.indices.push_back(both.indices[k]);
      result.values.push_back(both.values[k]);
    }
    if (is_lower) {
      result.indices.push_back(i);
      result.values.push_back(1);
    }
    result.starts.push_back(static_cast<int>(result.indices.size()));
  }
  return result;
}

cusolverStatus_t give_factor(const Csr<double>& factor, int* count, int** starts, int** indices,
                             double** values) {
  LIB_TRY(write_value("the number of elements", count, factor.count()));
  LIB_TRY(give_array("the rows' starts", starts, factor.starts));
  LIB_TRY(give_array("the column indices", indices, factor.indices));
  return give_array("the values", values, factor.values);
}

/// Copies an array of the factors to memory of the device, which the handle keeps.
template <class T>
cusolverStatus_t give_device_array(RfHandle& h, int which, const char* name, T** place,
                                   const std::vector<T>& values) {
  cu::CUdeviceptr& memory = h.device_factors[which];
  const size_t size_bytes = values.size() * sizeof(T);
  if (memory == 0) LIB_CHECK(h.driver->cuMemAlloc_v2(&memory, std::max<size_t>(size_bytes, 1)));
  Places places(h, false);
  LIB_TRY(places.begin());
  LIB_TRY(places.write(name, reinterpret_cast<T*>(memory), values));
  return write_value(name, place, reinterpret_cast<T*>(memory));
}

/// Reads an array of pointers in memory of the device or the host.
cusolverStatus_t read_pointers(Places& places, const char* name, double** from, size_t count,
                               std::vector<double*>* out) {
  return places.read(name, from, static_cast<int64_t>(count), out);
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverRfCreate(cusolverRfHandle_t* handle) {
  return call(__func__, [&] { return create_handle<RfHandle>(handle); });
}
cusolverStatus_t cusolverRfDestroy(cusolverRfHandle_t handle) {
  return call(__func__, [&] { return end_object<RfHandle>(handle); });
}

cusolverStatus_t cusolverRfGetMatrixFormat(cusolverRfHandle_t handle,
                                           cusolverRfMatrixFormat_t* format,
                                           cusolverRfUnitDiagonal_t* diagonal) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    LIB_TRY(write_value("format", format, h.format));
    return write_value("diag", diagonal, h.diagonal);
  });
}
cusolverStatus_t cusolverRfSetMatrixFormat(cusolverRfHandle_t handle,
                                           cusolverRfMatrixFormat_t format,
                                           cusolverRfUnitDiagonal_t diagonal) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    if (format != CUSOLVERRF_MATRIX_FORMAT_CSR && format != CUSOLVERRF_MATRIX_FORMAT_CSC) {
      return invalid("format is %d", static_cast<int>(format));
    }
    if (diagonal == CUSOLVERRF_UNIT_DIAGONAL_STORED_U ||
        diagonal == CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U) {
      return unsupported("the diagonal of L is one, not that of U");
    }
    if (diagonal < CUSOLVERRF_UNIT_DIAGONAL_STORED_L ||
        diagonal > CUSOLVERRF_UNIT_DIAGONAL_ASSUMED_U) {
      return invalid("diag is %d", static_cast<int>(diagonal));
    }
    h.format = format;
    h.diagonal = diagonal;
    return CUSOLVER_STATUS_SUCCESS;
  });
}

cusolverStatus_t cusolverRfSetNumericProperties(cusolverRfHandle_t handle, double zero,
                                                double boost) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    if (!(zero >= 0) || !(boost >= 0)) return invalid("zero is %g, boost is %g", zero, boost);
    h.zero = zero;
    h.boost = boost;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverRfGetNumericProperties(cusolverRfHandle_t handle, double* zero,
                                                double* boost) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    LIB_TRY(write_value("zero", zero, h.zero));
    return write_value("boost", boost, h.boost);
  });
}
cusolverStatus_t cusolverRfGetNumericBoostReport(cusolverRfHandle_t handle,
                                                 cusolverRfNumericBoostReport_t* report) {
  return call_rf(__func__, handle, [&](RfHandle& h) {
    bool is_boosted = false;
    for (const Refactorization& each : h.systems) is_boosted = is_boosted || each.is_boosted();
    return write_value(
        "report", report,
        is_boosted ? CUSOLVERRF_NUMERIC_BOOST_USED : CUSOLVERRF_NUMERIC_BOOST_NOT_USED);
  });
}

/// The algorithms are kept to be read back: there is one for each step.
cusolverStatus_t cusolverRfSetAlgs(cusolverRfHandle_t handle,
                                   cusolverRfFactorization_t factorization,
                                   cusolverRfTriangularSolve_t solution) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    if (factorization < CUSOLVERRF_FACTORIZATION_ALG0 ||
        factorization > CUSOLVERRF_FACTORIZATION_ALG2 ||
        solution < CUSOLVERRF_TRIANGULAR_SOLVE_ALG1 ||
        solution > CUSOLVERRF_TRIANGULAR_SOLVE_ALG3) {
      return invalid("factAlg is %d, solveAlg is %d", static_cast<int>(factorization),
                     static_cast<int>(solution));
    }
    h.factorization = factorization;
    h.solution = solution;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverRfGetAlgs(cusolverRfHandle_t handle,
                                   cusolverRfFactorization_t* factorization,
                                   cusolverRfTriangularSolve_t* solution) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    LIB_TRY(write_value("factAlg", factorization, h.factorization));
    return write_value("solveAlg", solution, h.solution);
  });
}
cusolverStatus_t cusolverRfSetResetValuesFastMode(cusolverRfHandle_t handle,
                                                  cusolverRfResetValuesFastMode_t mode) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    if (mode != CUSOLVERRF_RESET_VALUES_FAST_MODE_OFF &&
        mode != CUSOLVERRF_RESET_VALUES_FAST_MODE_ON) {
      return invalid("fastMode is %d", static_cast<int>(mode));
    }
    h.fast_mode = mode;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverRfGetResetValuesFastMode(cusolverRfHandle_t handle,
                                                  cusolverRfResetValuesFastMode_t* mode) {
  return call_rf(__func__, handle,
                 [&](RfHandle& h) { return write_value("fastMode", mode, h.fast_mode); });
}

cusolverStatus_t cusolverRfSetupHost(int n, int nnzA, int* Ap, int* Ai, double* Ax, int nnzL,
                                     int* Lp, int* Li, double*, int nnzU, int* Up, int* Ui, double*,
                                     int* P, int* Q, cusolverRfHandle_t handle) {
  return call_rf(__func__, handle, [&](RfHandle& h) {
    const Setup setup{n, 1, {"A", nnzA, Ap, Ai}, {"L", nnzL, Lp, Li}, {"U", nnzU, Up, Ui}, P, Q};
    return set_up_one(h, true, setup, Ax);
  });
}
cusolverStatus_t cusolverRfSetupDevice(int n, int nnzA, int* Ap, int* Ai, double* Ax, int nnzL,
                                       int* Lp, int* Li, double*, int nnzU, int* Up, int* Ui,
                                       double*, int* P, int* Q, cusolverRfHandle_t handle) {
  return call_rf(__func__, handle, [&](RfHandle& h) {
    const Setup setup{n, 1, {"A", nnzA, Ap, Ai}, {"L", nnzL, Lp, Li}, {"U", nnzU, Up, Ui}, P, Q};
    return set_up_one(h, false, setup, Ax);
  });
}
cusolverStatus_t cusolverRfBatchSetupHost(int batch_count, int n, int nnzA, int* Ap, int* Ai,
                                          double** Ax, int nnzL, int* Lp, int* Li, double*,
                                          int nnzU, int* Up, int* Ui, double*, int* P, int* Q,
                                          cusolverRfHandle_t handle) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    const Setup setup{
        n, batch_count, {"A", nnzA, Ap, Ai}, {"L", nnzL, Lp, Li}, {"U", nnzU, Up, Ui}, P, Q};
    h.is_batch = true;
    return set_up(h, true, setup,
                  [&](Places& places, int i, std::vector<double>* out) -> cusolverStatus_t {
                    const double* values = nullptr;
                    LIB_TRY(read_place("csrValA_array", Ax + i, &values, sizeof values));
                    return places.read("csrValA", values, nnzA, out);
                  });
  });
}

cusolverStatus_t cusolverRfAnalyze(cusolverRfHandle_t handle) {
  return call_rf(__func__, handle, [](RfHandle& h) { return analyze(h, false); });
}
cusolverStatus_t cusolverRfBatchAnalyze(cusolverRfHandle_t handle) {
  return call_rf(__func__, handle, [](RfHandle& h) { return analyze(h, true); });
}
cusolverStatus_t cusolverRfRefactor(cusolverRfHandle_t handle) {
  return call_rf(__func__, handle, [](RfHandle& h) { return refactorize(h, false); });
}
cusolverStatus_t cusolverRfBatchRefactor(cusolverRfHandle_t handle) {
  return call_rf(__func__, handle, [](RfHandle& h) { return refactorize(h, true); });
}

cusolverStatus_t cusolverRfResetValues(int n, int nnzA, int* Ap, int* Ai, double* Ax, int* P,
                                       int* Q, cusolverRfHandle_t handle) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_mode(h, false));
    return reset(h, n, {"A", nnzA, Ap, Ai}, P, Q,
                 [&](Places& places, int, std::vector<double>* out) {
                   return places.read("csrValA", Ax, nnzA, out);
                 });
  });
}
cusolverStatus_t cusolverRfBatchResetValues(int batch_count, int n, int nnzA, int* Ap, int* Ai,
                                            double** Ax, int* P, int* Q,
                                            cusolverRfHandle_t handle) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_mode(h, true));
    if (static_cast<size_t>(std::max(batch_count, 0)) != h.systems.size()) {
      return invalid("batchSize is %d; it was %zu", batch_count, h.systems.size());
    }
    std::vector<double*> values;
    Places pointers(h, false);
    LIB_TRY(pointers.begin());
    LIB_TRY(read_pointers(pointers, "csrValA_array", Ax, h.systems.size(), &values));
    return reset(h, n, {"A", nnzA, Ap, Ai}, P, Q,
                 [&](Places& places, int i, std::vector<double>* out) {
                   return places.read("csrValA", values[static_cast<size_t>(i)], nnzA, out);
                 });
  });
}

cusolverStatus_t cusolverRfSolve(cusolverRfHandle_t handle, int* P, int* Q, int nrhs, double*,
                                 int ldt, double* XF, int ldxf) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    Places places(h, false);
    std::vector<int> rows, columns;
    LIB_TRY(begin_solve(h, places, false, nrhs, ldt, ldxf, P, Q, &rows, &columns));
    return solve_columns(places, h.systems.front(), rows, columns, nrhs, XF, ldxf);
  });
}
cusolverStatus_t cusolverRfBatchSolve(cusolverRfHandle_t handle, int* P, int* Q, int nrhs, double*,
                                      int ldt, double** XF, int ldxf) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    Places places(h, false);
    std::vector<int> rows, columns;
    LIB_TRY(begin_solve(h, places, true, nrhs, ldt, ldxf, P, Q, &rows, &columns));
    std::vector<double*> right;
    LIB_TRY(read_pointers(places, "XF_array", XF, h.systems.size(), &right));
    for (size_t i = 0; i < h.systems.size(); ++i) {
      LIB_TRY(solve_columns(places, h.systems[i], rows, columns, nrhs, right[i], ldxf));
    }
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverRfBatchZeroPivot(cusolverRfHandle_t handle, int* position) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_mode(h, true));
    LIB_TRY(write_place("position", position, h.zero_pivots.data(),
                        h.zero_pivots.size() * sizeof(int)));
    for (const int each : h.zero_pivots) {
      if (each >= 0) return CUSOLVER_STATUS_ZERO_PIVOT;
    }
    return CUSOLVER_STATUS_SUCCESS;
  });
}

cusolverStatus_t cusolverRfExtractBundledFactorsHost(cusolverRfHandle_t handle, int* count,
                                                     int** starts, int** indices, double** values) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_factors(h));
    return give_factor(h.systems.front().factors(), count, starts, indices, values);
  });
}
cusolverStatus_t cusolverRfExtractSplitFactorsHost(cusolverRfHandle_t handle, int* l_count,
                                                   int** l_starts, int** l_indices,
                                                   double** l_values, int* u_count, int** u_starts,
                                                   int** u_indices, double** u_values) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_factors(h));
    const Csr<double>& both = h.systems.front().factors();
    LIB_TRY(give_factor(factor_of(both, true), l_count, l_starts, l_indices, l_values));
    return give_factor(factor_of(both, false), u_count, u_starts, u_indices, u_values);
  });
}
cusolverStatus_t cusolverRfAccessBundledFactorsDevice(cusolverRfHandle_t handle, int* count,
                                                      int** starts, int** indices,
                                                      double** values) {
  return call_rf(__func__, handle, [&](RfHandle& h) -> cusolverStatus_t {
    LIB_TRY(check_factors(h));
    const Csr<double>& both = h.systems.front().factors();
    if (!h.life.is_noted()) LIB_CHECK(h.life.note_current(*h.driver));
    LIB_TRY(write_value("nnzM", count, both.count()));
    LIB_TRY(give_device_array(h, 0, "Mp", starts, both.starts));
    LIB_TRY(give_device_array(h, 1, "Mi", indices, both.indices));
    return give_device_array(h, 2, "Mx", values, both.values);
  });
}

}  // extern "C"

}  // namespace km::cusolver
