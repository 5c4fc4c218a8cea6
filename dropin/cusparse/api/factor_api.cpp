// Incomplete factorisations and triangular solves with BSR matrices. They use no workspace.
#include "dropin/cusparse/legacy/exports.h"
#include "dropin/cusparse/legacy/factors.h"

namespace km::cusparse {
namespace {

/// A CSR matrix as the factorisations have it.
struct CsrArguments {
  int size, nnz;
  cusparseMatDescr_t settings;
  IntArrays arrays;
};

cusparseStatus_t read_matrix(const CsrArguments& arguments, cudaDataType type, SpMat* out) {
  MatDescr settings;
  LIB_TRY(check_sizes({arguments.size, arguments.nnz}));
  LIB_TRY(read_settings("descrA", arguments.settings, &settings));
  *out = csr_of(arguments.size, arguments.size, arguments.nnz, settings, type, arguments.arrays);
  return CUSPARSE_STATUS_SUCCESS;
}
cusparseStatus_t read_matrix(const BsrArguments& arguments, cudaDataType type, SpMat* out) {
  return read_bsr(arguments, type, out);
}

/// Gives a size after the checks of a matrix and an info.
template <class Arguments>
cusparseStatus_t give_size(cusparseHandle_t handle, InfoKind kind, const void* info,
                           const Arguments& arguments, int* size,
                           const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle&) -> cusparseStatus_t {
    SpMat a;
    FactorInfo ignored;
    LIB_TRY(read_info(kind, info, &ignored));
    LIB_TRY(read_matrix(arguments, CUDA_R_32F, &a));
    return give("pBufferSizeInBytes", size, static_cast<int>(kNoWorkspace));
  };
  return call(handle, body, function);
}

template <class Arguments>
cusparseStatus_t analyse_for(cusparseHandle_t handle, InfoKind kind, const void* info,
                             cudaDataType type, const Arguments& arguments,
                             const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(read_matrix(arguments, type, &a));
    return analyse_factor(h, kind, info, a);
  };
  return call(handle, body, function);
}

template <class Arguments>
cusparseStatus_t factorise_for(cusparseHandle_t handle, InfoKind kind, const void* info,
                               cudaDataType type, const Arguments& arguments,
                               const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(read_matrix(arguments, type, &a));
    return factorise(h, kind, info, a);
  };
  return call(handle, body, function);
}

cusparseStatus_t analyse_solve(cusparseHandle_t handle, InfoKind kind, const void* info,
                               cudaDataType type, const BsrArguments& arguments,
                               cusparseOperation_t operation,
                               const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(read_bsr(arguments, type, &a));
    return analyse_bsr(h, kind, info, a, operation);
  };
  return call(handle, body, function);
}

cusparseStatus_t solve_for(cusparseHandle_t handle, InfoKind kind, const void* info,
                           cudaDataType type, const BsrArguments& arguments,
                           const BsrSolveCall& solve, const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    SpMat a;
    LIB_TRY(read_bsr(arguments, type, &a));
    BsrSolveCall complete = solve;
    if (kind == InfoKind::kBsrSolve) {
      complete.ldb = complete.ldx = static_cast<int>(std::max<int64_t>(a.rows, 1));
    }
    return solve_bsr(h, kind, info, a, complete);
  };
  return call(handle, body, function);
}

template <class Info>
cusparseStatus_t create_info(Info* place, InfoKind kind,
                             const char* function = __builtin_FUNCTION()) {
  FactorInfo info;
  info.kind = kind;
  return call([&] { return give_descriptor(place, info, HandleKind::kSparseInfo); }, function);
}
template <class Info>
cusparseStatus_t destroy_info(Info info, const char* function = __builtin_FUNCTION()) {
  return call([&] { return end_object<Shared<FactorInfo>>(info); }, function);
}

cusparseStatus_t find_pivot(cusparseHandle_t handle, InfoKind kind, const void* info, int* position,
                            const char* function = __builtin_FUNCTION()) {
  return call(handle, [&](Handle& h) { return give_pivot(h, kind, info, position); }, function);
}

}  // namespace

extern "C" {

#define KM_INFO(Name, Type, kind)                                                             \
  cusparseStatus_t cusparseCreate##Name##Info(Type* info) { return create_info(info, kind); } \
  cusparseStatus_t cusparseDestroy##Name##Info(Type info) { return destroy_info(info); }
KM_INFO(Csrilu02, csrilu02Info_t, InfoKind::kCsrIlu)
KM_INFO(Csric02, csric02Info_t, InfoKind::kCsrIc)
KM_INFO(Bsrilu02, bsrilu02Info_t, InfoKind::kBsrIlu)
KM_INFO(Bsric02, bsric02Info_t, InfoKind::kBsrIc)
KM_INFO(Bsrsv2, bsrsv2Info_t, InfoKind::kBsrSolve)
KM_INFO(Bsrsm2, bsrsm2Info_t, InfoKind::kBsrSolveMany)

#define KM_PIVOT(name, Type, kind)                                                 \
  cusparseStatus_t cusparseX##name##_zeroPivot(cusparseHandle_t handle, Type info, \
                                               int* position) {                    \
    return find_pivot(handle, kind, info, position);                               \
  }
