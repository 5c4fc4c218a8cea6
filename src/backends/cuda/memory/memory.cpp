#include "backends/cuda/memory/memory.h"

#include <sys/mman.h>

#include <cinttypes>
#include <vector>

#include "backends/cuda/driver/let_go.h"
#include "backends/cuda/driver/reaper.h"
#include "base/memory/host_allocator.h"
#include "base/memory/host_range.h"

namespace km::cuda {
namespace {

constexpr unsigned kRegisterFlags =
    cu::CU_MEMHOSTREGISTER_PORTABLE | cu::CU_MEMHOSTREGISTER_DEVICEMAP;

Error out_of_memory(Epoch& epoch, uint64_t size_bytes, Error error) {
  size_t free_bytes = 0, total_bytes = 0;
  if (error.status != KM_ERROR_OUT_OF_DEVICE_MEMORY ||
      !driver().cuMemGetInfo_v2(&free_bytes, &total_bytes).ok()) {
    return error;
  }
  const auto mib = [](uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); };
  Error told = make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY,
                          "out of device memory: %" PRIu64
                          " bytes (%.1f MiB) asked for, %.1f MiB of %.1f MiB of %s free (%s)",
                          size_bytes, mib(size_bytes), mib(free_bytes), mib(total_bytes),
                          device_uri(epoch.gpu().ordinal()).c_str(), error.message.c_str());
  told.native_code = error.native_code;
  return told;
}

}  // namespace

Status Memory::zero(cu::CUstream stream) {
  return epoch_->check(driver().cuMemsetD8Async(address_, 0, size_bytes_, stream));
}

Status Memory::allocate(Stream* stream, bool is_zeroed) {
  if (kind_ == Kind::device || kind_ == Kind::managed) {
    KM_TRY(kind_ == Kind::managed ? allocate_managed()
                                  : epoch_->check(driver().cuMemAlloc_v2(&address_, size_bytes_)));
    if (!is_zeroed) return {};
    KM_ASSIGN(const cu::CUstream own, epoch_->allocation_stream());
    KM_TRY(zero(own));
    return epoch_->check(driver().cuStreamSynchronize(own));
  }
  if (stream == nullptr) return allocate_at_once(is_zeroed);
  KM_ASSIGN(const cu::CUmemoryPool pool, epoch_->pool());
  KM_TRY(epoch_->check(
      driver().cuMemAllocFromPoolAsync(&address_, size_bytes_, pool, stream->handle())));
  birth_ = stream->shared_from_this();
  if (is_zeroed) KM_TRY(zero(stream->handle()));
  ready_ticket_ = stream->next_ticket();
  return {};
}

Status Memory::allocate_managed() {
  KM_TRY(
      epoch_->check(driver().cuMemAllocManaged(&address_, size_bytes_, cu::CU_MEM_ATTACH_GLOBAL)));
  host_pointer_ = reinterpret_cast<void*>(address_);
  return {};
}

Status Memory::allocate_at_once(bool is_zeroed) {
  KM_ASSIGN(const cu::CUmemoryPool pool, epoch_->pool());
  KM_ASSIGN(const cu::CUstream stream, epoch_->allocation_stream());
  KM_TRY(epoch_->check(driver().cuMemAllocFromPoolAsync(&address_, size_bytes_, pool, stream)));
  if (is_zeroed) KM_TRY(zero(stream));
  return epoch_->check(driver().cuStreamSynchronize(stream));
}

/// The library maps the memory itself, so that it stays mapped until its handle is destroyed, even
/// if the context is reset.
Status Memory::map_host() {
  void* mapped =
      mmap(nullptr, size_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY,
                      "the system cannot provide %" PRIu64 " bytes of page-locked memory",
                      size_bytes_);
  }
  host_pointer_ = mapped;
  return lock_pages();
}

Called Memory::register_pages(unsigned flags) {
  const Called called = driver().cuMemHostRegister_v2(host_pointer_, size_bytes_, flags);
  is_locked_ = called.ok();
  return called;
}

Status Memory::find_locked_address() {
  cu::CUdeviceptr address = 0;
  KM_TRY(epoch_->check(driver().cuMemHostGetDevicePointer_v2(&address, host_pointer_, 0)));
  address_ = address;
  return {};
}

