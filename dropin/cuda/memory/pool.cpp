#include "dropin/cuda/memory/pool.h"

#include <cstring>

#include "base/assert.h"
#include "core/object/backend_call.h"
#include "dropin/cuda/frame/find_or_make.h"
#include "dropin/cuda/stream/stream.h"

namespace km::dropin {
namespace {

std::atomic<bool> may_have_surplus{false};

template <class T>
CUresult give(void* to, T value) {
  std::memcpy(to, &value, sizeof value);
  return CUDA_SUCCESS;
}

template <class T>
T read(const void* from) {
  T value{};
  std::memcpy(&value, from, sizeof value);
  return value;
}

}  // namespace

Ref<Pool> Pool::shared(DeviceState& device, uint64_t limit_bytes) {
  Ref<Pool> pool = make_ref<Pool>(device, limit_bytes);
  pool->is_shared_ = true;
  return pool;
}

Ref<Pool> Pool::imported(DeviceState& device, int exporter) {
  Ref<Pool> pool = make_ref<Pool>(device, uint64_t{0});
  KM_ASSERT(exporter != 0, "a process has a number");
  pool->exporter_ = exporter;
  return pool;
}

CUresult Pool::in_context(Context& context, Ref<km::Pool>* out) {
  if (&context.device() != &device_) {
    return fail(CUDA_ERROR_INVALID_VALUE, "the pool is of device %d, the stream of device %d",
                device_.ordinal, context.device().ordinal);
  }
  const std::lock_guard lock(mutex_);
  CU_TRY(context.require_live());
  Ref<km::Pool>* pool = nullptr;
  CU_TRY(find_or_make(pools_, context.id(), &pool, [&](Ref<km::Pool>* made) -> CUresult {
    CU_ASSIGN(*made, km::Pool::create(*context.core(), limit_bytes_));
    (*made)->set_release_threshold(UINT64_MAX);  // the core frees nothing: trim() decides
    return CUDA_SUCCESS;
  }));
  KM_ASSERT(*pool, "a context's pool is created completely or not at all");
  *out = *pool;
  return CUDA_SUCCESS;
}

CUresult Pool::allocate(Stream& stream, uint64_t size_bytes, CUdeviceptr* out) {
  if (size_bytes == 0) return fail(CUDA_ERROR_INVALID_VALUE, "bytesize is 0");
  if (exporter_ != 0) {
    return fail(CUDA_ERROR_INVALID_VALUE,
                "the pool belongs to process %d, which alone can allocate from it", exporter_);
  }
  KM_ASSERT(id() != 0, "a pool that allocates has a handle, which the allocation records");
  Ref<km::Pool> pool;
  CU_TRY(in_context(stream.context(), &pool));
  CU_TRY(device_.reserve(size_bytes));
  auto memory = pool->allocate(&stream.core(), size_bytes, false, 1);
  if (!memory) {
    device_.unreserve(size_bytes);
    return result_of(memory.error());
  }
  Allocation made;
  made.memory = std::move(*memory);
  made.size_bytes = size_bytes;
  made.device = device_.ordinal;
  made.context_id = stream.context().id();
  made.pool_id = id();
  const uint64_t address = made.memory->address();
  Driver::instance().add(address, std::move(made));
  *out = address;
  return CUDA_SUCCESS;
}

CUmemAccess_flags Pool::access_of(const DeviceState& device) {
  if (&device == &device_) return CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const std::lock_guard lock(mutex_);
  const auto found = access_.find(device.ordinal);
  return found != access_.end() ? found->second : CU_MEM_ACCESS_FLAGS_PROT_NONE;
}

CUresult Pool::check_access(const DeviceState& device, CUmemAccess_flags flags) const {
  if (flags != CU_MEM_ACCESS_FLAGS_PROT_NONE && flags != CU_MEM_ACCESS_FLAGS_PROT_READ &&
      flags != CU_MEM_ACCESS_FLAGS_PROT_READWRITE) {
    return fail(CUDA_ERROR_INVALID_VALUE, "there are no access flags %d", flags);
  }
  if (&device != &device_ || flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "the pool is of device %d, which may always use it",
              device_.ordinal);
}

CUresult Pool::set_access(const DeviceState& device, CUmemAccess_flags flags) {
  if (&device == &device_) return CUDA_SUCCESS;
  {
    const std::lock_guard lock(mutex_);
    KM_ASSERT(flags <= CU_MEM_ACCESS_FLAGS_PROT_READWRITE, "access has been checked");
    access_[device.ordinal] = flags;
  }
  return admit_all();
}

CUresult Pool::enter(Context& context) {
  return &context.device() == &device_ ? admit_all() : admit(context);
}

CUresult Pool::admit_all() {
  for (const Ref<Context>& user : live_contexts()) CU_TRY(admit(*user));
  return CUDA_SUCCESS;
}

/// Lets the context's kernels access the pool's memory in all contexts of its device, if the pool
/// grants the context's device access.
CUresult Pool::admit(Context& user) {
  if (&user.device() == &device_) return CUDA_SUCCESS;
  if (access_of(user.device()) == CU_MEM_ACCESS_FLAGS_PROT_NONE) return CUDA_SUCCESS;
  const Ref<km::Context> core = user.core();
  const auto set_peer_access = core->backend().context_set_peer_access;
  if (set_peer_access == nullptr) {
    return fail(CUDA_ERROR_NOT_SUPPORTED, "there is no access between devices");
  }
  for (const Ref<Context>& owner : live_contexts()) {
    if (&owner->device() != &device_) continue;
    CU_CHECK(call_backend(set_peer_access, core->native(), owner->core()->native(), uint32_t{1}));
  }
  return CUDA_SUCCESS;
}

CUresult enter_pools(Context& context) {
  std::vector<Ref<Pool>> pools;
  table_of<Pool>().for_each_live([&](uint64_t, Object& object) {
    if (object.try_ref()) pools.push_back(Ref<Pool>::adopt(&static_cast<Pool&>(object)));
  });
  for (const Ref<Pool>& pool : pools) CU_TRY(pool->enter(context));
  return CUDA_SUCCESS;
}

void Pool::forget(const Context& context) {
  const std::lock_guard lock(mutex_);
  pools_.erase(context.id());
}

void Pool::trim() {
  uint64_t threshold = 0;
  {
    const std::lock_guard lock(mutex_);
    threshold = threshold_bytes_;
  }
  trim_to(threshold);
}

void Pool::trim_to(uint64_t keep_bytes) {
  const std::lock_guard lock(mutex_);
  for (auto& [context, pool] : pools_) pool->trim(keep_bytes);
}

km_pool_info Pool::sum() {
  km_pool_info total{};
  for (auto& [context, pool] : pools_) {
    const km_pool_info info = pool->info();
    total.reserved_bytes += info.reserved_bytes;
    total.reserved_high_bytes += info.reserved_high_bytes;
    total.used_bytes += info.used_bytes;
    total.used_high_bytes += info.used_high_bytes;
  }
  return total;
}

CUresult Pool::get_attribute(CUmemPool_attribute attribute, void* value) {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      return give(value, reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES]);
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      return give(value, threshold_bytes_);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
      return give(value, sum().reserved_bytes);
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
      return give(value, sum().reserved_high_bytes);
    case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
      return give(value, sum().used_bytes);
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      return give(value, sum().used_high_bytes);
    case CU_MEMPOOL_ATTR_ALLOCATION_TYPE:
      return give(value, int{CU_MEM_ALLOCATION_TYPE_PINNED});
    case CU_MEMPOOL_ATTR_EXPORT_HANDLE_TYPES:
      return give(value, int{is_shared_ ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
                                        : CU_MEM_HANDLE_TYPE_NONE});
    case CU_MEMPOOL_ATTR_LOCATION_ID:
      return give(value, device_.ordinal);
    case CU_MEMPOOL_ATTR_LOCATION_TYPE:
      return give(value, int{CU_MEM_LOCATION_TYPE_DEVICE});
    case CU_MEMPOOL_ATTR_MAX_POOL_SIZE:
      return give(value, limit_bytes_);
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "there is no pool attribute %d", attribute);
  }
}

