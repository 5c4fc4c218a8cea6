#include "dropin/cuda/memory/copy.h"

#include <algorithm>

#include "core/graph/graph_capture.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"
#include "core/stream/stream_capture.h"
#include "dropin/cuda/memory/array.h"
#include "dropin/cuda/memory/bad_address.h"

namespace km::dropin {
namespace {

void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

/// Finds a side's place in device memory.
CUresult resolve(Context& context, Side& side, uint64_t address, uint64_t size_bytes,
                 const char* what, Place* out) {
  if (side == Side::kHost) {
    note_device_as_host(context, address, size_bytes, what);
    return CUDA_SUCCESS;
  }
  if (side == Side::kDevice) return out->find(context, address, size_bytes, what);
  if (!out->try_find(context, address, 0)) {
    side = Side::kHost;
    return CUDA_SUCCESS;
  }
  side = Side::kDevice;
  return out->find(context, address, size_bytes, what);
}

/// Checks a copy between two host addresses. A graph could not keep host memory alive, so a capture
/// is refused; no allocation bounds the size, so its limit is checked here.
CUresult check_host_copy(km::Stream& stream, uint64_t extent_bytes) {
  constexpr uint64_t kMostBytes = uint64_t{1} << 62;
  if (extent_bytes > kMostBytes) {
    return fail(CUDA_ERROR_INVALID_VALUE, "a copy of %llu bytes from host to host",
                static_cast<unsigned long long>(extent_bytes));
  }
  if (stream.is_capturing()) {
    return result_of(refuse_capture(stream, "copying from host to host in"));
  }
  CU_CHECK(require_may_block());
  return CUDA_SUCCESS;
}

/// Any address may come; the backend's copies check whether memory is mapped there.
CUresult copy_on_host(Stream& stream, const Copy& copy) {
  km::Stream& core = stream.core();
  CU_TRY(check_host_copy(core, copy.size_bytes));
  uint64_t ticket = 0;
  CU_CHECK(call_backend(core.backend().copy_to_host, core.native(), pointer_to(copy.to), copy.from,
                        copy.size_bytes, uint32_t{0}, nullptr, &ticket));
  return CUDA_SUCCESS;
}

}  // namespace

CUresult queue_copy(Stream& stream, Copy copy) {
  if (copy.size_bytes == 0) return CUDA_SUCCESS;
  Place to, from;
  CU_TRY(resolve(stream.context(), copy.to_side, copy.to, copy.size_bytes, "destination", &to));
  CU_TRY(resolve(stream.context(), copy.from_side, copy.from, copy.size_bytes, "source", &from));
  const bool to_device = copy.to_side == Side::kDevice;
  const bool from_device = copy.from_side == Side::kDevice;
  if (!to_device && !from_device) return copy_on_host(stream, copy);
  if (!from_device) {
    CU_CHECK(upload(stream.core(), to.place(), pointer_to(copy.from), copy.size_bytes));
  } else if (!to_device) {
    CU_CHECK(download(stream.core(), from.place(), pointer_to(copy.to), copy.size_bytes));
  } else if (&to.memory().context() == &from.memory().context()) {
    CU_CHECK(km::copy(stream.core(), to.place(), from.place(), copy.size_bytes));
  } else {
    CU_CHECK(copy_peer(stream.core(), to.place(), from.place(), copy.size_bytes));
  }
  return CUDA_SUCCESS;
}

CUresult run_copy(CUstream handle, const Copy& copy, bool waits) {
  CU_STREAM_FOR_WORK(stream, handle);
  CU_TRY(queue_copy(*stream, copy));
  return waits ? stream->synchronize() : CUresult{CUDA_SUCCESS};
}

namespace {

/// One side of a copy as the caller describes it.
struct GivenSide {
  CUmemorytype type;
  const void* host;
  CUdeviceptr device;
  CUarray array;
  size_t pitch_bytes, layer_rows;
};

/// An array's layout is fixed, so the caller's pitches are ignored.
CUresult read_array(CUarray array, const CUDA_MEMCPY3D& copy, const size_t (&at)[3], Side3d* out) {
  ArrayRows rows;
  CU_TRY(rows.find(array, at, copy.WidthInBytes, copy.Height, copy.Depth));
  *out = {Side::kDevice, rows.address, rows.pitch_bytes, rows.layer_rows};
  return CUDA_SUCCESS;
}

CUresult read_side(const GivenSide& given, const CUDA_MEMCPY3D& copy, const size_t (&at)[3],
                   Side3d* out) {
  uint64_t base = given.device;
  switch (given.type) {
    case CU_MEMORYTYPE_HOST:
      out->side = Side::kHost;
      base = reinterpret_cast<uint64_t>(given.host);
      break;
    case CU_MEMORYTYPE_DEVICE:
      out->side = Side::kDevice;
      break;
    case CU_MEMORYTYPE_UNIFIED:
      out->side = Side::kUnified;
      break;
    case CU_MEMORYTYPE_ARRAY:
      return read_array(given.array, copy, at, out);
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no memory type %d", given.type);
  }
  out->address = base + at[0] + given.pitch_bytes * (at[1] + given.layer_rows * at[2]);
  out->pitch_bytes = given.pitch_bytes;
  out->layer_rows = given.layer_rows;
  return CUDA_SUCCESS;
}

CUresult copy_rows_on_host(Stream& stream, const Copy3d& shape, const Side3d& to,
                           const Side3d& from) {
  km::Stream& core = stream.core();
  CU_TRY(
      check_host_copy(core, std::max(shape.destination.extent_bytes, shape.source.extent_bytes)));
  kmb_copy_3d rows = shape.native(to.address, from.address);
  rows.destination_space = rows.source_space = KMB_SPACE_HOST;
  uint64_t ticket = 0;
  CU_CHECK(call_backend(core.backend().copy_3d, core.native(), &rows, nullptr, &ticket));
  return CUDA_SUCCESS;
}

CUresult queue_copy_3d(Stream& stream, const Sides3d& sides) {
  const DevicePlace& to = sides.to_place.place();
  const DevicePlace& from = sides.from_place.place();
  if (sides.to.side == Side::kHost && sides.from.side == Side::kHost) {
    return copy_rows_on_host(stream, sides.shape, sides.to, sides.from);
  }
  if (sides.from.side == Side::kHost) {
    CU_CHECK(upload_3d(stream.core(), to, pointer_to(sides.from.address), sides.shape));
  } else if (sides.to.side == Side::kHost) {
    CU_CHECK(download_3d(stream.core(), from, pointer_to(sides.to.address), sides.shape));
  } else {
    CU_CHECK(copy_3d(stream.core(), to, from, sides.shape));
  }
  return CUDA_SUCCESS;
}

}  // namespace

CUDA_MEMCPY3D as_3d(const CUDA_MEMCPY2D& copy) {
  CUDA_MEMCPY3D made{};
  made.srcXInBytes = copy.srcXInBytes;
  made.srcY = copy.srcY;
  made.srcMemoryType = copy.srcMemoryType;
  made.srcHost = copy.srcHost;
  made.srcDevice = copy.srcDevice;
  made.srcArray = copy.srcArray;
  made.srcPitch = copy.srcPitch;
  made.dstXInBytes = copy.dstXInBytes;
  made.dstY = copy.dstY;
  made.dstMemoryType = copy.dstMemoryType;
  made.dstHost = copy.dstHost;
  made.dstDevice = copy.dstDevice;
  made.dstArray = copy.dstArray;
  made.dstPitch = copy.dstPitch;
  made.WidthInBytes = copy.WidthInBytes;
  made.Height = copy.Height;
  made.Depth = 1;
  return made;
}

CUresult Sides3d::read(Context& context, const CUDA_MEMCPY3D& copy) {
  const size_t to_at[] = {copy.dstXInBytes, copy.dstY, copy.dstZ};
  const size_t from_at[] = {copy.srcXInBytes, copy.srcY, copy.srcZ};
  CU_TRY(read_side({copy.dstMemoryType, copy.dstHost, copy.dstDevice, copy.dstArray, copy.dstPitch,
                    copy.dstHeight},
                   copy, to_at, &to));
  CU_TRY(read_side({copy.srcMemoryType, copy.srcHost, copy.srcDevice, copy.srcArray, copy.srcPitch,
                    copy.srcHeight},
                   copy, from_at, &from));
  const bool one_row = copy.Height <= 1 && copy.Depth <= 1;
  km_copy_3d wanted{};
  wanted.width_bytes = copy.WidthInBytes;
  wanted.height = copy.Height;
  wanted.depth = copy.Depth;
  wanted.destination_pitch_bytes = one_row ? 0 : to.pitch_bytes;
  wanted.destination_layer_rows = copy.Depth == 1 ? 0 : to.layer_rows;
  wanted.source_pitch_bytes = one_row ? 0 : from.pitch_bytes;
  wanted.source_layer_rows = copy.Depth == 1 ? 0 : from.layer_rows;
  CU_ASSIGN(shape, Copy3d::make(wanted));
  if (shape.is_empty()) return CUDA_SUCCESS;
  CU_TRY(resolve(context, to.side, to.address, shape.destination.extent_bytes, "destination",
                 &to_place));
  return resolve(context, from.side, from.address, shape.source.extent_bytes, "source",
                 &from_place);
}

CUresult run_copy_3d(CUstream handle, const CUDA_MEMCPY3D& copy, bool waits) {
  CU_STREAM_FOR_WORK(stream, handle);
  Sides3d sides;
  CU_TRY(sides.read(stream->context(), copy));
  if (sides.shape.is_empty()) return CUDA_SUCCESS;
  CU_TRY(queue_copy_3d(*stream, sides));
  return waits ? stream->synchronize() : CUresult{CUDA_SUCCESS};
}

CUresult run_fill(CUstream handle, const Fill& fill, bool waits) {
  CU_STREAM_FOR_WORK(stream, handle);
  const uint64_t pitch = fill.height <= 1 ? 0 : fill.pitch_bytes;
  CU_ASSIGN(const Fill2d shape,
            Fill2d::make(pitch, fill.value, fill.value_size_bytes, fill.width, fill.height));
  if (fill.width == 0 || fill.height == 0) return CUDA_SUCCESS;
  Place place;
  CU_TRY(place.find(stream->context(), fill.to, shape.extent_bytes, "destination"));
  CU_CHECK(fill_2d(stream.core(), place.place(), shape));
  return waits ? stream->synchronize() : CUresult{CUDA_SUCCESS};
}

}  // namespace km::dropin
