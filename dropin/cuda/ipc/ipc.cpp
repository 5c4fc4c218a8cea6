#include "dropin/cuda/ipc/ipc.h"
#include "base/assert.h"
#include "core/object/callback.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "core/memory/slice.h"
#include "dropin/cuda/context/allocation.h"

namespace km::dropin {

using namespace cu;  // NOLINT

namespace {

struct Mapping {
  void* begin = MAP_FAILED;
  uint64_t size_bytes = 0;
  Mapping() = default;
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  ~Mapping() {
    if (begin != MAP_FAILED) munmap(begin, size_bytes);
  }
};

CUresult not_there(const IpcHandle& handle) {
  return fail(CUDA_ERROR_INVALID_HANDLE,
              "process %d no longer shares it, or this process may not inspect that one",
              handle.process);
}

bool names(const IpcHandle& handle, const struct stat& about) {
  return about.st_dev == handle.device && about.st_ino == handle.inode &&
         static_cast<uint64_t>(about.st_size) == handle.file_size_bytes;
}

}  // namespace

CUresult describe_file(int file, uint64_t kind, IpcHandle* out) {
  struct stat about{};
  if (fstat(file, &about) != 0) {
    return fail(CUDA_ERROR_OPERATING_SYSTEM, "memory to be shared cannot be inspected");
  }
  out->kind = kind;
  out->process = getpid();
  out->file = file;
  out->device = about.st_dev;
  out->inode = about.st_ino;
  out->file_size_bytes = static_cast<uint64_t>(about.st_size);
  return CUDA_SUCCESS;
}

CUresult open_file_of(const IpcHandle& handle, uint64_t kind, File* out) {
  if (handle.kind != kind) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the 64 bytes are not a handle of this library's %s",
                kind == kIpcEvent ? "events" : "memory");
  }
  if (handle.process == getpid()) {
    return fail(CUDA_ERROR_INVALID_CONTEXT,
                "the handle is of this process: handles are opened by others");
  }
  Result<File> file = open_memory_file(handle.process, handle.file);
  struct stat about{};
  if (!file || fstat(file->get(), &about) != 0 || !names(handle, about)) return not_there(handle);
  *out = std::move(*file);
  return CUDA_SUCCESS;
}

CUresult map_shared(Context& context, const File& file, uint64_t file_size_bytes,
                    uint64_t offset_bytes, uint64_t size_bytes, Ref<km::Memory>* out) {
  if (size_bytes == 0 || offset_bytes > file_size_bytes ||
      size_bytes > file_size_bytes - offset_bytes) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the handle does not refer to a part of its memory");
  }
  auto mapping = std::make_unique<Mapping>();
  mapping->begin =
      mmap(nullptr, file_size_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  mapping->size_bytes = file_size_bytes;
  if (mapping->begin == MAP_FAILED) {
    return fail(CUDA_ERROR_OUT_OF_MEMORY, "%llu bytes of another process cannot be mapped",
                static_cast<unsigned long long>(file_size_bytes));
  }
  Result<Ref<km::Memory>> memory = km::Memory::from_host(
      *context.core(), static_cast<uint8_t*>(mapping->begin) + offset_bytes, size_bytes, 1);
  if (!memory) return result_of(memory.error());
  (*memory)->set_release(
      [](void* last) { const std::unique_ptr<Mapping> own(static_cast<Mapping*>(last)); },
      mapping.release());
  *out = std::move(*memory);
  return CUDA_SUCCESS;
}

ImportedMemory& ImportedMemory::instance() {
  static auto& made = *new ImportedMemory;  // never destroyed: calls may come during exit
  return made;
}

bool ImportedMemory::lives(const Import& import) {
  uint64_t begin = 0;
  Allocation found;
  return Driver::instance().find(import.address, &begin, &found) &&
         found.kind == AllocationKind::kImported && found.buffer_id == import.buffer_id;
}

CUresult ImportedMemory::open(Context& context, const IpcHandle& handle, CUdeviceptr* out) {
  File file(-1);
  CU_TRY(open_file_of(handle, kIpcMemory, &file));
  const Key key{handle.device, handle.inode, handle.offset_bytes, context.id()};
  const std::lock_guard lock(mutex_);
  const auto known = imports_.find(key);
  if (known != imports_.end() && lives(known->second)) {
    KM_ASSERT(known->second.opened != 0, "an import that is not open is removed");
    known->second.opened += 1;
    *out = known->second.address;
    return CUDA_SUCCESS;
  }
  Ref<km::Memory> memory;
  CU_TRY(map_shared(context, file, handle.file_size_bytes, handle.offset_bytes, handle.size_bytes,
                    &memory));
  Import made{memory->address(), 0, 1};
  keep_allocation(context, std::move(memory), AllocationKind::kImported, 0, made.address);
  uint64_t begin = 0;
  Allocation kept;
  if (Driver::instance().find(made.address, &begin, &kept)) made.buffer_id = kept.buffer_id;
  imports_.insert_or_assign(key, made);
  *out = made.address;
  return CUDA_SUCCESS;
}

CUresult ImportedMemory::close(CUdeviceptr address) {
  CU_ASSIGN(const MayBlock may_block, require_may_block());
  Allocation taken;
  {
    const std::lock_guard lock(mutex_);
    std::erase_if(imports_, [](const auto& each) { return !lives(each.second); });
    const auto import = std::find_if(imports_.begin(), imports_.end(), [&](const auto& each) {
      return each.second.address == address;
    });
    if (import == imports_.end()) {
      return fail(CUDA_ERROR_INVALID_VALUE, "no memory of another process is open at 0x%llx",
                  address);
    }
    KM_ASSERT(import->second.opened != 0, "an import that is not open is removed");
    import->second.opened -= 1;
    if (import->second.opened != 0) return CUDA_SUCCESS;
    imports_.erase(import);
    Driver::instance().take(address, kind_bit(AllocationKind::kImported), &taken);
  }
  if (!taken.memory) return CUDA_SUCCESS;
  CU_CHECK(wait_for_work(may_block, taken.memory->context()));
  return CUDA_SUCCESS;
}

}  // namespace km::dropin