CUresult Pool::set_attribute(CUmemPool_attribute attribute, const void* value) {
  const std::lock_guard lock(mutex_);
  switch (attribute) {
    case CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC:
    case CU_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES:
      reuse_[attribute - CU_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES] = read<int>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
      threshold_bytes_ = read<uint64_t>(value);
      return CUDA_SUCCESS;
    case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
    case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
      if (read<uint64_t>(value) != 0) {
        return fail(CUDA_ERROR_INVALID_VALUE, "high-water marks can be set to 0 only");
      }
      for (auto& [context, pool] : pools_) pool->reset_high_water();
      return CUDA_SUCCESS;
    default:
      return fail(CUDA_ERROR_INVALID_VALUE, "pool attribute %d cannot be set", attribute);
  }
}

DevicePools& pools_of(DeviceState& device) {
  if (!device.pools) device.pools = std::make_unique<DevicePools>();
  return static_cast<DevicePools&>(*device.pools);
}

Ref<Pool> default_pool(DeviceState& device) {
  const std::lock_guard lock(device.mutex);
  DevicePools& pools = pools_of(device);
  if (!pools.own) {
    pools.own = make_ref<Pool>(device, 0);
    publish(Ref<Pool>(pools.own));
  }
  KM_ASSERT(&pools.own->device() == &device, "a device's pools allocate its memory");
  return pools.own;
}

Ref<Pool> current_pool(DeviceState& device) {
  {
    const std::lock_guard lock(device.mutex);
    if (const DevicePools& pools = pools_of(device); pools.current) return pools.current;
  }
  return default_pool(device);
}

void note_pool_free() { may_have_surplus.store(true, std::memory_order_relaxed); }

void trim_pools() {
  if (!may_have_surplus.load(std::memory_order_relaxed)) return;
  may_have_surplus.store(false, std::memory_order_relaxed);
  table_of<Pool>().for_each_live([](uint64_t, Object& pool) { static_cast<Pool&>(pool).trim(); });
}

}  // namespace km::dropin
