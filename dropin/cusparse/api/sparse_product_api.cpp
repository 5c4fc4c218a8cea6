// SpGEMM and SpGEMMreuse. The product is kept in the descriptor, so that no workspace is used.
#include "dropin/cusparse/generic/sparse_product.h"

namespace km::cusparse {
namespace {

cusparseStatus_t check_algorithm(cusparseSpGEMMAlg_t alg) {
  if (alg >= CUSPARSE_SPGEMM_DEFAULT && alg <= CUSPARSE_SPGEMM_ALG3) return CUSPARSE_STATUS_SUCCESS;
  return invalid("alg is %d", static_cast<int>(alg));
}

cusparseStatus_t read_object(cusparseSpGEMMDescr_t descriptor, ProductObject* out) {
  return read_descriptor("spgemmDescr", descriptor, out);
}

/// Sets a member of a descriptor.
template <class T>
cusparseStatus_t set_member(cusparseSpGEMMDescr_t descriptor, T ProductObject::* member,
                            const T& value) {
  return change_descriptor<ProductObject>("spgemmDescr", descriptor, [&](ProductObject& object) {
    object.*member = value;
    return CUSPARSE_STATUS_SUCCESS;
  });
}

/// The checks that all functions begin with.
cusparseStatus_t begin(const SparseProductCall& arguments, cusparseSpGEMMAlg_t alg,
                       cusparseSpGEMMDescr_t descriptor, ProductObject* object) {
  LIB_TRY(check_algorithm(alg));
  LIB_TRY(read_object(descriptor, object));
  return check_product(arguments);
}

/// Gives a workspace's size if there is no workspace yet.
cusparseStatus_t give_size(size_t* size, const void* buffer) {
  return buffer == nullptr ? give("bufferSize", size, kNoWorkspace) : CUSPARSE_STATUS_SUCCESS;
}

cusparseStatus_t count_for(Handle& h, const char* name, const SparseProductCall& arguments,
                           cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descriptor, size_t* size,
                           const void* buffer) {
  ProductObject object;
  LIB_TRY(begin(arguments, alg, descriptor, &object));
  if (buffer == nullptr) return give_size(size, buffer);
  int64_t count = 0;
  LIB_TRY(count_products(h, name, arguments, &count));
  return set_member(descriptor, &ProductObject::product_count, count);
}

cusparseStatus_t multiply_for(Handle& h, const char* name, const SparseProductCall& arguments,
                              cusparseSpGEMMDescr_t descriptor) {
  std::shared_ptr<SparseProduct> product;
  LIB_TRY(multiply(h, name, arguments, &product));
  return set_member(descriptor, &ProductObject::product, product);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpGEMM_createDescr(cusparseSpGEMMDescr_t* descriptor) {
  return call(
      [&] { return give_descriptor(descriptor, ProductObject{}, HandleKind::kSparseProduct); });
}
cusparseStatus_t cusparseSpGEMM_destroyDescr(cusparseSpGEMMDescr_t descriptor) {
  return call([&] { return end_object<Shared<ProductObject>>(descriptor); });
}

cusparseStatus_t cusparseSpGEMM_getNumProducts(cusparseSpGEMMDescr_t descriptor, int64_t* count) {
  return call([&]() -> cusparseStatus_t {
    ProductObject object;
    LIB_TRY(read_object(descriptor, &object));
    if (object.product_count < 0) return invalid("cusparseSpGEMM_workEstimation has not counted");
    return give("num_prods", count, object.product_count);
  });
}

cusparseStatus_t cusparseSpGEMM_workEstimation(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void* beta,
    cusparseSpMatDescr_t c, cudaDataType compute, cusparseSpGEMMAlg_t alg,
    cusparseSpGEMMDescr_t descriptor, size_t* size, void* buffer) {
  return call(handle, [&](Handle& h) {
    const SparseProductCall arguments = {op_a, op_b, alpha, a, b, beta, c, compute, true};
    return count_for(h, "cusparseSpGEMM_workEstimation", arguments, alg, descriptor, size, buffer);
  });
}

cusparseStatus_t cusparseSpGEMM_estimateMemory(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b, const void* alpha,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, const void* beta,
    cusparseSpMatDescr_t c, cudaDataType compute, cusparseSpGEMMAlg_t alg,
    cusparseSpGEMMDescr_t descriptor, float chunk_fraction, size_t* size3, void* buffer3,
    size_t* size2) {
  return call(handle, [&](Handle&) -> cusparseStatus_t {
    ProductObject object;
    LIB_TRY(begin({op_a, op_b, alpha, a, b, beta, c, compute, true}, alg, descriptor, &object));
    if (!(chunk_fraction > 0 && chunk_fraction <= 1)) {
      return invalid("chunk_fraction is %g", static_cast<double>(chunk_fraction));
    }
    if (buffer3 == nullptr) return give_size(size3, buffer3);
    return give("bufferSize2", size2, kNoWorkspace);
  });
}

cusparseStatus_t cusparseSpGEMM_compute(cusparseHandle_t handle, cusparseOperation_t op_a,
                                        cusparseOperation_t op_b, const void* alpha,
                                        cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                        const void* beta, cusparseSpMatDescr_t c,
                                        cudaDataType compute, cusparseSpGEMMAlg_t alg,
                                        cusparseSpGEMMDescr_t descriptor, size_t* size,
                                        void* buffer) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    ProductObject object;
    const SparseProductCall arguments = {op_a, op_b, alpha, a, b, beta, c, compute, true};
    LIB_TRY(begin(arguments, alg, descriptor, &object));
    if (buffer == nullptr) return give_size(size, buffer);
    return multiply_for(h, "cusparseSpGEMM_compute", arguments, descriptor);
  });
}