Status Memory::lock_pages() {
  KM_TRY(check_registered(register_pages(kRegisterFlags)));
  return find_locked_address();
}

Status Memory::check_registered(Called called) {
  if (called.result != cu::CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED) return epoch_->check(called);
  Error error =
      make_error(KM_ERROR_INVALID_ARGUMENT,
                 "the memory at %p of a size of %" PRIu64 " overlaps memory that is in use already",
                 host_pointer_, size_bytes_);
  error.native_code = called.result;
  return error;
}

/// The driver locks pages for writing unless the flag says read-only, and the system may refuse to
/// lock pages of files.
Status Memory::lock_foreign(void* pointer) {
  host_pointer_ = pointer;
  Called called = register_pages(kRegisterFlags);
  if (called.ok()) return find_locked_address();
  const HostRange range = look_at_host_range(pointer, size_bytes_);
  const bool is_refusal = called.result == cu::CUDA_ERROR_INVALID_VALUE ||
                          called.result == cu::CUDA_ERROR_NOT_PERMITTED ||
                          called.result == cu::CUDA_ERROR_NOT_SUPPORTED ||
                          called.result == cu::CUDA_ERROR_OUT_OF_MEMORY;
  if (!is_refusal || !range.is_mapped) return check_registered(called);
  if (!range.is_writable) {
    KM_ASSIGN(const int can_be_read_only,
              epoch_->gpu().attribute(cu::CU_DEVICE_ATTRIBUTE_READ_ONLY_HOST_REGISTER_SUPPORTED));
    if (can_be_read_only != 0) {
      called = register_pages(kRegisterFlags | cu::CU_MEMHOSTREGISTER_READ_ONLY);
      if (called.ok()) return find_locked_address();
      if (is_fatal(called.result)) return epoch_->check(called);
    }
  }
  if (epoch_->gpu().reads_pageable()) {
    address_ = reinterpret_cast<cu::CUdeviceptr>(pointer);
    return {};
  }
  return explain_refusal(called, range.is_writable);
}

Status Memory::explain_refusal(Called called, bool is_writable) const {
  Error error = driver_error(called);
  if (called.result == cu::CUDA_ERROR_OUT_OF_MEMORY) return error;
  Error told =
      make_error(KM_ERROR_NOT_SUPPORTED,
                 "%s cannot use the memory at %p: its pages cannot be locked, and the device reads "
                 "no pageable "
                 "memory; %scopy it to a slice (%s)",
                 device_uri(epoch_->gpu().ordinal()).c_str(), host_pointer_,
                 is_writable ? "" : "map a file with KM_MAP_PRIVATE, or ", error.message.c_str());
  told.native_code = error.native_code;
  return told;
}

/// Returns a stream on which all uses of the memory come first.
Result<cu::CUstream> Memory::stream_after(std::span<const kmb_use> uses) {
  std::vector<cu::CUstream> streams;
  if (birth_) streams.push_back(birth_->handle());
  for (const kmb_use& use : uses) {
    if (from(use.stream) != birth_.get()) streams.push_back(from(use.stream)->handle());
  }
  if (streams.empty()) return epoch_->allocation_stream();
  if (streams.size() == 1) return streams[0];
  KM_ASSIGN(const cu::CUstream last, epoch_->free_stream());
  cu::CUevent event = nullptr;
  KM_TRY(epoch_->check(driver().cuEventCreate(&event, cu::CU_EVENT_DISABLE_TIMING)));
  Status done;
  for (size_t i = 0; done && i < streams.size(); ++i) {
    done = epoch_->check(driver().cuEventRecord(event, streams[i]));
    if (done) done = epoch_->check(driver().cuStreamWaitEvent(last, event, 0));
  }
  check_destroyed(driver().cuEventDestroy_v2(event));  // waits for the event stay valid
  if (!done) return std::move(done.error());
  return last;
}

Status Memory::free_in_order(std::span<const kmb_use> uses) {
  const Alive alive(*epoch_);
  if (!alive) return {};  // the memory is lost with the context
  const Current current(*epoch_);
  KM_TRY(require_current(*epoch_, current));
  KM_ASSIGN(const cu::CUstream stream, stream_after(uses));
  free_device(stream);
  return {};
}

