// SpMVOp: products with a vector that may have an epilogue. Code for epilogues is refused.
#include "dropin/cusparse/generic/product_calls.h"

namespace km::cusparse {
namespace {

/// The object of a descriptor of SpMVOp, and of a plan.
struct VectorOperation {
  cusparseOperation_t operation{};
  cusparseConstSpMatDescr_t a = nullptr;
  cudaDataType compute{};
};
struct VectorOperationPlan {
  VectorOperation operation;
};

/// The vectors of a call, whose sizes and types the product checks.
struct OperationVectors {
  cusparseConstDnVecDescr_t x, y;
  cusparseDnVecDescr_t z;
};

VectorProductCall product_of(const VectorOperation& o, const OperationVectors& vectors,
                             const void* alpha, const void* beta) {
  return {o.operation, alpha, o.a, vectors.x, beta, vectors.y, vectors.z, o.compute};
}

cusparseStatus_t check(const Handle& handle, const VectorOperation& o,
                       const OperationVectors& vectors, cusparseSpMVOpAlg_t alg) {
  if (alg < CUSPARSE_SPMVOP_ALG_DEFAULT || alg > CUSPARSE_SPMVOP_ALG2) {
    return invalid("alg is %d", static_cast<int>(alg));
  }
  Product product;
  Arrays arrays;
  return prepare(handle, product_of(o, vectors, nullptr, nullptr), false, &product, &arrays);
}

}  // namespace

extern "C" {

cusparseStatus_t cusparseSpMVOp_bufferSize(cusparseHandle_t handle, cusparseOperation_t opA,
                                           cusparseConstSpMatDescr_t matA,
                                           cusparseConstDnVecDescr_t vecX,
                                           cusparseDnVecDescr_t vecY, cusparseDnVecDescr_t vecZ,
                                           cudaDataType computeType, cusparseSpMVOpAlg_t alg,
                                           size_t* bufferSize) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    LIB_TRY(check(h, {opA, matA, computeType}, {vecX, vecY, vecZ}, alg));
    return give("bufferSize", bufferSize, kNoWorkspace);
  });
}

cusparseStatus_t cusparseSpMVOp_createDescr(cusparseHandle_t handle, cusparseSpMVOpDescr_t* desc,
                                            cusparseOperation_t opA, cusparseConstSpMatDescr_t matA,
                                            cusparseConstDnVecDescr_t vecX,
                                            cusparseDnVecDescr_t vecY, cusparseDnVecDescr_t vecZ,
                                            cudaDataType computeType, cusparseSpMVOpAlg_t alg,
                                            void*) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    const VectorOperation operation = {opA, matA, computeType};
    LIB_TRY(check(h, operation, {vecX, vecY, vecZ}, alg));
    return give_descriptor(desc, operation, HandleKind::kSparseProduct);
  });
}

cusparseStatus_t cusparseSpMVOp_destroyDescr(cusparseSpMVOpDescr_t desc) {
  return call([&] { return end_object<Shared<VectorOperation>>(desc); });
}

cusparseStatus_t cusparseSpMVOp_createPlan(cusparseHandle_t handle, cusparseSpMVOpDescr_t desc,
                                           cusparseSpMVOpPlan_t* plan, const void* code,
                                           size_t codeSize) {
  return call(handle, [&](Handle&) -> cusparseStatus_t {
    VectorOperationPlan made;
    LIB_TRY(read_descriptor("desc", desc, &made.operation));
    if (code != nullptr || codeSize != 0) {
      return unsupported("an epilogue of %zu bytes of LTO-IR: only plans without code are there",
                         codeSize);
    }
    return give_descriptor(plan, made, HandleKind::kSparseProduct);
  });
}

cusparseStatus_t cusparseSpMVOp_destroyPlan(cusparseSpMVOpPlan_t plan) {
  return call([&] { return end_object<Shared<VectorOperationPlan>>(plan); });
}

cusparseStatus_t cusparseSpMVOp_setGlobalUserData(cusparseHandle_t handle,
                                                  cusparseSpMVOpPlan_t plan, const char*, void*,
                                                  size_t) {
  return call(handle, [&](Handle&) -> cusparseStatus_t {
    VectorOperationPlan known;
    LIB_TRY(read_descriptor("plan", plan, &known));
    return invalid("the plan has no code, and so no variables");
  });
}

cusparseStatus_t cusparseSpMVOp(cusparseHandle_t handle, cusparseSpMVOpPlan_t plan,
                                const void* alpha, const void* beta, cusparseConstDnVecDescr_t vecX,
                                cusparseConstDnVecDescr_t vecY, cusparseDnVecDescr_t vecZ) {
  return call(handle, [&](Handle& h) -> cusparseStatus_t {
    VectorOperationPlan known;
    LIB_TRY(read_descriptor("plan", plan, &known));
    Product product;
    Arrays arrays;
    LIB_TRY(prepare(h, product_of(known.operation, {vecX, vecY, vecZ}, alpha, beta), true, &product,
                    &arrays));
    return submit_product(h, arrays, "cusparseSpMVOp", product);
  });
}

}  // extern "C"

}  // namespace km::cusparse
