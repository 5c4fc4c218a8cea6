#include "core/graph_work.h"

#include <cstring>

namespace km {
namespace {

std::shared_ptr<GraphWork> new_work(km_graph_node_kind kind) {
  auto work = std::make_shared<GraphWork>();
  work->kind = kind;
  return work;
}

uint64_t value_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// Null stands for an empty range, which needs no memory.
Status keep(GraphWork& work, Memory* memory) {
  if (memory == nullptr) return {};
  if (memory->try_ref()) {
    work.memories.push_back(Ref<Memory>::adopt(memory));
    return {};
  }
  return make_error(KM_ERROR_OUT_OF_BOUNDS, "the memory was just destroyed");
}

void keep_pinned(GraphWork& work, Context& context, const void* pointer, uint64_t size_bytes) {
  const FoundMemory found = find_pinned_memory(context, pointer, size_bytes);
  Ref<Memory> memory = found ? found.keep() : Ref<Memory>();
  if (memory) work.memories.push_back(std::move(memory));
}

/// Addresses among the arguments, as far as they are known.
void keep_addressed(GraphWork& work, Context& context) {
  const kmb_function_info& info = work.function->info();
  for (uint32_t i = 0; i < info.param_count; ++i) {
    const kmb_param& param = info.params[i];
    if (param.size_bytes != sizeof(uint64_t) || param.kind == KM_PARAM_KIND_VALUE) continue;
    uint64_t address = 0;
    std::memcpy(&address, work.arguments.data() + param.offset_bytes, sizeof address);
    const FoundMemory found = find_device_memory(context, address);
    Ref<Memory> memory = found ? found.keep() : Ref<Memory>();
    if (memory) work.memories.push_back(std::move(memory));
  }
}

}  // namespace

Result<SharedWork> kernel_work(const KernelLaunch& launch) {
  auto work = new_work(KM_GRAPH_NODE_KERNEL);
  work->function = Ref<Function>::share(launch.function);
  work->shape = launch.shape;
  const auto* bytes = static_cast<const std::byte*>(launch.arguments);
  work->arguments.assign(bytes, bytes + launch.arguments_size_bytes);
  for (Memory* memory : launch.memories) KM_TRY(keep(*work, memory));
  keep_addressed(*work, launch.function.context());
  return SharedWork(std::move(work));
}

Result<SharedWork> upload_work(Context& context, const DevicePlace& destination, const void* source,
                               uint64_t size_bytes) {
  KM_TRY(require_pointer(source, "source", size_bytes));
  if (destination.memory != nullptr)
    KM_TRY(destination.memory->require_writable("the destination"));
  auto work = new_work(KM_GRAPH_NODE_UPLOAD);
  work->destination = destination.address;
  work->source = value_of(source);
  work->size_bytes = size_bytes;
  KM_TRY(keep(*work, destination.memory));
  keep_pinned(*work, context, source, size_bytes);
  return SharedWork(std::move(work));
}

Result<SharedWork> download_work(Context& context, const DevicePlace& source, void* destination,
                                 uint64_t size_bytes) {
  KM_TRY(require_pointer(destination, "destination", size_bytes));
  auto work = new_work(KM_GRAPH_NODE_DOWNLOAD);
  work->destination = value_of(destination);
  work->source = source.address;
  work->size_bytes = size_bytes;
  KM_TRY(keep(*work, source.memory));
  keep_pinned(*work, context, destination, size_bytes);
  return SharedWork(std::move(work));
}

Result<SharedWork> copy_work(const DevicePlace& destination, const DevicePlace& source,
                             uint64_t size_bytes) {
  KM_TRY(require_apart(destination, source, size_bytes));
  if (destination.memory != nullptr)
    KM_TRY(destination.memory->require_writable("the destination"));
  auto work = new_work(KM_GRAPH_NODE_COPY);
  work->destination = destination.address;
  work->source = source.address;
  work->size_bytes = size_bytes;
  KM_TRY(keep(*work, destination.memory));
  KM_TRY(keep(*work, source.memory));
  return SharedWork(std::move(work));
}

Result<SharedWork> fill_work(const DevicePlace& destination, uint32_t value,
                             uint32_t value_size_bytes, uint64_t count) {
  KM_TRY(require_aligned(destination, value_size_bytes, count));
  if (destination.memory != nullptr)
    KM_TRY(destination.memory->require_writable("the destination"));
  auto work = new_work(KM_GRAPH_NODE_FILL);
  work->destination = destination.address;
  work->size_bytes = count * value_size_bytes;
  work->value = value;
  work->value_size_bytes = value_size_bytes;
  KM_TRY(keep(*work, destination.memory));
  return SharedWork(std::move(work));
}

SharedWork host_work(km_host_callback callback, void* user_data) {
  auto work = new_work(KM_GRAPH_NODE_HOST);
  work->callback = callback;
  work->user_data = user_data;
  return work;
}

SharedWork empty_work() { return new_work(KM_GRAPH_NODE_EMPTY); }

SharedWork child_work(Ref<Graph> child) {
  auto work = new_work(KM_GRAPH_NODE_CHILD);
  work->child = std::move(child);
  return work;
}

}  // namespace km
