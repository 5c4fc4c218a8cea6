// SpMV and SpMM: products of a sparse matrix with a dense vector or matrix. They use no workspace.
#include "dropin/cusparse/generic/product_calls.h"

namespace km::cusparse {
namespace {

cusparseStatus_t check_algorithm(cusparseSpMVAlg_t alg) {
  if (alg >= CUSPARSE_SPMV_ALG_DEFAULT && alg <= CUSPARSE_SPMV_BSR_ALG1) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return invalid("alg is %d", static_cast<int>(alg));
}

cusparseStatus_t check_algorithm(cusparseSpMMAlg_t alg) {
  const int number = alg;
  if ((number >= 0 && number <= 6) || (number >= 12 && number <= 14)) {
    return CUSPARSE_STATUS_SUCCESS;
  }
  return invalid("alg is %d", number);
}

/// Checks a product and gives the size of its workspace, or nothing if there is no place for it.
template <class Call, class Alg>
cusparseStatus_t check(cusparseHandle_t handle, const Call& arguments, Alg alg, size_t* size,
                       bool gives_size, const char* function) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    Product product;
    LIB_TRY(check_algorithm(alg));
    LIB_TRY(prepare(h, arguments, false, &product, nullptr));
    return gives_size ? give("bufferSize", size, kNoWorkspace) : CUSPARSE_STATUS_SUCCESS;
  };
  return call(handle, body, function);
}

template <class Call, class Alg>
cusparseStatus_t run(cusparseHandle_t handle, const Call& arguments, Alg alg,
                     const char* function) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    Product product;
    Arrays arrays;
    LIB_TRY(check_algorithm(alg));
    LIB_TRY(prepare(h, arguments, true, &product, &arrays));
    return submit_product(h, arrays, function, product);
  };
  return call(handle, body, function);
}

/// The settings of SpMVGeneric.
struct GenericSettings {
  int32_t operation = CUSPARSE_OPERATION_NON_TRANSPOSE;
  int32_t alg = CUSPARSE_SPMV_ALG_DEFAULT;
  void* buffer = nullptr;
};

/// The place of a setting and its size; null if there is no such one.
void* setting_of(GenericSettings& settings, cusparseApiParam_t param, size_t* size_bytes) {
  *size_bytes = param == CUSPARSE_PARAM_BUFFER ? sizeof(void*) : sizeof(int32_t);
  switch (param) {
    case CUSPARSE_PARAM_OP:
      return &settings.operation;
    case CUSPARSE_PARAM_ALG:
      return &settings.alg;
    case CUSPARSE_PARAM_BUFFER:
      return &settings.buffer;
    default:
      return nullptr;
  }
}

/// The product that settings and operands say.
struct GenericCall {
  VectorProductCall product;
  cusparseSpMVDescr_t descriptor;
};
cusparseStatus_t complete(GenericCall& generic, cusparseSpMVAlg_t* alg) {
  GenericSettings settings;
  LIB_TRY(read_descriptor("descr", generic.descriptor, &settings));
  generic.product.operation = static_cast<cusparseOperation_t>(settings.operation);
  *alg = static_cast<cusparseSpMVAlg_t>(settings.alg);
  return check_algorithm(*alg);
}

