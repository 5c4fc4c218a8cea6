#include "backends/vulkan/stream/context.h"

#include "backends/vulkan/stream/scheduler.h"

namespace km::vulkan {

Result<std::unique_ptr<Context>> Context::create(const Device& device) {
  std::unique_ptr<Context> made(new Context(device.adapter()));
  KM_TRY(made->renew());
  return made;
}

Status Context::renew() {
  auto fresh = std::make_shared<Workspace>();
  KM_ASSIGN(fresh->epoch, Epoch::create(adapter_));
  fresh->staging = std::make_shared<StagingPool>(fresh->epoch);
  fresh->output = output_;
  const std::lock_guard lock(mutex_);
  workspace_ = std::move(fresh);
  streams_.clear();
  own_stream_.reset();
  return {};
}

std::shared_ptr<const Workspace> Context::workspace() const {
  const std::lock_guard lock(mutex_);
  return workspace_;
}

Result<std::shared_ptr<const Workspace>> Context::live_workspace() const {
  std::shared_ptr<const Workspace> now = workspace();
  KM_TRY(now->epoch->require_alive());
  return now;
}

Result<std::shared_ptr<Stream>> Context::make_stream() {
  KM_ASSIGN(const std::shared_ptr<const Workspace> now, live_workspace());
  auto made = std::make_shared<Stream>(now);
  const std::lock_guard lock(mutex_);
  std::erase_if(streams_, [](const std::weak_ptr<Stream>& stream) { return stream.expired(); });
  streams_.push_back(made);
  return made;
}

Result<std::shared_ptr<Stream>> Context::own_stream() {
  {
    const std::lock_guard lock(mutex_);
    if (own_stream_) return own_stream_;
  }
  KM_ASSIGN(std::shared_ptr<Stream> made, make_stream());
  const std::lock_guard lock(mutex_);
  if (!own_stream_) own_stream_ = std::move(made);
  return own_stream_;
}

std::vector<std::shared_ptr<Stream>> Context::streams() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::shared_ptr<Stream>> alive;
  for (const std::weak_ptr<Stream>& stream : streams_) {
    if (std::shared_ptr<Stream> found = stream.lock()) alive.push_back(std::move(found));
  }
  return alive;
}

void Context::drain() const {
  for (const std::shared_ptr<Stream>& stream : streams()) stream->wait(KMB_WAIT_FOREVER);
}

Status Context::reset() {
  const std::shared_ptr<const Workspace> lost = workspace();
  lost->epoch->fail({KM_ERROR_CONTEXT_LOST, "the context was reset", 0});
  Scheduler::instance().wake();
  drain();
  output_->flush();
  return renew();
}

km_status context_create(kmb_device* device, kmb_context** out_context, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_ASSIGN(std::unique_ptr<Context> made, Context::create(*from(device)));
    *out_context = to(made.release());
    return {};
  });
}

void context_destroy(kmb_context* context) {
  const std::unique_ptr<Context> last(from(context));
  last->output().flush();
}

km_status context_synchronize(kmb_context* handle, kmb_error* error) {
  return guarded(error, [&]() -> Status {
    Context& context = *from(handle);
    const std::shared_ptr<const Workspace> now = context.workspace();
    context.drain();
    context.output().flush();
    return now->epoch->require_alive();
  });
}

km_status context_memory_info(kmb_context* context, uint64_t* out_free_bytes,
                              uint64_t* out_total_bytes, kmb_error*) {
  const Adapter& adapter = from(context)->adapter();
  *out_total_bytes = adapter.memory_bytes();
  *out_free_bytes = adapter.memory_bytes() - adapter.taken_bytes();
  return KM_SUCCESS;
}

km_status context_reset(kmb_context* context, kmb_error* error) {
  return guarded(error, [&] { return from(context)->reset(); });
}

km_status context_status(kmb_context* context, kmb_error* error) {
  return guarded(error, [&] { return from(context)->workspace()->epoch->require_alive(); });
}

km_status context_set_output(kmb_context* context, km_output_callback callback, void* user_data,
                             kmb_error*) {
  from(context)->output().set_callback(callback, user_data);
  return KM_SUCCESS;
}

km_status context_set_peer_access(kmb_context*, kmb_context*, uint32_t, kmb_error* error) {
  return report(make_error(KM_ERROR_NOT_SUPPORTED,
                           "kernels on Vulkan devices reach the memory of their own context only: "
                           "each context is a VkDevice; copy between them"),
                error);
}

km_status context_set_checked(kmb_context* context, uint32_t wanted, uint32_t* out_is_checked,
                              kmb_error*) {
  from(context)->is_checked = wanted != 0;
  *out_is_checked = wanted != 0 ? 1 : 0;
  return KM_SUCCESS;
}

km_status context_limit_get(kmb_context* context, km_context_limit limit, uint64_t* out_value,
                            kmb_error* error) {
  return guarded(error, [&]() -> Status {
    if (limit != KM_CONTEXT_LIMIT_PRINTF_BYTES) {
      return make_error(KM_ERROR_NOT_SUPPORTED, "Vulkan devices have no limit %d", limit);
    }
    *out_value = from(context)->output().limit_bytes();
    return {};
  });
}

km_status context_limit_set(kmb_context* context, km_context_limit limit, uint64_t value,
                            kmb_error* error) {
  return guarded(error, [&]() -> Status {
    if (limit != KM_CONTEXT_LIMIT_PRINTF_BYTES) {
      return make_error(KM_ERROR_NOT_SUPPORTED, "Vulkan devices have no limit %d", limit);
    }
    from(context)->output().set_limit(value);
    return {};
  });
}

}  // namespace km::vulkan
