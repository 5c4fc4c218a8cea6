#include "core/memory/host_memory.h"

#include "api/guard.h"
#include "api/output.h"

using namespace km;

km_status km_host_memory_create(km_context context, uint64_t size_bytes, km_host_memory_flags flags,
                                km_host_memory* out_memory) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(out_memory);
    KM_TRY(check_flags(flags, KM_HOST_MEMORY_DEFAULT));
    KM_ASSIGN(Ref<HostMemory> created, HostMemory::create(*target, size_bytes));
    return give_handle(std::move(created), out_memory);
  });
}

km_status km_host_memory_register(km_context context, void* pointer, uint64_t size_bytes,
                                  km_host_memory_flags flags, km_host_memory* out_memory) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(pointer);
    KM_REQUIRE(out_memory);
    KM_TRY(check_flags(flags, KM_HOST_MEMORY_DEFAULT));
    KM_ASSIGN(Ref<HostMemory> created, HostMemory::register_range(*target, pointer, size_bytes));
    return give_handle(std::move(created), out_memory);
  });
}

km_status km_host_memory_destroy(km_host_memory memory) noexcept {
  return guard(__func__, [&](Call&) { return destroy_handle(memory, "memory"); });
}

km_status km_host_memory_pointer(km_host_memory memory, void** out_pointer) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, memory);
    KM_REQUIRE(out_pointer);
    *out_pointer = target->pointer();
    return {};
  });
}

km_status km_host_memory_size_bytes(km_host_memory memory, uint64_t* out_size_bytes) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, memory);
    KM_REQUIRE(out_size_bytes);
    *out_size_bytes = target->size_bytes();
    return {};
  });
}

km_status km_host_memory_map_file(km_context context, const char* path, uint64_t offset_bytes,
                                  uint64_t size_bytes, km_map_flags flags,
                                  km_host_memory* out_memory) noexcept {
  return guard(__func__, [&](Call& call) -> Status {
    KM_GET(target, call, context);
    KM_REQUIRE(path);
    KM_REQUIRE(out_memory);
    KM_TRY(check_flags(flags, KM_MAP_PRIVATE));
    KM_ASSIGN(Ref<HostMemory> created,
              HostMemory::map_file(*target, path, offset_bytes, size_bytes, flags));
    return give_handle(std::move(created), out_memory);
  });
}
