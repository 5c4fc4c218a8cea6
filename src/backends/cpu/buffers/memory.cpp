#include "backends/cpu/buffers/memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <memory>
#include <vector>

#include "backends/cpu/check/undefined_memory.h"
#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/device.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/fault/guarded_memory.h"
#include "backends/cpu/order/stream_order.h"
#include "backends/cpu/stream/context_streams.h"
#include "backends/cpu/stream/stream.h"
#include "base/callback/callback_thread.h"
#include "base/memory/host_allocator.h"
#include "base/text.h"

namespace km::cpu {
namespace {

kmb_memory_info info_of(uint64_t address, uint64_t size_bytes) {
  return {address, reinterpret_cast<void*>(address), size_bytes, 0};
}

/// Managed and page-locked memory does not count as the device's, as with CUDA.
Memory::Owner owner_of(km_slice_flags flags) {
  return (flags & KM_SLICE_MANAGED) != 0 ? Memory::Owner::host : Memory::Owner::device;
}

/// Small blocks are adjacent. In a checked context each is followed by a gap, so that an access
/// beyond its end does not hit the next block.
uint64_t gap_bytes(const Context& context, uint64_t size_bytes) {
  constexpr uint64_t kLeastGapBytes = 1024;
  if (!context.is_checked() || size_bytes >= Heap::kLargeBytes) return 0;
  return kLeastGapBytes + size_bytes / 4;
}

Result<std::unique_ptr<Memory>> allocate(Context* context, uint64_t size_bytes,
                                         km_slice_flags flags, Heap::Block* out_block) {
  KM_TRY(context->check());
  const Memory::Owner owner = owner_of(flags);
  const bool is_counted = owner == Memory::Owner::device, zeroed = (flags & KM_SLICE_ZEROED) != 0;
  const uint64_t block_bytes = size_bytes + gap_bytes(*context, size_bytes);
  if (is_counted) KM_TRY(context->device()->take_memory(block_bytes));
  Result<Heap::Block> block = Heap::instance().allocate(block_bytes, zeroed);
  if (!block) {
    if (is_counted) context->device()->give_memory_back(block_bytes);
    return std::move(block.error());
  }
  const bool is_undefined = is_counted && !zeroed && context->checks().has(check_tool::kInit);
  try {
    // The last step makes the owner of the block: what fails after it would free the block twice.
    if (is_undefined) UndefinedMemory::instance().add(block->address, size_bytes);
    auto memory = std::make_unique<Memory>(context, block->address, size_bytes, *block, owner);
    *out_block = *block;
    return memory;
  } catch (const std::bad_alloc&) {
    if (is_undefined) UndefinedMemory::instance().define(block->address, size_bytes);
    Heap::instance().free(*block);
    if (is_counted) context->device()->give_memory_back(block_bytes);
    throw;
  }
}

/// Zeroes the memory in stream order and stores the ticket.
void fill_on_stream(Stream* stream, const Heap::Block& block, Memory* memory) {
  Command* command = new_command(stream, CommandKind::transfer);
  command->transfer = {.destination = block.address,
                       .source = 0,
                       .size_bytes = block.size_bytes,
                       .value = 0,
                       .value_size_bytes = 1,
                       .rows = {}};
  memory->set_own_use({to(stream), stream->submit(command)});
}

/// msync() only looks at the kernel's list of mappings: anonymous memory has nothing to write back.
bool is_mapped(uint64_t address, uint64_t size_bytes) {
  const auto page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  const uint64_t begin = address / page * page;
  if (size_bytes > UINT64_MAX - address - page) return false;
  return msync(reinterpret_cast<void*>(begin), address + size_bytes - begin, MS_ASYNC) == 0;
}

}  // namespace

Memory::Memory(Context* context, uint64_t address, uint64_t size_bytes, const Heap::Block& block,
               Owner owner)
    : context_(context), address_(address), size_bytes_(size_bytes), block_(block), owner_(owner) {
  context_->allocations().add(address, size_bytes);
  if (StreamOrder* const order = StreamOrder::active()) [[unlikely]] {
    const HostMemoryNeeded needed;  // a failure would leave the allocation without its memory
    order->follow(address, size_bytes);
  }
  context_->retain();
}

void Memory::open_to_all_contexts() {
  Allocations::of_all_contexts().add(address_, size_bytes_);
  is_open_to_all_ = true;
}

Memory::~Memory() {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  if (is_open_to_all_) Allocations::of_all_contexts().remove(address_, size_bytes_);
  context_->allocations().remove(address_, size_bytes_);
  if (UndefinedMemory::is_used()) UndefinedMemory::instance().define(address_, size_bytes_);
  if (StreamOrder* const order = StreamOrder::active()) [[unlikely]]
    order->forget(address_, size_bytes_);
  if (block_.address != 0) {
    Heap::instance().free(block_);
    if (owner_ == Owner::device) context_->device()->give_memory_back(block_.size_bytes);
  }
  if (release_ != nullptr && !context_->is_exiting()) {
    post_callback({.call = [release = release_, user_data = user_data_] { release(user_data); },
                   .then = nullptr});
  }
  context_->release();
}

Result<kmb_shared_memory> Memory::share() const {
  if (block_.address != 0) return Heap::instance().share(block_);
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "the memory at 0x%" PRIx64 " is the program's own, which cannot be shared",
                    address_);
}

