// Arrays, mipmapped arrays, and copies that name arrays without a descriptor.
#include "core/object/callback.h"
#include "dropin/cuda/memory/array.h"
#include "dropin/cuda/memory/copy.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult create(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR& description) {
  CU_REQUIRE(out);
  CU_CURRENT(context);
  return Array::create(*context, description, out);
}

CUresult destroy(CUarray handle) {
  CU_CURRENT(current);
  static_cast<void>(current);
  {
    CU_GET(Array, array, handle);
    if (array->is_level()) {
      return fail(CUDA_ERROR_INVALID_HANDLE, "the array is a level of a mipmapped array");
    }
  }
  CU_ASSIGN(const MayBlock may_block, require_may_block());
  if (retire<dropin::Array>(may_block, handle)) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_HANDLE, "the array is not a live handle");
}

/// One side of a copy of a single row.
struct RowSide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t offset_bytes;
};

RowSide host_side(const void* row) { return {CU_MEMORYTYPE_HOST, row, 0, nullptr, 0}; }
RowSide device_side(CUdeviceptr row) { return {CU_MEMORYTYPE_DEVICE, nullptr, row, nullptr, 0}; }
RowSide array_side(CUarray array, size_t offset_bytes) {
  return {CU_MEMORYTYPE_ARRAY, nullptr, 0, array, offset_bytes};
}

CUresult copy_row(CUstream stream, const RowSide& to, const RowSide& from, size_t size_bytes,
                  bool waits) {
  CUDA_MEMCPY3D copy{};
  copy.WidthInBytes = size_bytes;
  copy.Height = copy.Depth = 1;
  copy.dstMemoryType = to.type;
  copy.dstHost = const_cast<void*>(to.host);
  copy.dstDevice = to.device;
  copy.dstArray = to.array;
  copy.dstXInBytes = to.offset_bytes;
  copy.srcMemoryType = from.type;
  copy.srcHost = from.host;
  copy.srcDevice = from.device;
  copy.srcArray = from.array;
  copy.srcXInBytes = from.offset_bytes;
  return run_copy_3d(stream, copy, waits);
}

CUresult host_to_array(CUstream stream, CUarray to, size_t offset, const void* from, size_t bytes,
                       bool waits) {
  CU_REQUIRE(from);
  return copy_row(stream, array_side(to, offset), host_side(from), bytes, waits);
}

CUresult array_to_host(CUstream stream, void* to, CUarray from, size_t offset, size_t bytes,
                       bool waits) {
  CU_REQUIRE(to);
  return copy_row(stream, host_side(to), array_side(from, offset), bytes, waits);
}

CUresult device_to_array(CUstream stream, CUarray to, size_t offset, CUdeviceptr from,
                         size_t bytes) {
  return copy_row(stream, array_side(to, offset), device_side(from), bytes, false);
}

CUresult array_to_device(CUstream stream, CUdeviceptr to, CUarray from, size_t offset,
                         size_t bytes) {
  return copy_row(stream, device_side(to), array_side(from, offset), bytes, false);
}

CUresult array_to_array(CUstream stream, CUarray to, size_t to_offset, CUarray from,
                        size_t from_offset, size_t bytes) {
  return copy_row(stream, array_side(to, to_offset), array_side(from, from_offset), bytes, false);
}

}  // namespace

extern "C" {

CUresult cuArrayCreate_v2(CUarray* out, const CUDA_ARRAY_DESCRIPTOR* description) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(description);
    return create(out, {description->Width, description->Height, 0, description->Format,
                        description->NumChannels, 0});
  });
}

CUresult cuArray3DCreate_v2(CUarray* out, const CUDA_ARRAY3D_DESCRIPTOR* description) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(description);
    return create(out, *description);
  });
}

CUresult cuArrayDestroy(CUarray handle) {
  return guard(__func__, [&] { return destroy(handle); });
}

CUresult cuArrayGetDescriptor_v2(CUDA_ARRAY_DESCRIPTOR* out, CUarray handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Array, array, handle);
    const CUDA_ARRAY3D_DESCRIPTOR& found = array->shape().description;
    *out = {found.Width, found.Height, found.Format, found.NumChannels};
    return CUDA_SUCCESS;
  });
}

CUresult cuArray3DGetDescriptor_v2(CUDA_ARRAY3D_DESCRIPTOR* out, CUarray handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(Array, array, handle);
    *out = array->shape().description;
    return CUDA_SUCCESS;
  });
}

