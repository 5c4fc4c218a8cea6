// How the fake backend runs work and frees memory.
#include "support/core/fake_backend.h"
#include "support/core/fake_objects.h"

namespace km::test {

km_status enqueue(kmb_stream* stream, std::function<void(km_status)> work, uint64_t* out_ticket,
                  kmb_error* error) {
  if (const km_status status = begin_call(error)) return status;
  if (const km_status status = check_sticky(stream->context, error)) return status;
  {
    const std::lock_guard lock(stream->mutex);
    stream->queue.push_back(std::move(work));
    *out_ticket = ++stream->enqueued;
  }
  if (!is_deferred()) drain(stream);
  return KM_SUCCESS;
}

void drain(kmb_stream* stream, uint64_t until) {
  const std::lock_guard running(stream->running);
  for (;;) {
    std::function<void(km_status)> work;
    {
      const std::lock_guard lock(stream->mutex);
      if (stream->queue.empty() || stream->completed >= until) return;
      work = std::move(stream->queue.front());
      stream->queue.pop_front();
    }
    km_status sticky;
    {
      const std::lock_guard lock(stream->context->mutex);
      sticky = stream->context->sticky;
    }
    work(sticky);
    const std::lock_guard lock(stream->mutex);
    ++stream->completed;
  }
}

namespace {

bool is_over(const kmb_use& use, const kmb_stream* gone) {
  if (use.stream == gone) return true;
  const std::lock_guard lock(use.stream->mutex);
  return use.stream->completed >= use.ticket;
}

// Moves one memory without uses out of the list; null when there is none.
kmb_memory* take_unused(kmb_context* context, const kmb_stream* gone) {
  const std::lock_guard lock(context->mutex);
  for (size_t i = 0; i < context->freed.size(); ++i) {
    std::vector<kmb_use>& uses = context->freed[i].uses;
    std::erase_if(uses, [gone](const kmb_use& use) { return is_over(use, gone); });
    if (!uses.empty()) continue;
    kmb_memory* memory = context->freed[i].memory;
    context->freed.erase(context->freed.begin() + static_cast<std::ptrdiff_t>(i));
    context->used_bytes -= memory->info.size_bytes;
    return memory;
  }
  return nullptr;
}

}  // namespace

void free_unused(kmb_context* context, const kmb_stream* gone) {
  while (kmb_memory* memory = take_unused(context, gone)) {
    if (memory->release != nullptr) memory->release(memory->user_data);
    delete memory;
    --fake_counters().memories;
    release_context(context);
  }
}

void release_context(kmb_context* context) {
  {
    const std::lock_guard lock(context->mutex);
    if (--context->references != 0) return;
  }
  delete context;
  --fake_counters().contexts;
}

}  // namespace km::test
