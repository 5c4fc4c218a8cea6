#include "core/memory.h"

#include "api/guard.h"
#include "api/output.h"
#include "core/copy.h"

using namespace km;

namespace {

// Raw addresses: the allocation is looked up, checked, and kept in place until the call returns.
struct FoundPlace {
  FoundMemory memory;
  DevicePlace place;
};

Result<FoundPlace> find_place(Stream& stream, uint64_t address, uint64_t size_bytes,
                              const char* what) {
  if (size_bytes == 0) return FoundPlace{};
  KM_ASSIGN(FoundMemory memory, find_device_range(stream.context(), address, size_bytes, what));
  Memory* const target = &*memory;
  return FoundPlace{std::move(memory), {target, address}};
}

km_status fill_memory(const char* function, km_stream stream, uint64_t address, uint32_t value,
                      uint32_t value_size_bytes, uint64_t count) noexcept {
  return guard(function, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const uint64_t size, fill_size(count, value_size_bytes));
    KM_ASSIGN(const FoundPlace found, find_place(*queue, address, size, "address"));
    return fill(*queue, found.place, value, value_size_bytes, count);
  });
}

}  // namespace

km_status km_memory_upload(km_stream stream, uint64_t destination_address, const void* source,
                           uint64_t size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const FoundPlace found,
              find_place(*queue, destination_address, size_bytes, "destination_address"));
    return upload(*queue, found.place, source, size_bytes);
  });
}

km_status km_memory_download(km_stream stream, uint64_t source_address, void* destination,
                             uint64_t size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const FoundPlace found,
              find_place(*queue, source_address, size_bytes, "source_address"));
    return download(*queue, found.place, destination, size_bytes);
  });
}

km_status km_memory_copy(km_stream stream, uint64_t destination_address, uint64_t source_address,
                         uint64_t size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const FoundPlace to,
              find_place(*queue, destination_address, size_bytes, "destination_address"));
    KM_ASSIGN(const FoundPlace from,
              find_place(*queue, source_address, size_bytes, "source_address"));
    return copy(*queue, to.place, from.place, size_bytes);
  });
}

km_status km_memory_fill_u8(km_stream stream, uint64_t address, uint8_t value,
                            uint64_t count) noexcept {
  return fill_memory(__func__, stream, address, value, 1, count);
}

km_status km_memory_fill_u16(km_stream stream, uint64_t address, uint16_t value,
                             uint64_t count) noexcept {
  return fill_memory(__func__, stream, address, value, 2, count);
}

km_status km_memory_fill_u32(km_stream stream, uint64_t address, uint32_t value,
                             uint64_t count) noexcept {
  return fill_memory(__func__, stream, address, value, 4, count);
}