cusparseStatus_t cusparseSpGEMM_copy(cusparseHandle_t handle, cusparseOperation_t op_a,
                                     cusparseOperation_t op_b, const void* alpha,
                                     cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b,
                                     const void* beta, cusparseSpMatDescr_t c, cudaDataType compute,
                                     cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descriptor) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    ProductObject object;
    const SparseProductCall arguments = {op_a, op_b, alpha, a, b, beta, c, compute, true};
    LIB_TRY(begin(arguments, alg, descriptor, &object));
    return copy_product(h, "cusparseSpGEMM_copy", arguments, object.product);
  });
}

cusparseStatus_t cusparseSpGEMMreuse_workEstimation(
    cusparseHandle_t handle, cusparseOperation_t op_a, cusparseOperation_t op_b,
    cusparseConstSpMatDescr_t a, cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c,
    cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descriptor, size_t* size, void* buffer) {
  return call(handle, [&](Handle& h) {
    const SparseProductCall arguments = {op_a, op_b, nullptr, a, b, nullptr, c, CUDA_R_32F, false};
    return count_for(h, "cusparseSpGEMMreuse_workEstimation", arguments, alg, descriptor, size,
                     buffer);
  });
}

cusparseStatus_t cusparseSpGEMMreuse_nnz(cusparseHandle_t handle, cusparseOperation_t op_a,
                                         cusparseOperation_t op_b, cusparseConstSpMatDescr_t a,
                                         cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c,
                                         cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descriptor,
                                         size_t* size2, void* buffer2, size_t* size3, void* buffer3,
                                         size_t* size4, void* buffer4) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    ProductObject object;
    const SparseProductCall arguments = {op_a, op_b, nullptr, a, b, nullptr, c, CUDA_R_32F, false};
    LIB_TRY(begin(arguments, alg, descriptor, &object));
    LIB_TRY(give_size(size2, buffer2));
    LIB_TRY(give_size(size3, buffer3));
    LIB_TRY(give_size(size4, buffer4));
    if (buffer2 == nullptr || buffer3 == nullptr || buffer4 == nullptr) {
      return CUSPARSE_STATUS_SUCCESS;
    }
    return multiply_for(h, "cusparseSpGEMMreuse_nnz", arguments, descriptor);
  });
}

cusparseStatus_t cusparseSpGEMMreuse_copy(cusparseHandle_t handle, cusparseOperation_t op_a,
                                          cusparseOperation_t op_b, cusparseConstSpMatDescr_t a,
                                          cusparseConstSpMatDescr_t b, cusparseSpMatDescr_t c,
                                          cusparseSpGEMMAlg_t alg, cusparseSpGEMMDescr_t descriptor,
                                          size_t* size, void* buffer) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    ProductObject object;
    const SparseProductCall arguments = {op_a, op_b, nullptr, a, b, nullptr, c, CUDA_R_32F, false};
    LIB_TRY(begin(arguments, alg, descriptor, &object));
    if (buffer == nullptr) return give_size(size, buffer);
    return copy_product(h, "cusparseSpGEMMreuse_copy", arguments, object.product);
  });
}

cusparseStatus_t cusparseSpGEMMreuse_compute(cusparseHandle_t handle, cusparseOperation_t op_a,
                                             cusparseOperation_t op_b, const void* alpha,
                                             cusparseConstSpMatDescr_t a,
                                             cusparseConstSpMatDescr_t b, const void* beta,
                                             cusparseSpMatDescr_t c, cudaDataType compute,
                                             cusparseSpGEMMAlg_t alg,
                                             cusparseSpGEMMDescr_t descriptor) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    ProductObject object;
    const SparseProductCall arguments = {op_a, op_b, alpha, a, b, beta, c, compute, true};
    LIB_TRY(begin(arguments, alg, descriptor, &object));
    return multiply_again(h, "cusparseSpGEMMreuse_compute", arguments, object.product);
  });
}

}  // extern "C"

}  // namespace km::cusparse
