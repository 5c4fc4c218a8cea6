// Makes graph nodes' work from the arguments of the calls that queue it.
#pragma once

#include "core/blas/blas.h"
#include "core/graph/graph_operation.h"
#include "core/library/library_work.h"
#include "core/memory/rows.h"
#include "core/module/kernel_launch.h"

namespace km {

/// The work of a kernel node; it also keeps the memory that the arguments point into.
Result<SharedWork> kernel_work(const KernelLaunch& launch);
Result<SharedWork> upload_work(Context& context, const DevicePlace& destination, const void* source,
                               uint64_t size_bytes);
Result<SharedWork> download_work(Context& context, const DevicePlace& source, void* destination,
                                 uint64_t size_bytes);
Result<SharedWork> copy_work(const DevicePlace& destination, const DevicePlace& source,
                             uint64_t size_bytes);
Result<SharedWork> fill_work(const DevicePlace& destination, uint32_t value,
                             uint32_t value_size_bytes, uint64_t count);
Result<SharedWork> copy_3d_work(const DevicePlace& destination, const DevicePlace& source,
                                const Copy3d& shape);
/// The host pointer is the one that the shape's offsets count from.
Result<SharedWork> upload_3d_work(Context& context, const DevicePlace& destination,
                                  const void* source, const Copy3d& shape);
Result<SharedWork> download_3d_work(Context& context, const DevicePlace& source, void* destination,
                                    const Copy3d& shape);
Result<SharedWork> fill_2d_work(const DevicePlace& destination, const Fill2d& shape);
/// Both places may belong to other contexts of the same backend.
Result<SharedWork> copy_peer_work(Context& context, const DevicePlace& destination,
                                  const DevicePlace& source, uint64_t size_bytes);
/// The work keeps `note`, which the user data may point into.
SharedWork host_work(km_host_callback callback, void* user_data,
                     std::shared_ptr<const void> note = nullptr);
Result<SharedWork> blas_work(BlasEngine& engine, const BlasWork& work);
/// The work of a library's call; `holder` keeps what the call refers to.
Result<SharedWork> library_work(const kmb_library_call& call, ContextChild& holder,
                                std::span<const BlasOperand> arrays);
/// The uses name the memory that the task accesses.
Result<SharedWork> task_work(Context& context, const kmb_task& task,
                             std::span<const MemoryUse> uses);
SharedWork empty_work();
/// A conditional node; the first 32 bits of `memory` are its condition.
SharedWork conditional_work(Ref<Memory> memory, ConditionalOperation conditional,
                            std::shared_ptr<const void> note);
/// `uses` are the uses of the child's nodes, if the launch is captured.
SharedWork child_work(Ref<Graph> child, std::vector<MemoryUse> uses = {});

}  // namespace km