KM_PIVOT(csrilu02, csrilu02Info_t, InfoKind::kCsrIlu)
KM_PIVOT(csric02, csric02Info_t, InfoKind::kCsrIc)
KM_PIVOT(bsrilu02, bsrilu02Info_t, InfoKind::kBsrIlu)
KM_PIVOT(bsric02, bsric02Info_t, InfoKind::kBsrIc)
KM_PIVOT(bsrsv2, bsrsv2Info_t, InfoKind::kBsrSolve)
KM_PIVOT(bsrsm2, bsrsm2Info_t, InfoKind::kBsrSolveMany)

#define KM_BOOST(L, T, name, Type, kind)                                                   \
  cusparseStatus_t cusparse##L##name##_numericBoost(cusparseHandle_t handle, Type info,    \
                                                    int enable, double* limit, T* value) { \
    return call(handle, [&](Handle& h) {                                                   \
      return set_boost(h, kind, info, enable != 0, limit, value, kExportType<T>);          \
    });                                                                                    \
  }
#define KM_BOOSTS(L, T)                                       \
  KM_BOOST(L, T, csrilu02, csrilu02Info_t, InfoKind::kCsrIlu) \
  KM_BOOST(L, T, bsrilu02, bsrilu02Info_t, InfoKind::kBsrIlu)
KM_FOR_ALL_TYPES(KM_BOOSTS)

#define KM_CSR_FACTOR(L, T, name, Type, kind)                                                      \
  cusparseStatus_t cusparse##L##name##_bufferSize(                                                 \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t settings, T* values,       \
      const int* offsets, const int* indices, Type info, int* size) {                              \
    return give_size(handle, kind, info,                                                           \
                     CsrArguments{m, nnz, settings, {values, offsets, indices}}, size);            \
  }                                                                                                \
  cusparseStatus_t cusparse##L##name##_analysis(                                                   \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t settings, const T* values, \
      const int* offsets, const int* indices, Type info, cusparseSolvePolicy_t, void*) {           \
    return analyse_for(handle, kind, info, kExportType<T>,                                         \
                       CsrArguments{m, nnz, settings, {values, offsets, indices}});                \
  }                                                                                                \
  cusparseStatus_t cusparse##L##name(                                                              \
      cusparseHandle_t handle, int m, int nnz, const cusparseMatDescr_t settings, T* values,       \
      const int* offsets, const int* indices, Type info, cusparseSolvePolicy_t, void*) {           \
    return factorise_for(handle, kind, info, kExportType<T>,                                       \
                         CsrArguments{m, nnz, settings, {values, offsets, indices}});              \
  }
#define KM_CSR_FACTORS(L, T)                                       \
  KM_CSR_FACTOR(L, T, csrilu02, csrilu02Info_t, InfoKind::kCsrIlu) \
  KM_CSR_FACTOR(L, T, csric02, csric02Info_t, InfoKind::kCsrIc)
KM_FOR_ALL_TYPES(KM_CSR_FACTORS)

#define KM_BSR_FACTOR(L, T, name, Type, kind, ANALYSED)                                            \
  cusparseStatus_t cusparse##L##name##_bufferSize(                                                 \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nnzb,                    \
      const cusparseMatDescr_t settings, T* values, const int* offsets, const int* indices,        \
      int block, Type info, int* size) {                                                           \
    return give_size(                                                                              \
        handle, kind, info,                                                                        \
        BsrArguments{direction, mb, mb, nnzb, settings, {values, offsets, indices}, block}, size); \
  }                                                                                                \
  cusparseStatus_t cusparse##L##name##_analysis(                                                   \
      cusparseHandle_t handle, cusparseDirection_t direction, int mb, int nnzb,                    \
      const cusparseMatDescr_t settings, ANALYSED values, const int* offsets, const int* indices,  \
      int block, Type info, cusparseSolvePolicy_t, void*) {                                        \
    return analyse_for(                                                                            \
        handle, kind, info, kExportType<T>,                                                        \
        BsrArguments{direction, mb, mb, nnzb, settings, {values, offsets, indices}, block});       \
  }                                                                                                \
  cusparseStatus_t cusparse##L##name(cusparseHandle_t handle, cusparseDirection_t direction,       \
                                     int mb, int nnzb, const cusparseMatDescr_t settings,          \
                                     T* values, const int* offsets, const int* indices, int block, \
                                     Type info, cusparseSolvePolicy_t, void*) {                    \
    return factorise_for(                                                                          \
        handle, kind, info, kExportType<T>,                                                        \
        BsrArguments{direction, mb, mb, nnzb, settings, {values, offsets, indices}, block});       \
  }
