#include "core/memory/host_memory.h"

#include <cinttypes>

#include "base/text.h"
#include "core/memory/mapped_file.h"

namespace km {

Result<Ref<HostMemory>> HostMemory::create(Context& context, uint64_t size_bytes) {
  if (size_bytes == 0) return make_error(KM_ERROR_INVALID_ARGUMENT, "size_bytes is 0");
  KM_ASSIGN(Ref<Memory> memory, Memory::create_host(context, size_bytes));
  return make_ref<HostMemory>(std::move(memory));
}

Result<Ref<HostMemory>> HostMemory::register_range(Context& context, void* pointer,
                                                   uint64_t size_bytes) {
  uint64_t end = 0;
  if (__builtin_add_overflow(reinterpret_cast<uint64_t>(pointer), size_bytes, &end)) {
    return make_error(KM_ERROR_INVALID_ARGUMENT, "%s from %p on reach%s beyond the address space",
                      counted(size_bytes, "byte").c_str(), pointer, size_bytes == 1 ? "es" : "");
  }
  if (size_bytes == 0) return make_error(KM_ERROR_INVALID_ARGUMENT, "size_bytes is 0");
  KM_ASSIGN(Ref<Memory> memory, Memory::register_host(context, pointer, size_bytes));
  return make_ref<HostMemory>(std::move(memory));
}

Result<Ref<HostMemory>> HostMemory::map_file(Context& context, const char* path,
                                             uint64_t offset_bytes, uint64_t size_bytes,
                                             km_map_flags flags) {
  KM_ASSIGN(std::shared_ptr<const MappedFile> file,
            MappedFile::open(path, offset_bytes, size_bytes, (flags & KM_MAP_PRIVATE) != 0));
  KM_ASSIGN(Ref<Memory> memory, Memory::map_file(context, std::move(file), true, 1));
  return make_ref<HostMemory>(std::move(memory));
}

}  // namespace km
