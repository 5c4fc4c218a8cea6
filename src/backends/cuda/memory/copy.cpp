// Copies and fills of device memory.
#include "backends/cuda/memory/copy.h"

namespace km::cuda {
namespace {

struct Fill {
  uint64_t destination, pitch_bytes;
  uint32_t value, value_size_bytes;
  uint64_t width_count, height;
};

/// Waits for the stream if needed. When its call returns, the driver has read a pageable source or
/// written a pageable destination, unless the GPU accesses such memory directly.
Status settle(Stream& stream, bool is_pinned) {
  if (is_pinned || !stream.epoch()->gpu().reads_pageable()) return {};
  return stream.epoch()->check(driver().cuStreamSynchronize(stream.handle()));
}

/// Called before a driver call that may wait for the stream: the ticket is known only at its end.
void announce(const kmb_queued* queued, bool is_pinned) {
  if (queued != nullptr && !is_pinned) queued->call(queued->user_data, 0);
}

ProfiledOperation profiled(Stream& stream, km_profile_kind kind, uint64_t size_bytes) {
  return {stream.profile(), stream.epoch(), stream.handle(), kind, to(&stream), size_bytes};
}

void set_place(uint32_t space, uint64_t address, cu::CUmemorytype* type, cu::CUdeviceptr* device,
               uint64_t* host) {
  const bool is_device = space == KMB_SPACE_DEVICE;
  *type = is_device ? cu::CU_MEMORYTYPE_DEVICE : cu::CU_MEMORYTYPE_HOST;
  *device = is_device ? address : 0;
  *host = is_device ? 0 : address;
}

km_profile_kind kind_of(const kmb_copy_3d& copy) {
  if (copy.source_space != KMB_SPACE_DEVICE) return KM_PROFILE_KIND_UPLOAD;
  return copy.destination_space != KMB_SPACE_DEVICE ? KM_PROFILE_KIND_DOWNLOAD
                                                    : KM_PROFILE_KIND_COPY;
}

Status fill_line(Stream& stream, const Fill& fill) {
  Driver& d = driver();
  const uint64_t to = fill.destination, count = fill.width_count;
  Called called{};
  if (fill.value_size_bytes == 1) {
    called = d.cuMemsetD8Async(to, static_cast<unsigned char>(fill.value), count, stream.handle());
  } else if (fill.value_size_bytes == 2) {
    called = d.cuMemsetD16Async(to, static_cast<uint16_t>(fill.value), count, stream.handle());
  } else {
    called = d.cuMemsetD32Async(to, fill.value, count, stream.handle());
  }
  return stream.epoch()->check(called);
}

Status fill_rows(Stream& stream, const Fill& fill) {
  Driver& d = driver();
  const uint64_t to = fill.destination, pitch = fill.pitch_bytes;
  const uint64_t width = fill.width_count, height = fill.height;
  Called called{};
  if (fill.value_size_bytes == 1) {
    called = d.cuMemsetD2D8Async(to, pitch, static_cast<unsigned char>(fill.value), width, height,
                                 stream.handle());
  } else if (fill.value_size_bytes == 2) {
    called = d.cuMemsetD2D16Async(to, pitch, static_cast<uint16_t>(fill.value), width, height,
                                  stream.handle());
  } else {
    called = d.cuMemsetD2D32Async(to, pitch, fill.value, width, height, stream.handle());
  }
  return stream.epoch()->check(called);
}

}  // namespace

cu::CUDA_MEMCPY3D native_copy(const kmb_copy_3d& copy) {
  cu::CUDA_MEMCPY3D native{};
  uint64_t source_host = 0, destination_host = 0;
  set_place(copy.source_space, copy.source, &native.srcMemoryType, &native.srcDevice, &source_host);
  set_place(copy.destination_space, copy.destination, &native.dstMemoryType, &native.dstDevice,
            &destination_host);
  native.srcHost = reinterpret_cast<const void*>(source_host);
  native.dstHost = reinterpret_cast<void*>(destination_host);
  native.srcPitch = copy.source_pitch_bytes;
  native.srcHeight = copy.source_layer_rows;
  native.dstPitch = copy.destination_pitch_bytes;
  native.dstHeight = copy.destination_layer_rows;
  native.WidthInBytes = copy.width_bytes;
  native.Height = copy.height;
  native.Depth = copy.depth;
  return native;
}

km_status copy_to_device(kmb_stream* stream, uint64_t destination, const void* source,
                         uint64_t size_bytes, uint32_t pinned, const kmb_queued* queued,
                         uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) -> Status {
    announce(queued, pinned != 0);
    const ProfiledOperation operation = profiled(target, KM_PROFILE_KIND_UPLOAD, size_bytes);
    KM_TRY(target.epoch()->check(
        driver().cuMemcpyHtoDAsync_v2(destination, source, size_bytes, target.handle())));
    return settle(target, pinned != 0);
  });
}

