// The making of work for nodes of graphs, from what the calls that queue work take.
#pragma once

#include "core/copy.h"
#include "core/graph.h"

namespace km {

/// A launch in the form of kernels' nodes; keeps also the memory that arguments are addresses of.
Result<SharedWork> kernel_work(const KernelLaunch& launch);
Result<SharedWork> upload_work(Context& context, const DevicePlace& destination, const void* source,
                               uint64_t size_bytes);
Result<SharedWork> download_work(Context& context, const DevicePlace& source, void* destination,
                                 uint64_t size_bytes);
Result<SharedWork> copy_work(const DevicePlace& destination, const DevicePlace& source,
                             uint64_t size_bytes);
Result<SharedWork> fill_work(const DevicePlace& destination, uint32_t value,
                             uint32_t value_size_bytes, uint64_t count);
SharedWork host_work(km_host_callback callback, void* user_data);
SharedWork empty_work();
/// `child` must not change any more.
SharedWork child_work(Ref<Graph> child);

}  // namespace km
