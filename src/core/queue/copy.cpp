#include "core/queue/copy.h"

#include "core/graph/graph_capture.h"
#include "core/graph/graph_work.h"
#include "core/memory/mapped_file.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"

namespace km {
namespace {

// Page-locked host memory stays alive until the copy is done. With other host memory the call may
// wait, which callbacks must not.
Status check_host_side(const FoundMemory& pinned) {
  if (!pinned) KM_TRY(require_may_block());
  return {};
}

}  // namespace

Status explain_file(Status status, const Memory& device, const void* host) {
  if (status || status.error().status != KM_ERROR_INVALID_ARGUMENT) return status;
  const FoundMemory mapped =
      host != nullptr ? find_mapped_file(device.context(), host) : FoundMemory();
  const MappedFile* file = mapped ? mapped->file() : device.file();
  if (file == nullptr) return status;
  status.error().status = KM_ERROR_IO;
  status.error().message += "; file '" + file->path() + "' may have been truncated";
  return status;
}

Status upload(Stream& stream, const DevicePlace& destination, const void* source,
              uint64_t size_bytes) {
  if (size_bytes == 0) return {};
  KM_TRY(require_pointer(source, "source", size_bytes));
  KM_TRY(destination.memory->require_writable("the destination"));
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, upload_work(stream.context(), destination, source, size_bytes));
  const FoundMemory pinned = find_pinned_memory(stream.context(), source, size_bytes);
  KM_TRY(check_host_side(pinned));
  MemoryUse uses[] = {use_of(destination, size_bytes, AccessKind::kWrite),
                      use_of_pinned(pinned, source, size_bytes, AccessKind::kRead)};
  return submit(stream, uses, [&](Submission& submission, uint64_t* ticket) {
    return explain_file(
        call_backend(stream.backend().copy_to_device, stream.native(), destination.address, source,
                     size_bytes, uint32_t{static_cast<bool>(pinned)}, submission.queued(), ticket),
        *destination.memory, source);
  });
}

Status download(Stream& stream, const DevicePlace& source, void* destination, uint64_t size_bytes) {
  if (size_bytes == 0) return {};
  KM_TRY(require_pointer(destination, "destination", size_bytes));
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, download_work(stream.context(), source, destination, size_bytes));
  const FoundMemory pinned = find_pinned_memory(stream.context(), destination, size_bytes);
  KM_TRY(check_host_side(pinned));
  MemoryUse uses[] = {use_of(source, size_bytes, AccessKind::kRead),
                      use_of_pinned(pinned, destination, size_bytes, AccessKind::kWrite)};
  return submit(stream, uses, [&](Submission& submission, uint64_t* ticket) {
    return explain_file(
        call_backend(stream.backend().copy_to_host, stream.native(), destination, source.address,
                     size_bytes, uint32_t{static_cast<bool>(pinned)}, submission.queued(), ticket),
        *source.memory, destination);
  });
}

Status copy(Stream& stream, const DevicePlace& destination, const DevicePlace& source,
            uint64_t size_bytes) {
  if (size_bytes == 0) return {};
  KM_TRY(require_apart(destination, source, size_bytes));
  KM_TRY(destination.memory->require_writable("the destination"));
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, copy_work(destination, source, size_bytes));
  MemoryUse uses[] = {use_of(destination, size_bytes, AccessKind::kWrite),
                      use_of(source, size_bytes, AccessKind::kRead)};
  return submit(stream, uses, [&](Submission&, uint64_t* ticket) {
    return call_backend(stream.backend().copy_on_device, stream.native(), destination.address,
                        source.address, size_bytes, ticket);
  });
}

Status copy_peer(Stream& stream, const DevicePlace& destination, const DevicePlace& source,
                 uint64_t size_bytes) {
  if (size_bytes == 0) return {};
  const Context& to = destination.memory->context();
  const Context& from = source.memory->context();
  if (&to == &stream.context() && &from == &to) {
    return copy(stream, destination, source, size_bytes);
  }
  KM_TRY(require_peer(stream.context(), to));
  KM_TRY(require_peer(stream.context(), from));
  KM_TRY(destination.memory->require_writable("the destination"));
  KM_TRY(require_apart(destination, source, size_bytes));
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream,
                          copy_peer_work(stream.context(), destination, source, size_bytes));
  if (stream.backend().copy_peer == nullptr) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "backend '%s' has no copies between devices",
                      stream.backend().name);
  }
  MemoryUse uses[] = {use_of(destination, size_bytes, AccessKind::kWrite),
                      use_of(source, size_bytes, AccessKind::kRead)};
  return submit(stream, uses, [&](Submission&, uint64_t* ticket) {
    return call_backend(stream.backend().copy_peer, stream.native(), to.native(),
                        destination.address, from.native(), source.address, size_bytes, ticket);
  });
}

Status fill(Stream& stream, const DevicePlace& destination, uint32_t value,
            uint32_t value_size_bytes, uint64_t count) {
  if (count == 0) return {};
  KM_TRY(require_aligned(destination, value_size_bytes, count));
  KM_TRY(destination.memory->require_writable("the slice"));
  if (stream.is_capturing()) [[unlikely]]
    return capture_result(stream, fill_work(destination, value, value_size_bytes, count));
  MemoryUse uses[] = {use_of(destination, count * value_size_bytes, AccessKind::kWrite)};
  return submit(stream, uses, [&](Submission&, uint64_t* ticket) {
    return call_backend(stream.backend().fill, stream.native(), destination.address, value,
                        value_size_bytes, count, ticket);
  });
}

}  // namespace km