km_status copy_to_host(kmb_stream* stream, void* destination, uint64_t source, uint64_t size_bytes,
                       uint32_t pinned, const kmb_queued* queued, uint64_t* out_ticket,
                       kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) -> Status {
    announce(queued, pinned != 0);
    const ProfiledOperation operation = profiled(target, KM_PROFILE_KIND_DOWNLOAD, size_bytes);
    KM_TRY(target.epoch()->check(
        driver().cuMemcpyDtoHAsync_v2(destination, source, size_bytes, target.handle())));
    return settle(target, pinned != 0);
  });
}

km_status copy_on_device(kmb_stream* stream, uint64_t destination, uint64_t source,
                         uint64_t size_bytes, uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) -> Status {
    const ProfiledOperation operation = profiled(target, KM_PROFILE_KIND_COPY, size_bytes);
    return target.epoch()->check(
        driver().cuMemcpyDtoDAsync_v2(destination, source, size_bytes, target.handle()));
  });
}

km_status copy_peer(kmb_stream* stream, kmb_context* destination_context, uint64_t destination,
                    kmb_context* source_context, uint64_t source, uint64_t size_bytes,
                    uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> to_epoch, live_epoch(destination_context));
    KM_ASSIGN(const std::shared_ptr<Epoch> from_epoch, live_epoch(source_context));
    const ProfiledOperation operation = profiled(target, KM_PROFILE_KIND_COPY, size_bytes);
    return target.epoch()->check(driver().cuMemcpyPeerAsync(destination, to_epoch->handle(), source,
                                                            from_epoch->handle(), size_bytes,
                                                            target.handle()));
  });
}

km_status copy_3d(kmb_stream* stream, const kmb_copy_3d* copy, const kmb_queued* queued,
                  uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) -> Status {
    const bool is_pageable =
        copy->source_space == KMB_SPACE_HOST || copy->destination_space == KMB_SPACE_HOST;
    announce(queued, !is_pageable);
    const cu::CUDA_MEMCPY3D native = native_copy(*copy);
    const ProfiledOperation operation =
        profiled(target, kind_of(*copy), copy->width_bytes * copy->height * copy->depth);
    KM_TRY(target.epoch()->check(driver().cuMemcpy3DAsync_v2(&native, target.handle())));
    if (!is_pageable) return {};
    return target.epoch()->check(driver().cuStreamSynchronize(target.handle()));
  });
}

km_status fill(kmb_stream* stream, uint64_t destination, uint32_t value, uint32_t value_size_bytes,
               uint64_t count, uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) {
    const ProfiledOperation operation =
        profiled(target, KM_PROFILE_KIND_FILL, count * value_size_bytes);
    return fill_line(target, {destination, 0, value, value_size_bytes, count, 1});
  });
}

km_status fill_2d(kmb_stream* stream, uint64_t destination, uint64_t pitch_bytes, uint32_t value,
                  uint32_t value_size_bytes, uint64_t width_count, uint64_t height,
                  uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error, [&](Stream& target) {
    const ProfiledOperation operation =
        profiled(target, KM_PROFILE_KIND_FILL, width_count * value_size_bytes * height);
    return fill_rows(target,
                     {destination, pitch_bytes, value, value_size_bytes, width_count, height});
  });
}

}  // namespace km::cuda