km_status memory_share(kmb_memory* memory, kmb_shared_memory* out_shared, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(*out_shared, from(memory)->share());
    return {};
  });
}

km_status memory_create(kmb_context* context, kmb_stream* stream, uint64_t size_bytes,
                        km_slice_flags flags, kmb_memory** out_memory, kmb_memory_info* out_info,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    // All device memory can be used as managed memory.
    const bool zeroed = (flags & KM_SLICE_ZEROED) != 0;
    Heap::Block block;
    KM_ASSIGN(std::unique_ptr<Memory> memory, allocate(from(context), size_bytes, flags, &block));
    if (zeroed && !block.fresh) {
      if (stream != nullptr) {
        fill_on_stream(from(stream), block, memory.get());
      } else {
        guarded_fill(reinterpret_cast<void*>(block.address), 0, 1, size_bytes,
                     size_bytes >= kStreamingBytes, nullptr);
      }
    }
    if ((flags & KM_SLICE_MANAGED) != 0) memory->open_to_all_contexts();
    *out_info = info_of(block.address, size_bytes);
    out_info->ready_ticket = memory->own_use().ticket;
    *out_memory = to(memory.release());
    return {};
  });
}

km_status memory_from_host(kmb_context* context, void* pointer, uint64_t size_bytes,
                           km_release_callback release, void* user_data, kmb_memory** out_memory,
                           kmb_memory_info* out_info, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_TRY(from(context)->check());
    if (release != nullptr && !start_callback_thread()) {
      return make_error(KM_ERROR_OUT_OF_HOST_MEMORY,
                        "cannot start the thread for callbacks: raise the limit on processes "
                        "(ulimit -u)");
    }
    auto address = reinterpret_cast<uint64_t>(pointer);
    auto memory = std::make_unique<Memory>(from(context), address, size_bytes, Heap::Block{});
    memory->set_release(release, user_data);
    *out_info = info_of(address, size_bytes);
    *out_memory = to(memory.release());
    return {};
  });
}

void memory_destroy(kmb_memory* handle, const kmb_use* uses, uint64_t use_count) {
  std::unique_ptr<Memory> memory(from(handle));
  try {
    std::vector<kmb_use> all(uses, uses + use_count);
    if (memory->own_use().stream != nullptr) all.push_back(memory->own_use());
    // Kernels may launch graphs on streams that the core does not know.
    if (memory->context().device_graphs().has_had_any()) add_uses(memory->context(), &all);
    std::erase_if(all,
                  [](const kmb_use& use) { return from(use.stream)->is_complete(use.ticket); });
    if (all.empty()) return;
    Memory* last = memory.get();
    when_all_complete(all, [last] { std::unique_ptr<Memory> own(last); });
    static_cast<void>(memory.release());
  } catch (const std::bad_alloc&) {
    wait_for_all(std::span(uses, use_count));
    if (memory->own_use().stream != nullptr) wait_for_all(std::span(&memory->own_use(), 1));
  }
}

void memory_reused(kmb_memory* handle) {
  const Memory& memory = *from(handle);
  const HostMemoryNeeded needed;
  if (StreamOrder* const order = StreamOrder::active()) [[unlikely]]
    order->renew(memory.address(), memory.size_bytes());
}

km_status host_memory_create(kmb_context* context, uint64_t size_bytes, kmb_memory** out_memory,
                             kmb_memory_info* out_info, kmb_error* error) {
  // Page-locked memory is accessible to kernels of all contexts, like managed memory.
  return memory_create(context, nullptr, size_bytes, KM_SLICE_MANAGED, out_memory, out_info, error);
}

km_status host_memory_register(kmb_context* context, void* pointer, uint64_t size_bytes,
                               kmb_memory** out_memory, kmb_memory_info* out_info,
                               kmb_error* error) {
  if (!is_mapped(reinterpret_cast<uint64_t>(pointer), size_bytes)) {
    return report(
        make_error(KM_ERROR_INVALID_ARGUMENT, "the %s at %p %s not all mapped in this process",
                   counted(size_bytes, "byte").c_str(), pointer, size_bytes == 1 ? "is" : "are"),
        error);
  }
  return guarded(error, [&]() -> Status {
    KM_TRY(from(context)->check());
    const auto address = reinterpret_cast<uint64_t>(pointer);
    auto memory = std::make_unique<Memory>(from(context), address, size_bytes, Heap::Block{});
    memory->open_to_all_contexts();
    *out_info = info_of(address, size_bytes);
    *out_memory = to(memory.release());
    return {};
  });
}

}  // namespace km::cpu
