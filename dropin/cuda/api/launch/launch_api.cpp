// Launches and occupancy.
#include "core/object/callback.h"
#include "dropin/cuda/frame/host_place.h"
#include "dropin/cuda/graph/graph_device.h"
#include "dropin/cuda/launch/launch.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

/// A launch's attributes, parsed.
struct LaunchAttributes {
  LaunchShape shape;
  std::vector<CUevent> events;  // recorded after the launch, when all its blocks have begun
  CUgraphDeviceNode* device_node = nullptr;  // receives the node's handle; null: not updatable

  CUresult read(const CUlaunchConfig& config);
  CUresult check_events(CUstream stream) const;

 private:
  CUresult read_one(CUlaunchAttribute* place);
};

CUresult LaunchAttributes::read_one(CUlaunchAttribute* place) {
  CUlaunchAttribute attribute;
  CU_TRY(read_place("attrs", place, &attribute));
  const CUlaunchAttributeValue& value = attribute.value;
  switch (attribute.id) {
    case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
      shape.is_cooperative = value.cooperative != 0;
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
      shape.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_EVENT:
      events.push_back(value.programmaticEvent.event);
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT:
      events.push_back(value.launchCompletionEvent.event);
      return CUDA_SUCCESS;
    case CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE:
      if (value.deviceUpdatableKernelNode.deviceUpdatable == 0) return CUDA_SUCCESS;
      if (value.deviceUpdatableKernelNode.deviceUpdatable != 1) {
        return fail(CUDA_ERROR_INVALID_VALUE, "deviceUpdatable is %d; it must be 0 or 1",
                    value.deviceUpdatableKernelNode.deviceUpdatable);
      }
      device_node = &place->value.deviceUpdatableKernelNode.devNode;
      return require_place("devNode", device_node);
    default:
      if (attribute.id < 0 || attribute.id > CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE) {
        return fail(CUDA_ERROR_INVALID_VALUE, "there is no launch attribute %d", attribute.id);
      }
      return CUDA_SUCCESS;  // hints about caches, priorities and scheduling
  }
}

CUresult LaunchAttributes::read(const CUlaunchConfig& config) {
  shape.grid = {config.gridDimX, config.gridDimY, config.gridDimZ};
  shape.block = {config.blockDimX, config.blockDimY, config.blockDimZ};
  shape.shared_bytes = config.sharedMemBytes;
  if (config.numAttrs != 0) CU_REQUIRE(config.attrs);
  for (unsigned i = 0; i < config.numAttrs; ++i) CU_TRY(read_one(&config.attrs[i]));
  return CUDA_SUCCESS;
}

CUresult LaunchAttributes::check_events(CUstream stream_handle) const {
  for (const CUevent handle : events) {
    CU_GET(Event, event, handle);
    if ((event->flags() & CU_EVENT_DISABLE_TIMING) == 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "the event of a launch must not record times");
    }
    StreamUse stream;
    CU_TRY(stream.get(stream_handle));
    if (&event->context() != &stream->context()) {
      return fail(CUDA_ERROR_INVALID_HANDLE, "the event and the stream are of different contexts");
    }
  }
  return CUDA_SUCCESS;
}

CUresult require_captured(CUstream handle) {
  StreamUse stream;
  CU_TRY(stream.get(handle));
  if (stream.core().is_capturing()) return CUDA_SUCCESS;
  return fail(CUDA_ERROR_INVALID_VALUE, "kernels can change only nodes of graphs");
}

CUresult launch_config(const CUlaunchConfig* place, CUfunction function, void** params,
                       void** extra, bool is_per_thread) {
  CUlaunchConfig config;
  CU_TRY(read_place("config", place, &config));
  const CUstream stream = is_per_thread ? per_thread(config.hStream) : config.hStream;
  LaunchAttributes attributes;
  CU_TRY(attributes.read(config));
  CU_TRY(attributes.check_events(stream));
  if (attributes.device_node != nullptr) CU_TRY(require_captured(stream));
  CU_TRY(launch({function, attributes.shape, stream, params, extra}));
  if (attributes.device_node != nullptr) {
    CU_TRY(make_captured_updatable(stream, attributes.device_node));
  }
  for (const CUevent event : attributes.events) CU_TRY(cuEventRecord(event, stream));
  return CUDA_SUCCESS;
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void** params, void** extra) {
  return guard_light(__func__, [&] {
    return launch({function,
                   {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, {}, false},
                   stream,
                   params,
                   extra});
  });
}

CUresult cuLaunchKernel_ptsz(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                             unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                             unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                             void** params, void** extra) {
  return cuLaunchKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes,
                        per_thread(stream), params, extra);
}

CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                                   unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                                   unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                                   void** params) {
  return guard(__func__, [&] {
    return launch({function,
                   {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes, {}, true},
                   stream,
                   params,
                   nullptr});
  });
}

