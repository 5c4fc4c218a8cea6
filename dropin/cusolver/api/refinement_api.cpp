// Solvers with iterative refinement. Systems are solved in the precision of their numbers at once,
// which takes no iteration.
#include "dropin/cusolver/dense/direct.h"
#include "dropin/cusolver/frame/exports.h"
#include "dropin/cusolver/frame/objects.h"

namespace km::cusolver {

namespace {

/// The results of a solver besides X.
struct Results {
  int* iterations;  // in host memory
  int* info;
  int* pivots = nullptr;
  RefinementInfos* infos = nullptr;
};

/// Fills the matrix of norms: a row for the start and for each iteration that there might be, and a
/// column for the number of iterations and for each right-hand side.
template <class T>
void keep_history(RefinementInfos& infos, const std::vector<double>& norms) {
  const auto fill = [&](auto& history) {
    const size_t rows = static_cast<size_t>(infos.most_iterations) + 1;
    history.assign(rows * (norms.size() + 1), 0);
    for (size_t j = 0; j < norms.size(); ++j) {
      history[(j + 1) * rows] = static_cast<Real<T>>(norms[j]);
    }
  };
  if constexpr (sizeof(Real<T>) == sizeof(float)) {
    fill(infos.history_f32);
  } else {
    fill(infos.history_f64);
  }
}

/// Solves the systems, and waits, because the number of iterations goes to the host.
template <class T>
cusolverStatus_t solve(DnHandle& h, const char* name, const LinearSystem<T>& s, bool is_square,
                       const Results& results) {
  Job job(h, name);
  job.size("m", s.m).size("n", s.n).size("nrhs", s.nrhs).choice("n", s.n, s.n <= s.m);
  job.matrix("A", s.a, s.m, s.n, s.lda, false).matrix("B", s.b, s.m, s.nrhs, s.ldb, false);
  job.matrix("X", s.x, s.n, s.nrhs, s.ldx, true).info(results.info);
  if (results.pivots != nullptr) job.vector("dipiv", results.pivots, s.n, true);
  job.not_captured("the number of iterations");
  const bool has_norms = results.infos != nullptr && results.infos->wants_residual;
  const auto norms = std::make_shared<std::vector<double>>();
  const double flops = 2.0 * double(s.m) * double(s.n) * double(s.n + s.nrhs);
  LIB_TRY(job.submit(flops, [=, info = results.info, pivots = results.pivots] {
    *info = is_square ? solve_system(s, pivots) : solve_least_squares(s);
    if (has_norms) *norms = residual_norms(s);
  }));
  LIB_TRY(job.wait());
  if (RefinementInfos* const infos = results.infos) {
    infos->iterations = 0;
    if (has_norms) keep_history<T>(*infos, *norms);
  }
  return write_value("niters", results.iterations, 0);
}

#define KM_P_GESV(P, T)                                                                   \
  P(int, n), P(int, nrhs), P(T*, A), P(int, lda), P(int*, pivots), P(T*, B), P(int, ldb), \
      P(T*, X), P(int, ldx), P(void*, work), P(size_t, work_bytes), P(int*, iterations),  \
      P(int*, info)
template <class T>
cusolverStatus_t gesv(DnHandle& h, const char* name, KM_P_GESV(KM_SIGNATURE, T)) {
  const LinearSystem<Native<T>> system{n, n, nrhs, native(A), lda, native(B), ldb, native(X), ldx};
  return solve(h, name, system, true, Results{iterations, info, pivots});
}

#define KM_P_GELS(P, T)                                                                       \
  P(int, m), P(int, n), P(int, nrhs), P(T*, A), P(int, lda), P(T*, B), P(int, ldb), P(T*, X), \
      P(int, ldx), P(void*, work), P(size_t, work_bytes), P(int*, iterations), P(int*, info)
template <class T>
cusolverStatus_t gels(DnHandle& h, const char* name, KM_P_GELS(KM_SIGNATURE, T)) {
  const LinearSystem<Native<T>> system{m, n, nrhs, native(A), lda, native(B), ldb, native(X), ldx};
  return solve(h, name, system, false, Results{iterations, info});
}

}  // namespace

#define KM_SOLVERS(letters, T)                                \
  KM_EXPORT(cusolverDn##letters##gesv, KM_P_GESV, T, gesv<T>) \
  KM_EXPORT(cusolverDn##letters##gels, KM_P_GELS, T, gels<T>)
KM_SOLVERS(ZZ, cuDoubleComplex)
KM_SOLVERS(ZC, cuDoubleComplex)
KM_SOLVERS(ZK, cuDoubleComplex)
KM_SOLVERS(ZE, cuDoubleComplex)
KM_SOLVERS(ZY, cuDoubleComplex)
KM_SOLVERS(CC, cuComplex)
KM_SOLVERS(CK, cuComplex)
KM_SOLVERS(CE, cuComplex)
KM_SOLVERS(CY, cuComplex)
KM_SOLVERS(DD, double)
KM_SOLVERS(DS, double)
KM_SOLVERS(DH, double)
KM_SOLVERS(DB, double)
KM_SOLVERS(DX, double)
KM_SOLVERS(SS, float)
KM_SOLVERS(SH, float)
KM_SOLVERS(SB, float)
KM_SOLVERS(SX, float)

namespace {

/// Runs `body` with the parameters of a solver.
template <class Body>
cusolverStatus_t with_params(cusolverDnIRSParams_t params, const char* function, Body&& body) {
  return call(function, [&]() -> cusolverStatus_t {
    const std::shared_ptr<RefinementParams> found = find_object<RefinementParams>(params);
    if (found == nullptr) {
      return frame::fail(CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED, "params is not live");
    }
    return body(*found);
  });
}

/// Runs `body` with what a call left, which is locked.
template <class Body>
cusolverStatus_t with_infos(cusolverDnIRSInfos_t infos, const char* function, Body&& body) {
  return call(function, [&]() -> cusolverStatus_t {
    const std::shared_ptr<RefinementInfos> found = find_object<RefinementInfos>(infos);
    if (found == nullptr) {
      return frame::fail(CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED, "infos is not live");
    }
    const std::lock_guard lock(found->mutex);
    return body(*found);
  });
}

bool is_precision(cusolverPrecType_t type) {
  return (type >= CUSOLVER_R_8I && type <= CUSOLVER_R_AP) ||
         (type >= CUSOLVER_C_8I && type <= CUSOLVER_C_AP);
}

cusolverStatus_t check_precision(cusolverPrecType_t type) {
  if (is_precision(type)) return CUSOLVER_STATUS_SUCCESS;
  return frame::fail(CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC, "the precision is %d",
                     static_cast<int>(type));
}

/// The data type of a main precision; -1 if it is none.
int data_type_of(int precision) {
  switch (precision) {
    case CUSOLVER_R_32F:
      return CUDA_R_32F;
    case CUSOLVER_R_64F:
      return CUDA_R_64F;
    case CUSOLVER_C_32F:
      return CUDA_C_32F;
    case CUSOLVER_C_64F:
      return CUDA_C_64F;
    default:
      return -1;
  }
}

/// The matrices of a call of an expert function.
struct AnySystem {
  int m, n, nrhs;
  void* a;
  int lda;
  void* b;
  int ldb;
  void* x;
  int ldx;
};

cusolverStatus_t solve_expert(const char* function, cusolverDnHandle_t handle,
                              cusolverDnIRSParams_t params, cusolverDnIRSInfos_t infos,
                              const AnySystem& any, bool is_square, int* iterations, int* info) {
  return call(function, handle, [&](DnHandle& h) -> cusolverStatus_t {
    const std::shared_ptr<RefinementParams> settings = find_object<RefinementParams>(params);
    if (settings == nullptr) {
      return frame::fail(CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED, "params is not live");
    }
    const std::shared_ptr<RefinementInfos> left = find_object<RefinementInfos>(infos);
    if (left == nullptr) {
      return frame::fail(CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED, "infos is not live");
    }
    const int type = data_type_of(settings->main_precision);
    if (type < 0) {
      return frame::fail(CUSOLVER_STATUS_IRS_PARAMS_INVALID_PREC,
                         "the main precision is not f32, f64, c32 or c64");
    }
    const std::lock_guard lock(left->mutex);
    left->most_iterations = settings->most_iterations;
    return for_type(static_cast<cudaDataType>(type), [&]<class T>(T*) {
      const LinearSystem<T> system{any.m,    any.n,
                                   any.nrhs, static_cast<T*>(any.a),
                                   any.lda,  static_cast<T*>(any.b),
                                   any.ldb,  static_cast<T*>(any.x),
                                   any.ldx};
      return solve(h, function, system, is_square, Results{iterations, info, nullptr, left.get()});
    });
  });
}

}  // namespace

extern "C" {

cusolverStatus_t cusolverDnIRSXgesv(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                                    cusolverDnIRSInfos_t infos, int n, int nrhs, void* a, int lda,
                                    void* b, int ldb, void* x, int ldx, void*, size_t,
                                    int* iterations, int* info) {
  return solve_expert(__func__, handle, params, infos, {n, n, nrhs, a, lda, b, ldb, x, ldx}, true,
                      iterations, info);
}
cusolverStatus_t cusolverDnIRSXgels(cusolverDnHandle_t handle, cusolverDnIRSParams_t params,
                                    cusolverDnIRSInfos_t infos, int m, int n, int nrhs, void* a,
                                    int lda, void* b, int ldb, void* x, int ldx, void*, size_t,
                                    int* iterations, int* info) {
  return solve_expert(__func__, handle, params, infos, {m, n, nrhs, a, lda, b, ldb, x, ldx}, false,
                      iterations, info);
}

cusolverStatus_t cusolverDnIRSParamsCreate(cusolverDnIRSParams_t* params) {
  return call(__func__, [&]() -> cusolverStatus_t {
    LIB_REQUIRE(params);
    return give_object("params", params, std::make_shared<RefinementParams>());
  });
}
cusolverStatus_t cusolverDnIRSParamsDestroy(cusolverDnIRSParams_t params) {
  return call(__func__, [&] {
    return end_object<RefinementParams>(params, CUSOLVER_STATUS_IRS_PARAMS_NOT_INITIALIZED);
  });
}
cusolverStatus_t cusolverDnIRSParamsSetRefinementSolver(cusolverDnIRSParams_t params,
                                                        cusolverIRSRefinement_t solver) {
  return with_params(params, __func__, [&](RefinementParams& p) {
    if (solver < CUSOLVER_IRS_REFINE_NOT_SET || solver > CUSOLVER_IRS_REFINE_GMRES_NOPCOND) {
      return frame::fail(CUSOLVER_STATUS_IRS_PARAMS_INVALID_REFINE, "the solver is %d",
                         static_cast<int>(solver));
    }
    p.refinement = solver;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnIRSParamsSetSolverMainPrecision(cusolverDnIRSParams_t params,
                                                           cusolverPrecType_t type) {
  return with_params(params, __func__, [&](RefinementParams& p) {
    LIB_TRY(check_precision(type));
    p.main_precision = type;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnIRSParamsSetSolverLowestPrecision(cusolverDnIRSParams_t params,
                                                             cusolverPrecType_t type) {
  return with_params(params, __func__, [&](RefinementParams& p) {
    LIB_TRY(check_precision(type));
    p.lowest_precision = type;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnIRSParamsSetSolverPrecisions(cusolverDnIRSParams_t params,
                                                        cusolverPrecType_t main,
                                                        cusolverPrecType_t lowest) {
  return with_params(params, __func__, [&](RefinementParams& p) {
    LIB_TRY(check_precision(main));
    LIB_TRY(check_precision(lowest));
    p.main_precision = main;
    p.lowest_precision = lowest;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnIRSParamsSetTol(cusolverDnIRSParams_t params, double value) {
  return with_params(params, __func__, [&](RefinementParams& p) {
    p.tolerance = value;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnIRSParamsSetTolInner(cusolverDnIRSParams_t params, double value) {
  return with_params(params, __func__, [&](RefinementParams& p) {
    p.inner_tolerance = value;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnIRSParamsSetMaxIters(cusolverDnIRSParams_t params, int most) {
  return with_params(params, __func__, [&](RefinementParams& p) {
    if (most < 0) {
      return frame::fail(CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER, "maxiters is %d", most);
    }
    p.most_iterations = most;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnIRSParamsSetMaxItersInner(cusolverDnIRSParams_t params, int most) {
  return with_params(params, __func__, [&](RefinementParams& p) {
    if (most < 0) {
      return frame::fail(CUSOLVER_STATUS_IRS_PARAMS_INVALID_MAXITER, "maxiters_inner is %d", most);
    }
    p.most_inner_iterations = most;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnIRSParamsGetMaxIters(cusolverDnIRSParams_t params, int* most) {
  return with_params(params, __func__, [&](RefinementParams& p) {
    return write_value("maxiters", most, p.most_iterations.load());
  });
}
cusolverStatus_t cusolverDnIRSParamsEnableFallback(cusolverDnIRSParams_t params) {
  return with_params(params, __func__, [](RefinementParams& p) {
    p.has_fallback = true;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
cusolverStatus_t cusolverDnIRSParamsDisableFallback(cusolverDnIRSParams_t params) {
  return with_params(params, __func__, [](RefinementParams& p) {
    p.has_fallback = false;
    return CUSOLVER_STATUS_SUCCESS;
  });
}

cusolverStatus_t cusolverDnIRSInfosCreate(cusolverDnIRSInfos_t* infos) {
  return call(__func__, [&]() -> cusolverStatus_t {
    LIB_REQUIRE(infos);
    return give_object("infos", infos, std::make_shared<RefinementInfos>());
  });
}
cusolverStatus_t cusolverDnIRSInfosDestroy(cusolverDnIRSInfos_t infos) {
  return call(__func__, [&] {
    return end_object<RefinementInfos>(infos, CUSOLVER_STATUS_IRS_INFOS_NOT_INITIALIZED);
  });
}
cusolverStatus_t cusolverDnIRSInfosGetNiters(cusolverDnIRSInfos_t infos, int* iterations) {
  return with_infos(infos, __func__, [&](RefinementInfos& found) {
    return write_value("niters", iterations, found.iterations);
  });
}
cusolverStatus_t cusolverDnIRSInfosGetOuterNiters(cusolverDnIRSInfos_t infos, int* iterations) {
  return with_infos(infos, __func__, [&](RefinementInfos& found) {
    return write_value("outer_niters", iterations, found.iterations);
  });
}
cusolverStatus_t cusolverDnIRSInfosGetMaxIters(cusolverDnIRSInfos_t infos, int* most) {
  return with_infos(infos, __func__, [&](RefinementInfos& found) {
    return write_value("maxiters", most, found.most_iterations);
  });
}
cusolverStatus_t cusolverDnIRSInfosRequestResidual(cusolverDnIRSInfos_t infos) {
  return with_infos(infos, __func__, [](RefinementInfos& found) {
    found.wants_residual = true;
    return CUSOLVER_STATUS_SUCCESS;
  });
}
/// The history belongs to `infos`.
cusolverStatus_t cusolverDnIRSInfosGetResidualHistory(cusolverDnIRSInfos_t infos, void** history) {
  return with_infos(infos, __func__, [&](RefinementInfos& found) -> cusolverStatus_t {
    void* place = found.history_f64.empty() ? static_cast<void*>(found.history_f32.data())
                                            : static_cast<void*>(found.history_f64.data());
    if (found.history_f64.empty() && found.history_f32.empty()) {
      return invalid("no call with a requested residual has left a history");
    }
    return write_value("residual_history", history, place);
  });
}

}  // extern "C"

}  // namespace km::cusolver
