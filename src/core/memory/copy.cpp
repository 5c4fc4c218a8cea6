#include "core/memory/copy.h"

#include <cinttypes>

#include "base/text.h"
#include "core/graph/graph_work.h"
#include "core/memory/mapped_file.h"
#include "core/object/backend_call.h"
#include "core/object/callback.h"

namespace km {
namespace {

// A host range that is page-locked keeps its memory until the copy is done; any other may make the
// call wait.
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

MemoryUse use_of(const DevicePlace& place, uint64_t size_bytes, AccessKind kind) {
  if (place.memory == nullptr) return {};
  return MemoryUse::of(*place.memory, place.address, size_bytes, kind);
}

MemoryUse use_of_pinned(const FoundMemory& pinned, const void* first, uint64_t size_bytes,
                        AccessKind kind) {
  if (!pinned) return {};
  const auto offset = static_cast<uint64_t>(static_cast<const char*>(first) -
                                            static_cast<const char*>(pinned->host_pointer()));
  return MemoryUse::of(*pinned, pinned->address() + offset, size_bytes, kind);
}

Status require_pointer(const void* pointer, const char* name, uint64_t size_bytes) {
  if (pointer != nullptr || size_bytes == 0) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT, "%s is null, and %s of it %s to be copied", name,
                    counted(size_bytes, "byte").c_str(), size_bytes == 1 ? "is" : "are");
}

Status require_apart(const DevicePlace& destination, const DevicePlace& source,
                     uint64_t size_bytes) {
  if (destination.address >= source.address + size_bytes ||
      source.address >= destination.address + size_bytes || destination.address == source.address) {
    return {};  // a copy onto itself changes nothing
  }
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "source 0x%" PRIx64 " and destination 0x%" PRIx64 " of %s overlap",
                    source.address, destination.address, counted(size_bytes, "byte").c_str());
}

Status require_aligned(const DevicePlace& destination, uint32_t value_size_bytes, uint64_t count) {
  if (count == 0 || destination.address % value_size_bytes == 0) return {};
  return make_error(KM_ERROR_INVALID_ARGUMENT,
                    "address 0x%" PRIx64 " is not a multiple of the value's %u bytes",
                    destination.address, value_size_bytes);
}

Result<DevicePlace> place_in_slice(Context& context, Slice& slice, uint64_t offset_bytes,
                                   uint64_t size_bytes, const char* what) {
  KM_TRY(require_same_context(context, slice.context(), what));
  KM_TRY(slice.check_range(offset_bytes, size_bytes, what));
  return DevicePlace{&slice.memory(), slice.address() + offset_bytes};
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

Result<uint64_t> fill_size(uint64_t count, uint32_t value_size_bytes) {
  if (value_size_bytes != 1 && value_size_bytes != 2 && value_size_bytes != 4) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "value_size_bytes is %u; expected 1, 2 or 4",
                      value_size_bytes);
  }
  uint64_t size = 0;
  if (!__builtin_mul_overflow(count, uint64_t{value_size_bytes}, &size)) return size;
  return make_error(KM_ERROR_OUT_OF_BOUNDS,
                    "%" PRIu64 " values of %u bytes are more than 2^64 bytes", count,
                    value_size_bytes);
}

}  // namespace km
