// Copies with attributes, one and many at a time. What the attributes hint at has no effect: each
// copy of pageable memory has read its source when the call returns, which is the strictest order.
#include "dropin/cuda/copy.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult check_attributes(const CUmemcpyAttributes& attributes) {
  if (attributes.srcAccessOrder >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM &&
      attributes.srcAccessOrder <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY) {
    return CUDA_SUCCESS;
  }
  return fail(CUDA_ERROR_INVALID_VALUE, "there is no order %d of accesses to the source",
              attributes.srcAccessOrder);
}

CUresult require_stream(CUstream stream) {
  const auto value = reinterpret_cast<uintptr_t>(stream);
  if (value > 1) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "the legacy default stream takes no batches");
}

struct Batch {
  const CUdeviceptr* to;
  const CUdeviceptr* from;
  const size_t* sizes;
  size_t count;
  const CUmemcpyAttributes* attributes;
  const size_t* first_of_attribute;
  size_t attribute_count;
};

CUresult check_batch(const Batch& batch) {
  CU_REQUIRE(batch.to);
  CU_REQUIRE(batch.from);
  CU_REQUIRE(batch.sizes);
  CU_REQUIRE(batch.attributes);
  CU_REQUIRE(batch.first_of_attribute);
  if (batch.count == 0 || batch.attribute_count == 0 || batch.attribute_count > batch.count ||
      batch.first_of_attribute[0] != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "%zu copies, %zu attributes", batch.count,
                batch.attribute_count);
  }
  for (size_t i = 0; i < batch.attribute_count; ++i) {
    CU_TRY(check_attributes(batch.attributes[i]));
    const bool rises = i == 0 || batch.first_of_attribute[i] > batch.first_of_attribute[i - 1];
    if (rises && batch.first_of_attribute[i] < batch.count) continue;
    return fail(CUDA_ERROR_INVALID_VALUE, "attribute %zu begins at copy %zu", i,
                batch.first_of_attribute[i]);
  }
  return CUDA_SUCCESS;
}

/// `fail_index` (null: nobody asks): which copy failed; SIZE_MAX where it was none.
CUresult copy_batch(const Batch& batch, size_t* fail_index, CUstream handle) {
  if (fail_index != nullptr) *fail_index = SIZE_MAX;
  CU_TRY(require_stream(handle));
  CU_TRY(check_batch(batch));
  CU_STREAM_FOR_WORK(stream, handle);
  for (size_t i = 0; i < batch.count; ++i) {
    const CUresult queued = queue_copy(
        *stream, {Side::kUnified, Side::kUnified, batch.to[i], batch.from[i], batch.sizes[i]});
    if (queued == CUDA_SUCCESS) continue;
    if (fail_index != nullptr) *fail_index = i;
    return queued;
  }
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuMemcpyBatchAsync(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                            CUmemcpyAttributes* attributes, size_t* first_of_attribute,
                            size_t attribute_count, size_t* fail_index, CUstream stream) {
  return guard(__func__, [&] {
    return copy_batch({to, from, sizes, count, attributes, first_of_attribute, attribute_count},
                      fail_index, stream);
  });
}

CUresult cuMemcpyBatchAsync_ptsz(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                                 CUmemcpyAttributes* attributes, size_t* first_of_attribute,
                                 size_t attribute_count, size_t* fail_index, CUstream stream) {
  return cuMemcpyBatchAsync(to, from, sizes, count, attributes, first_of_attribute, attribute_count,
                            fail_index, per_thread(stream));
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                               CUmemcpyAttributes* attributes, size_t* first_of_attribute,
                               size_t attribute_count, CUstream stream) {
  return cuMemcpyBatchAsync(to, from, sizes, count, attributes, first_of_attribute, attribute_count,
                            nullptr, stream);
}

CUresult cuMemcpyBatchAsync_v2_ptsz(CUdeviceptr* to, CUdeviceptr* from, size_t* sizes, size_t count,
                                    CUmemcpyAttributes* attributes, size_t* first_of_attribute,
                                    size_t attribute_count, CUstream stream) {
  return cuMemcpyBatchAsync_v2(to, from, sizes, count, attributes, first_of_attribute,
                               attribute_count, per_thread(stream));
}

CUresult cuMemcpyWithAttributesAsync(CUdeviceptr to, CUdeviceptr from, size_t size_bytes,
                                     CUmemcpyAttributes* attributes, CUstream stream) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(attributes);
    CU_TRY(require_stream(stream));
    CU_TRY(check_attributes(*attributes));
    return run_copy(stream, {Side::kUnified, Side::kUnified, to, from, size_bytes}, false);
  });
}

CUresult cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size_bytes,
                                          CUmemcpyAttributes* attributes, CUstream stream) {
  return cuMemcpyWithAttributesAsync(to, from, size_bytes, attributes, per_thread(stream));
}

}  // extern "C"

}  // namespace km::cu