cusparseStatus_t check_generic(cusparseHandle_t handle, GenericCall generic, size_t* size,
                               bool gives_size, const char* function = __builtin_FUNCTION()) {
  const auto body = [&](Handle& h) -> cusparseStatus_t {
    Product product;
    cusparseSpMVAlg_t alg = CUSPARSE_SPMV_ALG_DEFAULT;
    LIB_TRY(complete(generic, &alg));
    LIB_TRY(prepare(h, generic.product, false, &product, nullptr));
    return gives_size ? give("bufferSize", size, kNoWorkspace) : CUSPARSE_STATUS_SUCCESS;
  };
  return call(handle, body, function);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpMV_bufferSize(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void* alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute,
                                         cusparseSpMVAlg_t alg, size_t* size) {
  const VectorProductCall arguments = {op, alpha, a, x, beta, nullptr, y, compute};
  return check(handle, arguments, alg, size, true, __func__);
}
cusparseStatus_t cusparseSpMV_preprocess(cusparseHandle_t handle, cusparseOperation_t op,
                                         const void* alpha, cusparseConstSpMatDescr_t a,
                                         cusparseConstDnVecDescr_t x, const void* beta,
                                         cusparseDnVecDescr_t y, cudaDataType compute,
                                         cusparseSpMVAlg_t alg, void*) {
  const VectorProductCall arguments = {op, alpha, a, x, beta, nullptr, y, compute};
  return check(handle, arguments, alg, nullptr, false, __func__);
}
cusparseStatus_t cusparseSpMV(cusparseHandle_t handle, cusparseOperation_t op, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                              const void* beta, cusparseDnVecDescr_t y, cudaDataType compute,
                              cusparseSpMVAlg_t alg, void*) {
  const VectorProductCall arguments = {op, alpha, a, x, beta, nullptr, y, compute};
  return run(handle, arguments, alg, __func__);
}

cusparseStatus_t cusparseSpMM_bufferSize(cusparseHandle_t handle, cusparseOperation_t op_a,
                                         cusparseOperation_t op_b, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c,
                                         cudaDataType compute, cusparseSpMMAlg_t alg,
                                         size_t* size) {
  const MatrixProductCall arguments = {op_a, op_b, alpha, a, b, beta, c, compute};
  return check(handle, arguments, alg, size, true, __func__);
}
cusparseStatus_t cusparseSpMM_preprocess(cusparseHandle_t handle, cusparseOperation_t op_a,
                                         cusparseOperation_t op_b, const void* alpha,
                                         cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                                         const void* beta, cusparseDnMatDescr_t c,
                                         cudaDataType compute, cusparseSpMMAlg_t alg, void*) {
  const MatrixProductCall arguments = {op_a, op_b, alpha, a, b, beta, c, compute};
  return check(handle, arguments, alg, nullptr, false, __func__);
}
cusparseStatus_t cusparseSpMM(cusparseHandle_t handle, cusparseOperation_t op_a,
                              cusparseOperation_t op_b, const void* alpha,
                              cusparseConstSpMatDescr_t a, cusparseConstDnMatDescr_t b,
                              const void* beta, cusparseDnMatDescr_t c, cudaDataType compute,
                              cusparseSpMMAlg_t alg, void*) {
  const MatrixProductCall arguments = {op_a, op_b, alpha, a, b, beta, c, compute};
  return run(handle, arguments, alg, __func__);
}

cusparseStatus_t cusparseSpMV_createDescr(cusparseSpMVDescr_t* descriptor) {
  return call(
      [&] { return give_descriptor(descriptor, GenericSettings{}, HandleKind::kSparseProduct); });
}
cusparseStatus_t cusparseSpMV_destroyDescr(cusparseSpMVDescr_t descriptor) {
  return call([&] { return end_object<Shared<GenericSettings>>(descriptor); });
}
cusparseStatus_t cusparseSpMVDescrSetParam(cusparseSpMVDescr_t descriptor, cusparseApiParam_t param,
                                           void* data, size_t size_bytes) {
  const auto set = [&](GenericSettings& settings) -> cusparseStatus_t {
    size_t wanted = 0;
    void* const to = setting_of(settings, param, &wanted);
    if (to == nullptr) return invalid("param is %d", static_cast<int>(param));
    if (size_bytes != wanted) return invalid("dataSize is %zu", size_bytes);
    return library::read_host(to, data, wanted) ? CUSPARSE_STATUS_SUCCESS
                                                : invalid("data cannot be read");
  };
  return call([&] { return change_descriptor<GenericSettings>("descr", descriptor, set); });
}
cusparseStatus_t cusparseSpMVDescrGetParam(cusparseSpMVDescr_t descriptor, cusparseApiParam_t param,
                                           void* data, size_t size_bytes) {
  return call([&]() -> cusparseStatus_t {
    GenericSettings settings;
    size_t wanted = 0;
    LIB_TRY(read_descriptor("descr", descriptor, &settings));
    const void* const from = setting_of(settings, param, &wanted);
    if (from == nullptr) return invalid("param is %d", static_cast<int>(param));
    if (size_bytes != wanted) return invalid("dataSize is %zu", size_bytes);
    if (data == nullptr || !library::write_host(data, from, wanted)) {
      return invalid("data cannot be written");
    }
    return CUSPARSE_STATUS_SUCCESS;
  });
}
cusparseStatus_t cusparseSpMVGeneric_bufferSize(cusparseHandle_t handle, const void* alpha,
                                                cusparseConstSpMatDescr_t a,
                                                cusparseConstDnVecDescr_t x, const void* beta,
                                                cusparseConstDnVecDescr_t y, cusparseDnVecDescr_t z,
                                                cudaDataType compute,
                                                cusparseSpMVDescr_t descriptor, size_t* size) {
  return check_generic(handle, {{{}, alpha, a, x, beta, y, z, compute}, descriptor}, size, true);
}
cusparseStatus_t cusparseSpMVGeneric_preprocess(cusparseHandle_t handle, const void* alpha,
                                                cusparseConstSpMatDescr_t a,
                                                cusparseConstDnVecDescr_t x, const void* beta,
                                                cusparseConstDnVecDescr_t y, cusparseDnVecDescr_t z,
                                                cudaDataType compute,
                                                cusparseSpMVDescr_t descriptor) {
  return check_generic(handle, {{{}, alpha, a, x, beta, y, z, compute}, descriptor}, nullptr,
                       false);
}
cusparseStatus_t cusparseSpMVGeneric(cusparseHandle_t handle, const void* alpha,
                                     cusparseConstSpMatDescr_t a, cusparseConstDnVecDescr_t x,
                                     const void* beta, cusparseConstDnVecDescr_t y,
                                     cusparseDnVecDescr_t z, cudaDataType compute,
                                     cusparseSpMVDescr_t descriptor) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    GenericCall generic = {{{}, alpha, a, x, beta, y, z, compute}, descriptor};
    cusparseSpMVAlg_t alg = CUSPARSE_SPMV_ALG_DEFAULT;
    Product product;
    Arrays arrays;
    LIB_TRY(complete(generic, &alg));
    LIB_TRY(prepare(h, generic.product, true, &product, &arrays));
    return submit_product(h, arrays, "cusparseSpMVGeneric", product);
  });
}

}  // extern "C"

}  // namespace km::cusparse
