// Copies with attributes, single and in batches. The attributes' hints have no effect: a copy from
// pageable memory has read its source when the call returns, which is the strictest order.
#include "dropin/cuda/memory/copy.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult check_order(CUmemcpySrcAccessOrder order) {
  if (order >= CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && order <= CU_MEMCPY_SRC_ACCESS_ORDER_ANY) {
    return CUDA_SUCCESS;
  }
  return fail(CUDA_ERROR_INVALID_VALUE, "there is no order %d of accesses to the source", order);
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
    CU_TRY(check_order(batch.attributes[i].srcAccessOrder));
    const bool rises = i == 0 || batch.first_of_attribute[i] > batch.first_of_attribute[i - 1];
    if (rises && batch.first_of_attribute[i] < batch.count) continue;
    return fail(CUDA_ERROR_INVALID_VALUE, "attribute %zu begins at copy %zu", i,
                batch.first_of_attribute[i]);
  }
  return CUDA_SUCCESS;
}

/// Queues the copies. `fail_index` (may be null) receives the index of the failed copy, or SIZE_MAX
/// if the failure concerns no single copy.
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

/// One side of a copy in rows of bytes: its address, its pitch and the number of rows per layer.
struct Rows {
  CUdeviceptr address;
  size_t pitch_bytes, layer_rows;
  CUresult read(const CUmemcpy3DOperand& operand, const CUextent3D& extent);
};

CUresult Rows::read(const CUmemcpy3DOperand& operand, const CUextent3D& extent) {
  if (operand.type == CU_MEMCPY_OPERAND_TYPE_ARRAY) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "arrays are copied one by one: cuMemcpy3DAsync");
  }
  if (operand.type != CU_MEMCPY_OPERAND_TYPE_POINTER) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there are no operands of type %d", operand.type);
  }
  address = operand.op.ptr.ptr;
  pitch_bytes = operand.op.ptr.rowLength != 0 ? operand.op.ptr.rowLength : extent.width;
  layer_rows = operand.op.ptr.layerHeight != 0 ? operand.op.ptr.layerHeight : extent.height;
  if (pitch_bytes >= extent.width && layer_rows >= extent.height) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "rows of %zu and layers of %zu are smaller than the copy",
              pitch_bytes, layer_rows);
}

CUresult read_operation(const CUDA_MEMCPY3D_BATCH_OP& operation, CUDA_MEMCPY3D* out) {
  CU_TRY(check_order(operation.srcAccessOrder));
  const CUextent3D& extent = operation.extent;
  if (extent.width == 0 || extent.height == 0 || extent.depth == 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a copy of %zu x %zu x %zu", extent.width, extent.height,
                extent.depth);
  }
  Rows from{}, to{};
  CU_TRY(from.read(operation.src, extent));
  CU_TRY(to.read(operation.dst, extent));
  *out = {};
  out->srcMemoryType = out->dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  out->srcDevice = from.address;
  out->srcPitch = from.pitch_bytes;
  out->srcHeight = from.layer_rows;
  out->dstDevice = to.address;
  out->dstPitch = to.pitch_bytes;
  out->dstHeight = to.layer_rows;
  out->WidthInBytes = extent.width;
  out->Height = extent.height;
  out->Depth = extent.depth;
  return CUDA_SUCCESS;
}

CUresult copy_3d_batch(size_t count, const CUDA_MEMCPY3D_BATCH_OP* operations, size_t* fail_index,
                       cuuint64_t flags, CUstream stream) {
  if (fail_index != nullptr) *fail_index = SIZE_MAX;
  CU_REQUIRE(operations);
  if (count == 0 || flags != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE, "%zu copies, flags 0x%llx", count, flags);
  }
  CU_TRY(require_stream(stream));
  CUDA_MEMCPY3D copy;
  for (size_t i = 0; i < count; ++i) CU_TRY(read_operation(operations[i], &copy));
  for (size_t i = 0; i < count; ++i) {
    CU_TRY(read_operation(operations[i], &copy));
    const CUresult queued = run_copy_3d(stream, copy, false);
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
    CU_TRY(check_order(attributes->srcAccessOrder));
    return run_copy(stream, {Side::kUnified, Side::kUnified, to, from, size_bytes}, false);
  });
}

CUresult cuMemcpyWithAttributesAsync_ptsz(CUdeviceptr to, CUdeviceptr from, size_t size_bytes,
                                          CUmemcpyAttributes* attributes, CUstream stream) {
  return cuMemcpyWithAttributesAsync(to, from, size_bytes, attributes, per_thread(stream));
}

CUresult cuMemcpy3DBatchAsync(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations, size_t* fail_index,
                              unsigned long long flags, CUstream stream) {
  return guard(__func__,
               [&] { return copy_3d_batch(count, operations, fail_index, flags, stream); });
}

CUresult cuMemcpy3DBatchAsync_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                   size_t* fail_index, unsigned long long flags, CUstream stream) {
  return cuMemcpy3DBatchAsync(count, operations, fail_index, flags, per_thread(stream));
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                 unsigned long long flags, CUstream stream) {
  return cuMemcpy3DBatchAsync(count, operations, nullptr, flags, stream);
}

CUresult cuMemcpy3DBatchAsync_v2_ptsz(size_t count, CUDA_MEMCPY3D_BATCH_OP* operations,
                                      unsigned long long flags, CUstream stream) {
  return cuMemcpy3DBatchAsync_v2(count, operations, flags, per_thread(stream));
}

CUresult cuMemcpy3DWithAttributesAsync(CUDA_MEMCPY3D_BATCH_OP* operation, unsigned long long flags,
                                       CUstream stream) {
  return cuMemcpy3DBatchAsync(1, operation, nullptr, flags, stream);
}

CUresult cuMemcpy3DWithAttributesAsync_ptsz(CUDA_MEMCPY3D_BATCH_OP* operation,
                                            unsigned long long flags, CUstream stream) {
  return cuMemcpy3DWithAttributesAsync(operation, flags, per_thread(stream));
}

}  // extern "C"

}  // namespace km::cu
