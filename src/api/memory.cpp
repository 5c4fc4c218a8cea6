#include "core/memory/memory.h"

#include "api/guard.h"
#include "api/output.h"
#include "core/queue/copy.h"
#include "core/queue/copy_3d.h"

using namespace km;

namespace {

// The allocation of a raw address, pinned until the call returns.
struct FoundPlace {
  FoundMemory memory;
  DevicePlace place;
};

Result<FoundPlace> find_place(Context& context, uint64_t address, uint64_t size_bytes,
                              const char* what) {
  if (size_bytes == 0) return FoundPlace{};
  KM_ASSIGN(FoundMemory memory, find_device_range(context, address, size_bytes, what));
  Memory* const target = &*memory;
  return FoundPlace{std::move(memory), {target, address}};
}
Result<FoundPlace> find_place(Stream& stream, uint64_t address, uint64_t size_bytes,
                              const char* what) {
  return find_place(stream.context(), address, size_bytes, what);
}

/// Finds the place of one side of a copy. An address whose sum with its offset exceeds 64 bits is
/// in no allocation.
Result<FoundPlace> find_place_3d(Stream& stream, uint64_t address, const Copy3d& shape,
                                 const Layout3d& layout, const char* what) {
  uint64_t first = 0;
  if (shape.is_empty()) return FoundPlace{};
  if (__builtin_add_overflow(address, layout.offset_bytes, &first)) {
    return make_error(KM_ERROR_OUT_OF_BOUNDS, "%s and its offset are more than 64 bits", what);
  }
  return find_place(stream, first, layout.extent_bytes, what);
}

km_status fill_memory(const char* function, km_stream stream, uint64_t address, uint32_t value,
                      uint32_t value_size_bytes, uint64_t count) noexcept {
  return guard_light(function, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const uint64_t size, fill_size(count, value_size_bytes));
    KM_ASSIGN(const FoundPlace found, find_place(*queue, address, size, "address"));
    return fill(*queue, found.place, value, value_size_bytes, count);
  });
}

}  // namespace

km_status km_memory_upload(km_stream stream, uint64_t destination_address, const void* source,
                           uint64_t size_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const FoundPlace found,
              find_place(*queue, destination_address, size_bytes, "destination_address"));
    return upload(*queue, found.place, source, size_bytes);
  });
}

km_status km_memory_download(km_stream stream, uint64_t source_address, void* destination,
                             uint64_t size_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const FoundPlace found,
              find_place(*queue, source_address, size_bytes, "source_address"));
    return download(*queue, found.place, destination, size_bytes);
  });
}

km_status km_memory_copy(km_stream stream, uint64_t destination_address, uint64_t source_address,
                         uint64_t size_bytes) noexcept {
  return guard_light(__func__, [&](Call& call) -> Status {
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

km_status km_memory_upload_3d(km_stream stream, uint64_t destination_address, const void* source,
                              const km_copy_3d* copy) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_REQUIRE(copy);
    KM_ASSIGN(const Copy3d shape, Copy3d::make(*copy));
    KM_ASSIGN(const FoundPlace found, find_place_3d(*queue, destination_address, shape,
                                                    shape.destination, "destination_address"));
    return upload_3d(*queue, found.place, source, shape);
  });
}

km_status km_memory_download_3d(km_stream stream, uint64_t source_address, void* destination,
                                const km_copy_3d* copy) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_REQUIRE(copy);
    KM_ASSIGN(const Copy3d shape, Copy3d::make(*copy));
    KM_ASSIGN(const FoundPlace found,
              find_place_3d(*queue, source_address, shape, shape.source, "source_address"));
    return download_3d(*queue, found.place, destination, shape);
  });
}

km_status km_memory_copy_3d(km_stream stream, uint64_t destination_address, uint64_t source_address,
                            const km_copy_3d* copy) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_REQUIRE(copy);
    KM_ASSIGN(const Copy3d shape, Copy3d::make(*copy));
    KM_ASSIGN(const FoundPlace to, find_place_3d(*queue, destination_address, shape,
                                                 shape.destination, "destination_address"));
    KM_ASSIGN(const FoundPlace from,
              find_place_3d(*queue, source_address, shape, shape.source, "source_address"));
    return copy_3d(*queue, to.place, from.place, shape);
  });
}

km_status km_memory_fill_2d(km_stream stream, uint64_t address, uint64_t pitch_bytes,
                            uint32_t value, uint32_t value_size_bytes, uint64_t width_count,
                            uint64_t height) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_ASSIGN(const Fill2d shape,
              Fill2d::make(pitch_bytes, value, value_size_bytes, width_count, height));
    KM_ASSIGN(const FoundPlace found, find_place(*queue, address, shape.extent_bytes, "address"));
    return fill_2d(*queue, found.place, shape);
  });
}

km_status km_memory_copy_peer(km_stream stream, km_context destination_context,
                              uint64_t destination_address, km_context source_context,
                              uint64_t source_address, uint64_t size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(queue, call, stream);
    KM_GET(to_context, call, destination_context);
    KM_GET(from_context, call, source_context);
    KM_ASSIGN(const FoundPlace to,
              find_place(*to_context, destination_address, size_bytes, "destination_address"));
    KM_ASSIGN(const FoundPlace from,
              find_place(*from_context, source_address, size_bytes, "source_address"));
    return copy_peer(*queue, to.place, from.place, size_bytes);
  });
}
