#include "backends/vulkan/memory/memory.h"

#include <sys/mman.h>

#include <cinttypes>
#include <cstring>

#include "backends/vulkan/driver/entries.h"
#include "backends/vulkan/memory/fill.h"
#include "backends/vulkan/stream/context.h"
#include "backends/vulkan/stream/scheduler.h"
#include "base/callback/callback_thread.h"
#include "base/memory/host_allocator.h"
#include "base/memory/host_range.h"

namespace km::vulkan {
namespace {

uint64_t value_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// Fills new memory with zeros: in the stream, whose ticket it returns, or at once.
Result<uint64_t> zero(Context& context, Stream* stream, const kmb_memory_info& info) {
  const std::shared_ptr<Stream> given = stream != nullptr ? stream->shared_from_this() : nullptr;
  if (given == nullptr && info.host_pointer != nullptr) {
    std::memset(info.host_pointer, 0, info.size_bytes);
    return 0;
  }
  KM_ASSIGN(const std::shared_ptr<Stream> target,
            given ? Result<std::shared_ptr<Stream>>(given) : context.own_stream());
  KM_ASSIGN(Step step, fill_step(*target, {.destination = info.address,
                                           .pitch_bytes = 0,
                                           .value = 0,
                                           .value_size_bytes = 1,
                                           .width_count = info.size_bytes,
                                           .height = 1}));
  KM_ASSIGN(const uint64_t ticket, target->add(std::move(step)));
  if (given) return ticket;
  target->wait(KMB_WAIT_FOREVER);
  KM_TRY(target->epoch().require_alive());
  return 0;
}

Status give_out(std::unique_ptr<Memory> memory, kmb_memory** out_memory,
                kmb_memory_info* out_info) {
  *out_info = memory->info();
  *out_memory = to(memory.release());
  return {};
}

}  // namespace

Status Memory::enter(uint64_t size_bytes, bool is_host) {
  Epoch& epoch = *workspace_->epoch;
  is_host_ = is_host;
  if (!epoch.device_memory().add(buffer_->address(), size_bytes, buffer_->place())) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "the memory at %p of a size of %" PRIu64
                      " overlaps memory that is in use already",
                      buffer_->mapped(), size_bytes);
  }
  is_entered_ = true;
  if (is_host) epoch.host_memory().add(value_of(buffer_->mapped()), size_bytes, buffer_->place());
  return {};
}

Status Memory::allocate(uint64_t size_bytes, bool is_managed) {
  KM_ASSIGN(buffer_, Buffer::of_device(workspace_->epoch, size_bytes));
  if (is_managed && value_of(buffer_->mapped()) != buffer_->address()) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "%s has no managed memory: its addresses are not those of the host",
                      device_uri(workspace_->epoch->adapter()).c_str());
  }
  return enter(size_bytes, false);
}

Status Memory::use_pages(void* pointer, uint64_t size_bytes) {
  if (!look_at_host_range(pointer, size_bytes).is_mapped) {
    return make_error(KM_ERROR_INVALID_ARGUMENT,
                      "there is no accessible memory in a part of the %" PRIu64 " bytes at %p",
                      size_bytes, pointer);
  }
  KM_ASSIGN(buffer_, Buffer::of_pages(workspace_->epoch, pointer, size_bytes));
  return enter(size_bytes, true);
}

/// The library maps the pages itself where it can, so that they stay mapped when the context is
/// reset.
Status Memory::allocate_host(uint64_t size_bytes) {
  if (!workspace_->epoch->adapter().can_import_host_memory()) {
    KM_ASSIGN(buffer_, Buffer::of_host(workspace_->epoch, size_bytes));
    return enter(size_bytes, true);
  }
  void* const mapped =
      mmap(nullptr, size_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY,
                      "the system cannot provide %" PRIu64 " bytes of page-locked memory",
                      size_bytes);
  }
  pages_ = mapped;
  return use_pages(mapped, size_bytes);
}

kmb_memory_info Memory::info() const {
  return {.address = buffer_->address(),
          .host_pointer = buffer_->mapped(),
          .size_bytes = buffer_->size_bytes(),
          .ready_ticket = 0};
}

Memory::~Memory() {
  if (is_entered_) {
    workspace_->epoch->device_memory().remove(buffer_->address());
    if (is_host_) workspace_->epoch->host_memory().remove(value_of(buffer_->mapped()));
  }
  const uint64_t size = buffer_ ? buffer_->size_bytes() : 0;
  buffer_.reset();
  if (pages_ != nullptr) munmap(pages_, size);
  if (release_ == nullptr) return;
  // The callback never runs on the caller's thread, which may hold locks that it takes.
  post_callback(
      {.call = [release = release_, user_data = user_data_] { release(user_data); }, .then = {}});
}

km_status memory_create(kmb_context* context, kmb_stream* stream, uint64_t size_bytes,
                        km_slice_flags flags, kmb_memory** out_memory, kmb_memory_info* out_info,
                        kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<const Workspace> workspace, from(context)->live_workspace());
    auto memory = std::make_unique<Memory>(workspace);
    KM_TRY(memory->allocate(size_bytes, (flags & KM_SLICE_MANAGED) != 0));
    uint64_t ready_ticket = 0;
    if ((flags & KM_SLICE_ZEROED) != 0) {
      KM_ASSIGN(ready_ticket, zero(*from(context), from(stream), memory->info()));
    }
    KM_TRY(give_out(std::move(memory), out_memory, out_info));
    out_info->ready_ticket = ready_ticket;
    return {};
  });
}

km_status memory_from_host(kmb_context* context, void* pointer, uint64_t size_bytes,
                           km_release_callback release, void* user_data, kmb_memory** out_memory,
                           kmb_memory_info* out_info, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    if (release != nullptr && !start_callback_thread()) return no_callback_thread();
    KM_ASSIGN(const std::shared_ptr<const Workspace> workspace, from(context)->live_workspace());
    auto memory = std::make_unique<Memory>(workspace);
    KM_TRY(memory->use_pages(pointer, size_bytes));
    memory->set_release(release, user_data);
    return give_out(std::move(memory), out_memory, out_info);
  });
}

km_status host_memory_create(kmb_context* context, uint64_t size_bytes, kmb_memory** out_memory,
                             kmb_memory_info* out_info, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(const std::shared_ptr<const Workspace> workspace, from(context)->live_workspace());
    auto memory = std::make_unique<Memory>(workspace);
    KM_TRY(memory->allocate_host(size_bytes));
    return give_out(std::move(memory), out_memory, out_info);
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
                           "memory of Vulkan devices is not shared with other processes"),
                error);
}

void memory_destroy(kmb_memory* handle, const kmb_use* uses, uint64_t use_count) {
  const HostMemoryNeeded needed;  // the caller cannot handle a lack of memory
  const auto last = std::make_shared<std::unique_ptr<Memory>>(from(handle));
  Scheduler::instance().when_over({uses, use_count}, [last] { last->reset(); });
}

}  // namespace km::vulkan
