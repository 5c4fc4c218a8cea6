#include "core/queue/copy_3d.h"

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"
#include "core/queue/copy.h"

namespace km {
namespace {

Status require_copies(const Stream& stream) {
  if (stream.backend().copy_3d != nullptr) return {};
  return make_error(KM_ERROR_NOT_SUPPORTED, "backend '%s' has no copies with a pitch",
                    stream.backend().name);
}

Status copy_rows(Stream& stream, const kmb_copy_3d& copy, Submission& submission,
                 uint64_t* out_ticket) {
  return call_backend(stream.backend().copy_3d, stream.native(), &copy, submission.queued(),
                      out_ticket);
}

Status require_host(const void* pointer, const char* name) {
  if (pointer != nullptr) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is null", name);
}

// The host's side of a copy. Memory that is not page-locked may make the call wait, as in copy.cpp.
struct HostSide {
  FoundMemory pinned;
  uint64_t address = 0;
  uint32_t space() const { return pinned ? KMB_SPACE_HOST_PINNED : KMB_SPACE_HOST; }
  MemoryUse use(const Layout3d& layout, AccessKind kind) const {
    return use_of_pinned(pinned, reinterpret_cast<const void*>(address), layout.extent_bytes, kind);
  }
};

Result<HostSide> find_host_side(Stream& stream, const void* pointer, const Layout3d& layout,
                                const char* name) {
  KM_TRY(require_host(pointer, name));
  const auto* first = static_cast<const char*>(pointer) + layout.offset_bytes;
  HostSide side{find_pinned_memory(stream.context(), first, layout.extent_bytes),
                reinterpret_cast<uint64_t>(first)};
  if (!side.pinned) KM_TRY(require_may_block());
  return side;
}

}  // namespace

Status upload_3d(Stream& stream, const DevicePlace& destination, const void* source,
                 const Copy3d& shape) {
  if (shape.is_empty()) return {};
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, upload_3d_work(stream.context(), destination, source, shape));
  KM_TRY(destination.memory->require_writable("the destination"));
  KM_ASSIGN(const HostSide host, find_host_side(stream, source, shape.source, "source"));
  if (shape.is_flat()) {
    return upload(stream, destination, reinterpret_cast<const void*>(host.address),
                  shape.size_bytes());
  }
  kmb_copy_3d copy = shape.native(destination.address, host.address);
  copy.source_space = host.space();
  KM_TRY(require_copies(stream));
  MemoryUse uses[] = {use_of(destination, shape.destination.extent_bytes, AccessKind::kWrite),
                      host.use(shape.source, AccessKind::kRead)};
  return submit(stream, uses, [&](Submission& submission, uint64_t* ticket) {
    return explain_file(copy_rows(stream, copy, submission, ticket), *destination.memory, source);
  });
}

Status download_3d(Stream& stream, const DevicePlace& source, void* destination,
                   const Copy3d& shape) {
  if (shape.is_empty()) return {};
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, download_3d_work(stream.context(), source, destination, shape));
  KM_ASSIGN(const HostSide host,
            find_host_side(stream, destination, shape.destination, "destination"));
  if (shape.is_flat()) {
    return download(stream, source, reinterpret_cast<void*>(host.address), shape.size_bytes());
  }
  kmb_copy_3d copy = shape.native(host.address, source.address);
  copy.destination_space = host.space();
  KM_TRY(require_copies(stream));
  MemoryUse uses[] = {use_of(source, shape.source.extent_bytes, AccessKind::kRead),
                      host.use(shape.destination, AccessKind::kWrite)};
  return submit(stream, uses, [&](Submission& submission, uint64_t* ticket) {
    return explain_file(copy_rows(stream, copy, submission, ticket), *source.memory, destination);
  });
}

Status copy_3d(Stream& stream, const DevicePlace& destination, const DevicePlace& source,
               const Copy3d& shape) {
  if (shape.is_empty()) return {};
  if (shape.is_flat()) return copy(stream, destination, source, shape.size_bytes());
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, copy_3d_work(destination, source, shape));
  KM_TRY(require_rows_apart(shape, destination, source));
  KM_TRY(destination.memory->require_writable("the destination"));
  KM_TRY(require_copies(stream));
  MemoryUse uses[] = {use_of(destination, shape.destination.extent_bytes, AccessKind::kWrite),
                      use_of(source, shape.source.extent_bytes, AccessKind::kRead)};
  return submit(stream, uses, [&](Submission& submission, uint64_t* ticket) {
    return copy_rows(stream, shape.native(destination.address, source.address), submission, ticket);
  });
}

Status fill_2d(Stream& stream, const DevicePlace& destination, const Fill2d& shape) {
  if (shape.extent_bytes == 0) return {};
  const uint64_t width = shape.width_count * shape.value_size_bytes;
  if (shape.height == 1 || shape.pitch_bytes == width) {
    return fill(stream, destination, shape.value, shape.value_size_bytes,
                shape.width_count * shape.height);
  }
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, fill_2d_work(destination, shape));
  KM_TRY(require_aligned(destination, shape.value_size_bytes, shape.width_count));
  KM_TRY(destination.memory->require_writable("the slice"));
  if (stream.backend().fill_2d == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "backend '%s' has no fills with a pitch",
                      stream.backend().name);
  }
  MemoryUse uses[] = {use_of(destination, shape.extent_bytes, AccessKind::kWrite)};
  return submit(stream, uses, [&](Submission&, uint64_t* ticket) {
    return call_backend(stream.backend().fill_2d, stream.native(), destination.address,
                        shape.pitch_bytes, shape.value, shape.value_size_bytes, shape.width_count,
                        shape.height, ticket);
  });
}

}  // namespace km
