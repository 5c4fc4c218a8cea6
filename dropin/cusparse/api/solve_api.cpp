// SpSV and SpSM: triangular solves. They use no workspace.
#include "dropin/cusparse/generic/solver.h"

namespace km::cusparse {
namespace {

cusparseStatus_t check_algorithm(int alg, int last) {
  return alg >= 0 && alg <= last ? CUSPARSE_STATUS_SUCCESS : invalid("alg is %d", alg);
}

/// Gives the size of the workspace after the checks of a call.
template <class Object, class Id, class Call>
cusparseStatus_t give_size(Handle& h, const Call& arguments, Id descriptor, size_t* size) {
  Object ignored;
  TriangularSystem system;
  LIB_TRY(read_descriptor("the solve's descriptor", descriptor, &ignored));
  LIB_TRY(prepare(h, arguments, false, &system, nullptr));
  return give("bufferSize", size, kNoWorkspace);
}

template <class Object, class Id, class Call>
cusparseStatus_t analyse_for(Handle& h, const char* name, const Call& arguments, Id descriptor) {
  TriangularSystem system;
  LIB_TRY(prepare(h, arguments, false, &system, nullptr));
  std::shared_ptr<Analysis> made;
  Object found;
  LIB_TRY(read_descriptor("the solve's descriptor", descriptor, &found));
  LIB_TRY(analyse(h, name, system, &made));
  return change_descriptor<Object>("the solve's descriptor", descriptor, [&](Object& object) {
    object.analysis = made;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

template <class Object, class Id, class Call>
cusparseStatus_t solve_by(Handle& h, const char* name, const Call& arguments, Id descriptor) {
  Object object;
  TriangularSystem system;
  Arrays arrays;
  LIB_TRY(read_descriptor("the solve's descriptor", descriptor, &object));
  LIB_TRY(prepare(h, arguments, true, &system, &arrays));
  return solve(h, name, arrays, system, object.analysis);
}

template <class Object, class Id>
cusparseStatus_t update(Handle& h, const char* name, Id descriptor, const void* values, int part) {
  Object object;
  LIB_TRY(read_descriptor("the solve's descriptor", descriptor, &object));
  if (part != 0 && part != 1) return invalid("updatePart is %d", part);
  return update_values(h, name, object.analysis, values, part == CUSPARSE_SPSV_UPDATE_DIAGONAL);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpSV_createDescr(cusparseSpSVDescr_t* descriptor) {
  return call(
      [&] { return give_descriptor(descriptor, VectorSolver{}, HandleKind::kSparseSolver); });
}
cusparseStatus_t cusparseSpSV_destroyDescr(cusparseSpSVDescr_t descriptor) {
  return call([&] { return end_object<Shared<VectorSolver>>(descriptor); });
}
cusparseStatus_t cusparseSpSV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void* alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                         cudaDataType compute, cusparseSpSVAlg_t alg,
                                         cusparseSpSVDescr_t descriptor, size_t* size) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg, CUSPARSE_SPSV_ALG2));
    const VectorSolveCall arguments = {op, alpha, a, x, y, compute};
    return give_size<VectorSolver>(h, arguments, descriptor, size);
  });
}
cusparseStatus_t cusparseSpSV_analysis(cusparseHandle_t handle, cusparseOperation_t op,
                                       const void* alpha, cusparseConstSpMatDescr_t a,
                                       cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                       cudaDataType compute, cusparseSpSVAlg_t alg,
                                       cusparseSpSVDescr_t descriptor, void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg, CUSPARSE_SPSV_ALG2));
    const VectorSolveCall arguments = {op, alpha, a, x, y, compute};
    return analyse_for<VectorSolver>(h, "cusparseSpSV_analysis", arguments, descriptor);
  });
}
cusparseStatus_t cusparseSpSV_solve(cusparseHandle_t handle, cusparseOperation_t op,
                                    const void* alpha, cusparseConstSpMatDescr_t a,
                                    cusparseConstDnVecDescr_t x, cusparseDnVecDescr_t y,
                                    cudaDataType compute, cusparseSpSVAlg_t alg,
                                    cusparseSpSVDescr_t descriptor) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg, CUSPARSE_SPSV_ALG2));
    const VectorSolveCall arguments = {op, alpha, a, x, y, compute};
    return solve_by<VectorSolver>(h, "cusparseSpSV_solve", arguments, descriptor);
  });
}
cusparseStatus_t cusparseSpSV_updateMatrix(cusparseHandle_t handle, cusparseSpSVDescr_t descriptor,
                                           void* values, cusparseSpSVUpdate_t part) {
  return call(handle, [&](Handle& h) {
    return update<VectorSolver>(h, "cusparseSpSV_updateMatrix", descriptor, values, part);
  });
}

cusparseStatus_t cusparseSpSM_createDescr(cusparseSpSMDescr_t* descriptor) {
  return call(
      [&] { return give_descriptor(descriptor, MatrixSolver{}, HandleKind::kSparseSolver); });
}
cusparseStatus_t cusparseSpSM_destroyDescr(cusparseSpSMDescr_t descriptor) {
  return call([&] { return end_object<Shared<MatrixSolver>>(descriptor); });
}
cusparseStatus_t cusparseSpSM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a,
                                         cusparseOperation_t op_b, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         cusparseDnMatDescr_t c, cudaDataType compute,
                                         cusparseSpSMAlg_t alg, cusparseSpSMDescr_t descriptor,
                                         size_t* size) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg, 0));
    const MatrixSolveCall arguments = {op_a, op_b, alpha, a, b, c, compute};
    return give_size<MatrixSolver>(h, arguments, descriptor, size);
  });
}
cusparseStatus_t cusparseSpSM_analysis(cusparseHandle_t handle, cusparseOperation_t op_a,
                                       cusparseOperation_t op_b, const void* alpha,
                                       cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                       cusparseDnMatDescr_t c, cudaDataType compute,
                                       cusparseSpSMAlg_t alg, cusparseSpSMDescr_t descriptor,
                                       void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg, 0));
    const MatrixSolveCall arguments = {op_a, op_b, alpha, a, b, c, compute};
    return analyse_for<MatrixSolver>(h, "cusparseSpSM_analysis", arguments, descriptor);
  });
}
cusparseStatus_t cusparseSpSM_solve(cusparseHandle_t handle, cusparseOperation_t op_a,
                                    cusparseOperation_t op_b, const void* alpha,
                                    cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                    cusparseDnMatDescr_t c, cudaDataType compute,
                                    cusparseSpSMAlg_t alg, cusparseSpSMDescr_t descriptor) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check_algorithm(alg, 0));
    const MatrixSolveCall arguments = {op_a, op_b, alpha, a, b, c, compute};
    return solve_by<MatrixSolver>(h, "cusparseSpSM_solve", arguments, descriptor);
  });
}
cusparseStatus_t cusparseSpSM_updateMatrix(cusparseHandle_t handle, cusparseSpSMDescr_t descriptor,
                                           void* values, cusparseSpSMUpdate_t part) {
  return call(handle, [&](Handle& h) {
    return update<MatrixSolver>(h, "cusparseSpSM_updateMatrix", descriptor, values, part);
  });
}

}  // extern "C"

}  // namespace km::cusparse