void Memory::free_device(cu::CUstream stream) {
  const uint64_t address = std::exchange(address_, 0);
  check_destroyed(kind_ == Kind::pool ? driver().cuMemFreeAsync(address, stream)
                                      : driver().cuMemFree_v2(address));
}

Memory::~Memory() {
  if (const Alive alive(*epoch_); alive) {
    const Current current(*epoch_);
    const bool is_device = kind_ == Kind::pool || kind_ == Kind::device || kind_ == Kind::managed;
    if (is_device && address_ != 0) {
      // All uses are over, so any stream will do.
      const Result<cu::CUstream> stream = epoch_->allocation_stream();
      if (stream) free_device(birth_ ? birth_->handle() : *stream);
    }
    if (is_locked_) check_destroyed(driver().cuMemHostUnregister(host_pointer_));
  }
  if (kind_ == Kind::host && host_pointer_ != nullptr) munmap(host_pointer_, size_bytes_);
  if (release_ == nullptr) return;
  // The callback never runs on the caller's thread, which may hold locks that it takes.
  const auto call = [release = release_, user_data = user_data_] {
    release(user_data);
    return true;
  };
  if (!post_job(call)) call();
}

km_status memory_create(kmb_context* context, kmb_stream* stream, uint64_t size_bytes,
                        km_slice_flags flags, kmb_memory** out_memory, kmb_memory_info* out_info,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch,
              stream != nullptr ? Result<std::shared_ptr<Epoch>>(from(stream)->epoch())
                                : live_epoch(context));
    KM_TRY(epoch->require_alive());
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    auto kind = epoch->gpu().has_pools() ? Memory::Kind::pool : Memory::Kind::device;
    if ((flags & KM_SLICE_MANAGED) != 0) kind = Memory::Kind::managed;
    auto memory = std::make_unique<Memory>(epoch, kind, size_bytes);
    const Status made = memory->allocate(from(stream), (flags & KM_SLICE_ZEROED) != 0);
    if (!made) return out_of_memory(*epoch, size_bytes, made.error());
    *out_info = memory->info();
    *out_memory = to(memory.release());
    return {};
  });
}

km_status memory_from_host(kmb_context* context, void* pointer, uint64_t size_bytes,
                           km_release_callback release, void* user_data, kmb_memory** out_memory,
                           kmb_memory_info* out_info, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch, live_epoch(context));
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    auto memory = std::make_unique<Memory>(epoch, Memory::Kind::foreign, size_bytes);
    KM_TRY(memory->lock_foreign(pointer));
    memory->set_release(release, user_data);
    *out_info = memory->info();
    *out_memory = to(memory.release());
    return {};
  });
}

km_status host_memory_create(kmb_context* context, uint64_t size_bytes, kmb_memory** out_memory,
                             kmb_memory_info* out_info, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<Epoch> epoch, live_epoch(context));
    const Current current(*epoch);
    KM_TRY(require_current(*epoch, current));
    auto memory = std::make_unique<Memory>(epoch, Memory::Kind::host, size_bytes);
    KM_TRY(memory->map_host());
    *out_info = memory->info();
    *out_memory = to(memory.release());
    return {};
  });
}

km_status host_memory_register(kmb_context* context, void* pointer, uint64_t size_bytes,
                               kmb_memory** out_memory, kmb_memory_info* out_info,
                               kmb_error* error) {
  return memory_from_host(context, pointer, size_bytes, nullptr, nullptr, out_memory, out_info,
                          error);
}

km_status memory_share(kmb_memory*, kmb_shared_memory*, kmb_error* error) {
  return report(make_error(KM_ERROR_NOT_SUPPORTED,
                           "memory of a GPU is shared by NVIDIA's driver: cuIpcGetMemHandle"),
                error);
}

void memory_destroy(kmb_memory* handle, const kmb_use* uses, uint64_t use_count) {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  std::shared_ptr<Memory> memory = share(std::unique_ptr<Memory>(from(handle)));
  std::vector<kmb_use> all(uses, uses + use_count);
  if (memory->can_free_in_order() && !in_host_function() && memory->free_in_order(all)) return;
  if (memory->birth()) all.push_back({to(memory->birth().get()), memory->birth()->last_ticket()});
  when_over(all, [memory]() mutable { memory.reset(); });
}

}  // namespace km::cuda