CUresult cuMipmappedArrayCreate(CUmipmappedArray* out, const CUDA_ARRAY3D_DESCRIPTOR* description,
                                unsigned int levels) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_REQUIRE(description);
    CU_CURRENT(context);
    return MipmappedArray::create(*context, *description, levels, out);
  });
}

CUresult cuMipmappedArrayDestroy(CUmipmappedArray handle) {
  return guard(__func__, [&]() -> CUresult {
    CU_CURRENT(current);
    static_cast<void>(current);
    CU_ASSIGN(const MayBlock may_block, require_may_block());
    if (retire<MipmappedArray>(may_block, handle)) return CUDA_SUCCESS;
    return fail(CUDA_ERROR_INVALID_HANDLE, "the mipmapped array is not a live handle");
  });
}

CUresult cuMipmappedArrayGetLevel(CUarray* out, CUmipmappedArray handle, unsigned int level) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(out);
    CU_GET(MipmappedArray, array, handle);
    if (level >= array->levels().size()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "level %u of %zu", level, array->levels().size());
    }
    *out = handle_of(*array->levels()[level]);
    return CUDA_SUCCESS;
  });
}

CUresult cuMemcpyHtoA_v2(CUarray to, size_t offset, const void* from, size_t bytes) {
  return guard(__func__, [&] { return host_to_array(nullptr, to, offset, from, bytes, true); });
}

CUresult cuMemcpyHtoA_v2_ptds(CUarray to, size_t offset, const void* from, size_t bytes) {
  return guard(__func__,
               [&] { return host_to_array(per_thread(nullptr), to, offset, from, bytes, true); });
}

CUresult cuMemcpyHtoAAsync_v2(CUarray to, size_t offset, const void* from, size_t bytes,
                              CUstream stream) {
  return guard(__func__, [&] { return host_to_array(stream, to, offset, from, bytes, false); });
}

CUresult cuMemcpyHtoAAsync_v2_ptsz(CUarray to, size_t offset, const void* from, size_t bytes,
                                   CUstream stream) {
  return guard(__func__,
               [&] { return host_to_array(per_thread(stream), to, offset, from, bytes, false); });
}

CUresult cuMemcpyAtoH_v2(void* to, CUarray from, size_t offset, size_t bytes) {
  return guard(__func__, [&] { return array_to_host(nullptr, to, from, offset, bytes, true); });
}

CUresult cuMemcpyAtoH_v2_ptds(void* to, CUarray from, size_t offset, size_t bytes) {
  return guard(__func__,
               [&] { return array_to_host(per_thread(nullptr), to, from, offset, bytes, true); });
}

CUresult cuMemcpyAtoHAsync_v2(void* to, CUarray from, size_t offset, size_t bytes,
                              CUstream stream) {
  return guard(__func__, [&] { return array_to_host(stream, to, from, offset, bytes, false); });
}

CUresult cuMemcpyAtoHAsync_v2_ptsz(void* to, CUarray from, size_t offset, size_t bytes,
                                   CUstream stream) {
  return guard(__func__,
               [&] { return array_to_host(per_thread(stream), to, from, offset, bytes, false); });
}

CUresult cuMemcpyDtoA_v2(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return guard(__func__, [&] { return device_to_array(nullptr, to, offset, from, bytes); });
}

CUresult cuMemcpyDtoA_v2_ptds(CUarray to, size_t offset, CUdeviceptr from, size_t bytes) {
  return guard(__func__,
               [&] { return device_to_array(per_thread(nullptr), to, offset, from, bytes); });
}

CUresult cuMemcpyAtoD_v2(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return guard(__func__, [&] { return array_to_device(nullptr, to, from, offset, bytes); });
}

CUresult cuMemcpyAtoD_v2_ptds(CUdeviceptr to, CUarray from, size_t offset, size_t bytes) {
  return guard(__func__,
               [&] { return array_to_device(per_thread(nullptr), to, from, offset, bytes); });
}

CUresult cuMemcpyAtoA_v2(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                         size_t bytes) {
  return guard(__func__,
               [&] { return array_to_array(nullptr, to, to_offset, from, from_offset, bytes); });
}

CUresult cuMemcpyAtoA_v2_ptds(CUarray to, size_t to_offset, CUarray from, size_t from_offset,
                              size_t bytes) {
  return guard(__func__, [&] {
    return array_to_array(per_thread(nullptr), to, to_offset, from, from_offset, bytes);
  });
}

}  // extern "C"

}  // namespace km::cu