CUresult cuLaunchCooperativeKernel_ptsz(CUfunction function, unsigned int grid_x,
                                        unsigned int grid_y, unsigned int grid_z,
                                        unsigned int block_x, unsigned int block_y,
                                        unsigned int block_z, unsigned int shared_bytes,
                                        CUstream stream, void** params) {
  return cuLaunchCooperativeKernel(function, grid_x, grid_y, grid_z, block_x, block_y, block_z,
                                   shared_bytes, per_thread(stream), params);
}

CUresult cuLaunchKernelEx(const CUlaunchConfig* config, CUfunction function, void** params,
                          void** extra) {
  return guard_light(__func__,
                     [&] { return launch_config(config, function, params, extra, false); });
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** params,
                               void** extra) {
  return guard(__func__, [&] { return launch_config(config, function, params, extra, true); });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, CUfunction handle,
                                                              int block_size, size_t dynamic_bytes,
                                                              unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(blocks);
    if ((flags & ~1U) != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    Occupancy occupancy;
    CU_TRY(occupancy.read(*function));
    return occupancy.active_blocks(block_size, dynamic_bytes, blocks);
  });
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction function,
                                                     int block_size, size_t dynamic_bytes) {
  return cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size,
                                                              dynamic_bytes, 0);
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int* grid_size, int* block_size,
                                                   CUfunction function,
                                                   CUoccupancyB2DSize dynamic_of,
                                                   size_t dynamic_bytes, int limit,
                                                   unsigned int flags) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(grid_size);
    CU_REQUIRE(block_size);
    if ((flags & ~1U) != 0) return fail(CUDA_ERROR_INVALID_VALUE, "flags is %u", flags);
    Ref<dropin::Function> found;
    CU_TRY(find_function(function, &found));
    Occupancy occupancy;
    CU_TRY(occupancy.read(*found));
    const auto shared_of = [&](uint32_t threads) -> Result<uint64_t> {
      if (dynamic_of == nullptr) return dynamic_bytes;
      size_t size_bytes = 0;
      const auto call = [&] { size_bytes = dynamic_of(static_cast<int>(threads)); };
      KM_TRY(require_returned(call_contained(call)));
      return size_bytes;
    };
    CU_ASSIGN(const BestBlock best,
              find_best_block(occupancy.limits, occupancy.needs, shared_of,
                              limit > 0 ? static_cast<uint32_t>(limit) : UINT32_MAX));
    *grid_size = static_cast<int>(best.grid_blocks);
    *block_size = static_cast<int>(best.threads);
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxPotentialBlockSize(int* grid_size, int* block_size, CUfunction function,
                                          CUoccupancyB2DSize dynamic_of, size_t dynamic_bytes,
                                          int limit) {
  return cuOccupancyMaxPotentialBlockSizeWithFlags(grid_size, block_size, function, dynamic_of,
                                                   dynamic_bytes, limit, 0);
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t* bytes, CUfunction handle, int blocks,
                                                 int block_size) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(bytes);
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    if (blocks <= 0 || block_size <= 0) {
      return fail(CUDA_ERROR_INVALID_VALUE, "numBlocks is %d, blockSize is %d", blocks, block_size);
    }
    Occupancy occupancy;
    CU_TRY(occupancy.read(*function));
    CU_ASSIGN(*bytes, available_shared_bytes(occupancy.limits, occupancy.needs,
                                             static_cast<uint32_t>(blocks),
                                             static_cast<uint32_t>(block_size)));
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxPotentialClusterSize(int* size, CUfunction handle,
                                            const CUlaunchConfig* place) {
  return guard(__func__, [&]() -> CUresult {
    CUlaunchConfig config;
    CU_TRY(read_place("config", place, &config));
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    CU_ASSIGN(const uint64_t most, max_cluster_blocks(function->core()));
    return write_place("clusterSize", size, static_cast<int>(most));
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle,
                                      const CUlaunchConfig* place) {
  return guard(__func__, [&]() -> CUresult {
    CUlaunchConfig config;
    CU_TRY(read_place("config", place, &config));
    LaunchAttributes attributes;
    CU_TRY(attributes.read(config));
    const LaunchShape& shape = attributes.shape;
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    int blocks = 0;
    Occupancy occupancy;
    CU_TRY(occupancy.read(*function));
    uint64_t threads = 1;  // a product of what the device has at most
    for (const uint32_t one : shape.block) threads = std::min<uint64_t>(threads * one, INT32_MAX);
    CU_TRY(occupancy.active_blocks(static_cast<int>(threads), config.sharedMemBytes, &blocks));
    CU_TRY(check_cluster(function->core(), shape));
    uint64_t size = 1;
    for (const uint32_t one : shape.cluster) size *= std::max(one, 1U);
    return write_place(
        "numClusters", clusters,
        static_cast<int>(static_cast<uint64_t>(blocks) * occupancy.limits.count / size));
  });
}

}  // extern "C"

}  // namespace km::cu