#define KM_BSR_FACTORS(L, T)                                           \
  KM_BSR_FACTOR(L, T, bsrilu02, bsrilu02Info_t, InfoKind::kBsrIlu, T*) \
  KM_BSR_FACTOR(L, T, bsric02, bsric02Info_t, InfoKind::kBsrIc, const T*)
KM_FOR_ALL_TYPES(KM_BSR_FACTORS)

#define KM_BSRSV2(L, T)                                                                            \
  cusparseStatus_t cusparse##L##bsrsv2_bufferSize(                                                 \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t, int mb,         \
      int nnzb, const cusparseMatDescr_t settings, T* values, const int* offsets,                  \
      const int* indices, int block, bsrsv2Info_t info, int* size) {                               \
    return give_size(                                                                              \
        handle, InfoKind::kBsrSolve, info,                                                         \
        BsrArguments{direction, mb, mb, nnzb, settings, {values, offsets, indices}, block}, size); \
  }                                                                                                \
  cusparseStatus_t cusparse##L##bsrsv2_analysis(                                                   \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t operation,       \
      int mb, int nnzb, const cusparseMatDescr_t settings, const T* values, const int* offsets,    \
      const int* indices, int block, bsrsv2Info_t info, cusparseSolvePolicy_t, void*) {            \
    return analyse_solve(handle, InfoKind::kBsrSolve, info, kExportType<T>,                        \
                         {direction, mb, mb, nnzb, settings, {values, offsets, indices}, block},   \
                         operation);                                                               \
  }                                                                                                \
  cusparseStatus_t cusparse##L##bsrsv2_solve(                                                      \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t operation,       \
      int mb, int nnzb, const T* alpha, const cusparseMatDescr_t settings, const T* values,        \
      const int* offsets, const int* indices, int block, bsrsv2Info_t info, const T* f, T* x,      \
      cusparseSolvePolicy_t, void*) {                                                              \
    return solve_for(handle, InfoKind::kBsrSolve, info, kExportType<T>,                            \
                     {direction, mb, mb, nnzb, settings, {values, offsets, indices}, block},       \
                     {operation, CUSPARSE_OPERATION_NON_TRANSPOSE, 1, alpha, f, 0, x, 0});         \
  }
KM_FOR_ALL_TYPES(KM_BSRSV2)

#define KM_BSRSM2(L, T)                                                                            \
  cusparseStatus_t cusparse##L##bsrsm2_bufferSize(                                                 \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t,                 \
      cusparseOperation_t, int mb, int, int nnzb, const cusparseMatDescr_t settings, T* values,    \
      const int* offsets, const int* indices, int block, bsrsm2Info_t info, int* size) {           \
    return give_size(                                                                              \
        handle, InfoKind::kBsrSolveMany, info,                                                     \
        BsrArguments{direction, mb, mb, nnzb, settings, {values, offsets, indices}, block}, size); \
  }                                                                                                \
  cusparseStatus_t cusparse##L##bsrsm2_analysis(                                                   \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t operation,       \
      cusparseOperation_t, int mb, int, int nnzb, const cusparseMatDescr_t settings,               \
      const T* values, const int* offsets, const int* indices, int block, bsrsm2Info_t info,       \
      cusparseSolvePolicy_t, void*) {                                                              \
    return analyse_solve(handle, InfoKind::kBsrSolveMany, info, kExportType<T>,                    \
                         {direction, mb, mb, nnzb, settings, {values, offsets, indices}, block},   \
                         operation);                                                               \
  }                                                                                                \
  cusparseStatus_t cusparse##L##bsrsm2_solve(                                                      \
      cusparseHandle_t handle, cusparseDirection_t direction, cusparseOperation_t operation_a,     \
      cusparseOperation_t operation_x, int mb, int n, int nnzb, const T* alpha,                    \
      const cusparseMatDescr_t settings, const T* values, const int* offsets, const int* indices,  \
      int block, bsrsm2Info_t info, const T* b, int ldb, T* x, int ldx, cusparseSolvePolicy_t,     \
      void*) {                                                                                     \
    return solve_for(handle, InfoKind::kBsrSolveMany, info, kExportType<T>,                        \
                     {direction, mb, mb, nnzb, settings, {values, offsets, indices}, block},       \
                     {operation_a, operation_x, n, alpha, b, ldb, x, ldx});                        \
  }
KM_FOR_ALL_TYPES(KM_BSRSM2)

}  // extern "C"

}  // namespace km::cusparse
