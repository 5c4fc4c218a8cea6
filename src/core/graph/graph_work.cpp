#include "core/graph/graph_work.h"

#include <cstring>

namespace km {
namespace {

std::shared_ptr<GraphWork> new_work(GraphOperation operation) {
  auto work = std::make_shared<GraphWork>();
  work->operation = std::move(operation);
  return work;
}

uint64_t value_of(const void* pointer) { return reinterpret_cast<uint64_t>(pointer); }

/// A use without memory is an empty range and keeps nothing.
Status keep(GraphWork& work, const MemoryUse& use) {
  if (use.memory == nullptr) return {};
  if (!use.memory->try_ref()) {
    return make_error(KM_ERROR_OUT_OF_BOUNDS, "the memory was just destroyed");
  }
  work.memories.push_back(Ref<Memory>::adopt(use.memory));
  add_use(work, use);
  return {};
}

Status keep(GraphWork& work, const DevicePlace& place, uint64_t size_bytes, AccessKind kind) {
  return keep(work, use_of(place, size_bytes, kind));
}

void keep_pinned(GraphWork& work, Context& context, const void* pointer, uint64_t size_bytes,
                 AccessKind kind) {
  const FoundMemory found = find_pinned_memory(context, pointer, size_bytes);
  Ref<Memory> memory = found ? found.keep() : Ref<Memory>();
  if (!memory) return;
  add_use(work, use_of_pinned(found, pointer, size_bytes, kind));
  work.memories.push_back(std::move(memory));
}

/// Keeps the memory that the arguments point into, if it is known.
void keep_addressed(GraphWork& work, const KernelLaunch& launch) {
  Context& context = launch.function.context();
  const kmb_function_info& info = launch.function.info();
  for (uint32_t i = 0; i < info.param_count; ++i) {
    const kmb_param& param = info.params[i];
    if (param.size_bytes != sizeof(uint64_t) || param.kind == KM_PARAM_KIND_VALUE) continue;
    uint64_t address = 0;
    std::memcpy(&address, static_cast<const std::byte*>(launch.arguments) + param.offset_bytes,
                sizeof address);
    const FoundMemory found = find_device_memory(context, address);
    Ref<Memory> memory = found ? found.keep() : Ref<Memory>();
    if (memory) work.memories.push_back(std::move(memory));
  }
}

Status require_writable(const DevicePlace& place) {
  if (place.memory == nullptr) return {};
  return place.memory->require_writable("the destination");
}

}  // namespace

Result<SharedWork> kernel_work(const KernelLaunch& launch) {
  const auto* bytes = static_cast<const std::byte*>(launch.arguments);
  auto work = new_work(KernelOperation{Ref<Function>::share(launch.function),
                                       launch.shape,
                                       {bytes, bytes + launch.arguments_size_bytes},
                                       launch.update_handle});
  for (Memory* memory : launch.memories) {
    if (memory != nullptr) KM_TRY(keep(*work, MemoryUse::of(*memory, 0, 0, AccessKind::kRead)));
  }
  for (const MemoryUse& use : launch.uses) KM_TRY(keep(*work, use));
  keep_addressed(*work, launch);
  return SharedWork(std::move(work));
}

Result<SharedWork> upload_work(Context& context, const DevicePlace& destination, const void* source,
                               uint64_t size_bytes) {
  KM_TRY(require_pointer(source, "source", size_bytes));
  KM_TRY(require_writable(destination));
  auto work = new_work(
      CopyOperation{CopySides::kFromHost, destination.address, value_of(source), size_bytes});
  KM_TRY(keep(*work, destination, size_bytes, AccessKind::kWrite));
  keep_pinned(*work, context, source, size_bytes, AccessKind::kRead);
  return SharedWork(std::move(work));
}

Result<SharedWork> download_work(Context& context, const DevicePlace& source, void* destination,
                                 uint64_t size_bytes) {
  KM_TRY(require_pointer(destination, "destination", size_bytes));
  auto work = new_work(
      CopyOperation{CopySides::kToHost, value_of(destination), source.address, size_bytes});
  KM_TRY(keep(*work, source, size_bytes, AccessKind::kRead));
  keep_pinned(*work, context, destination, size_bytes, AccessKind::kWrite);
  return SharedWork(std::move(work));
}

Result<SharedWork> copy_work(const DevicePlace& destination, const DevicePlace& source,
                             uint64_t size_bytes) {
  KM_TRY(require_apart(destination, source, size_bytes));
  KM_TRY(require_writable(destination));
  auto work =
      new_work(CopyOperation{CopySides::kDevice, destination.address, source.address, size_bytes});
  KM_TRY(keep(*work, destination, size_bytes, AccessKind::kWrite));
  KM_TRY(keep(*work, source, size_bytes, AccessKind::kRead));
  return SharedWork(std::move(work));
}

Result<SharedWork> fill_work(const DevicePlace& destination, uint32_t value,
                             uint32_t value_size_bytes, uint64_t count) {
  KM_TRY(require_aligned(destination, value_size_bytes, count));
  KM_TRY(require_writable(destination));
  const uint64_t size_bytes = count * value_size_bytes;
  auto work = new_work(FillOperation{destination.address, size_bytes, value, value_size_bytes});
  KM_TRY(keep(*work, destination, size_bytes, AccessKind::kWrite));
  return SharedWork(std::move(work));
}

namespace {

/// Keeps page-locked host memory, and returns the memory space of the address.
uint32_t host_space(GraphWork& work, Context& context, const char* first, uint64_t size_bytes,
                    AccessKind kind) {
  const size_t before = work.memories.size();
  keep_pinned(work, context, first, size_bytes, kind);
  return work.memories.size() > before ? KMB_SPACE_HOST_PINNED : KMB_SPACE_HOST;
}

}  // namespace

Result<SharedWork> copy_3d_work(const DevicePlace& destination, const DevicePlace& source,
                                const Copy3d& shape) {
  KM_TRY(require_rows_apart(shape, destination, source));
  KM_TRY(require_writable(destination));
  auto work = new_work(RowsCopyOperation{
      CopySides::kDevice, shape.native(destination.address, source.address), shape.size_bytes()});
  KM_TRY(keep(*work, destination, shape.destination.extent_bytes, AccessKind::kWrite));
  KM_TRY(keep(*work, source, shape.source.extent_bytes, AccessKind::kRead));
  return SharedWork(std::move(work));
}

Result<SharedWork> upload_3d_work(Context& context, const DevicePlace& destination,
                                  const void* source, const Copy3d& shape) {
  KM_TRY(require_pointer(source, "source", shape.size_bytes()));
  KM_TRY(require_writable(destination));
  const auto* first = static_cast<const char*>(source) + shape.source.offset_bytes;
  RowsCopyOperation copy{CopySides::kFromHost, shape.native(destination.address, value_of(first)),
                         shape.size_bytes()};
  auto work = std::make_shared<GraphWork>();
  KM_TRY(keep(*work, destination, shape.destination.extent_bytes, AccessKind::kWrite));
  copy.rows.source_space =
      host_space(*work, context, first, shape.source.extent_bytes, AccessKind::kRead);
  work->operation = copy;
  return SharedWork(std::move(work));
}

Result<SharedWork> download_3d_work(Context& context, const DevicePlace& source, void* destination,
                                    const Copy3d& shape) {
  KM_TRY(require_pointer(destination, "destination", shape.size_bytes()));
  const auto* first = static_cast<const char*>(destination) + shape.destination.offset_bytes;
  RowsCopyOperation copy{CopySides::kToHost, shape.native(value_of(first), source.address),
                         shape.size_bytes()};
  auto work = std::make_shared<GraphWork>();
  KM_TRY(keep(*work, source, shape.source.extent_bytes, AccessKind::kRead));
  copy.rows.destination_space =
      host_space(*work, context, first, shape.destination.extent_bytes, AccessKind::kWrite);
  work->operation = copy;
  return SharedWork(std::move(work));
}

Result<SharedWork> fill_2d_work(const DevicePlace& destination, const Fill2d& shape) {
  KM_TRY(require_aligned(destination, shape.value_size_bytes, shape.width_count));
  KM_TRY(require_writable(destination));
  const uint64_t width_bytes = shape.width_count * shape.value_size_bytes;
  const kmb_fill_2d rows{destination.address, shape.pitch_bytes, width_bytes,
                         shape.height,        shape.value,       shape.value_size_bytes};
  // An empty extent may have so many rows that their product with the width overflows 64 bits.
  auto work =
      new_work(RowsFillOperation{rows, shape.extent_bytes == 0 ? 0 : width_bytes * shape.height});
  KM_TRY(keep(*work, destination, shape.extent_bytes, AccessKind::kWrite));
  return SharedWork(std::move(work));
}

Result<SharedWork> copy_peer_work(Context& context, const DevicePlace& destination,
                                  const DevicePlace& source, uint64_t size_bytes) {
  PeerCopyOperation copy{destination.address, source.address, size_bytes, nullptr, nullptr};
  if (size_bytes == 0) return SharedWork(new_work(copy));
  Context& to = destination.memory->context();
  Context& from = source.memory->context();
  KM_TRY(require_peer(context, to));
  KM_TRY(require_peer(context, from));
  KM_TRY(require_apart(destination, source, size_bytes));
  KM_TRY(require_writable(destination));
  copy.destination_context = to.native();
  copy.source_context = from.native();
  auto work = new_work(copy);
  KM_TRY(keep(*work, destination, size_bytes, AccessKind::kWrite));
  KM_TRY(keep(*work, source, size_bytes, AccessKind::kRead));
  return SharedWork(std::move(work));
}

SharedWork host_work(km_host_callback callback, void* user_data, std::shared_ptr<const void> note) {
  auto work = new_work(HostOperation{callback, user_data});
  work->note = std::move(note);
  return work;
}

Result<SharedWork> blas_work(BlasEngine& engine, const BlasWork& given) {
  auto work = new_work(BlasOperation{Ref<BlasEngine>::share(engine),
                                     std::make_unique<const kmb_blas_call>(given.call)});
  for (uint32_t i = 0; i < given.operand_count; ++i) {
    KM_TRY(keep(*work, given.operands[i].use()));
  }
  return SharedWork(std::move(work));
}

Result<SharedWork> library_work(const kmb_library_call& call, ContextChild& holder,
                                std::span<const BlasOperand> arrays) {
  auto work = new_work(LibraryOperation{Ref<ContextChild>::share(holder),
                                        std::make_unique<const kmb_library_call>(call)});
  for (const BlasOperand& operand : arrays) KM_TRY(keep(*work, operand.use()));
  return SharedWork(std::move(work));
}

Result<SharedWork> task_work(Context& context, const kmb_task& task,
                             std::span<const MemoryUse> uses) {
  auto work = new_work(TaskOperation{HeldTask(task), &context});
  for (const MemoryUse& use : uses) KM_TRY(keep(*work, use));
  return SharedWork(std::move(work));
}

SharedWork empty_work() { return new_work(EmptyOperation{}); }

SharedWork conditional_work(Ref<Memory> memory, ConditionalOperation conditional,
                            std::shared_ptr<const void> note) {
  conditional.address = memory->address();
  auto work = new_work(std::move(conditional));
  add_use(*work,
          MemoryUse::of(*memory, memory->address(), memory->size_bytes(), AccessKind::kWrite));
  work->memories.push_back(std::move(memory));
  work->note = std::move(note);
  return work;
}

SharedWork child_work(Ref<Graph> child, std::vector<MemoryUse> uses) {
  auto work = new_work(ChildOperation{std::move(child)});
  work->uses = std::move(uses);
  return work;
}

}  // namespace km
