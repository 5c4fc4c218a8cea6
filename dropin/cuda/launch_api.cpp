// Launches and occupancy.
#include "dropin/cuda/launch.h"

namespace km::cu {

using namespace km::dropin;  // NOLINT

namespace {

CUresult read_attributes(const CUlaunchConfig& config, LaunchShape* shape) {
  for (unsigned i = 0; i < config.numAttrs; ++i) {
    CU_REQUIRE(config.attrs);
    const CUlaunchAttribute& attribute = config.attrs[i];
    const auto& cluster = attribute.value.clusterDim;
    switch (attribute.id) {
      case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        shape->is_cooperative = attribute.value.cooperative != 0;
        break;
      case CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION:
        shape->cluster = {cluster.x, cluster.y, cluster.z};
        break;
      default:
        if (attribute.id < 0 || attribute.id > CU_LAUNCH_ATTRIBUTE_SHARED_MEMORY_MODE) {
          return fail(CUDA_ERROR_INVALID_VALUE, "there is no launch attribute %d", attribute.id);
        }
        break;  // hints about caches, priorities and schedules
    }
  }
  return CUDA_SUCCESS;
}

CUresult launch_config(const CUlaunchConfig* config, CUfunction function, void** params,
                       void** extra, CUstream stream) {
  CU_REQUIRE(config);
  LaunchShape shape{{config->gridDimX, config->gridDimY, config->gridDimZ},
                    {config->blockDimX, config->blockDimY, config->blockDimZ},
                    config->sharedMemBytes,
                    {},
                    false};
  CU_TRY(read_attributes(*config, &shape));
  return launch({function, shape, stream, params, extra});
}

}  // namespace

extern "C" {

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void** params, void** extra) {
  return guard(__func__, [&] {
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
  return guard(__func__, [&] {
    return launch_config(config, function, params, extra,
                         config != nullptr ? config->hStream : nullptr);
  });
}

CUresult cuLaunchKernelEx_ptsz(const CUlaunchConfig* config, CUfunction function, void** params,
                               void** extra) {
  return guard(__func__, [&] {
    return launch_config(config, function, params, extra,
                         per_thread(config != nullptr ? config->hStream : nullptr));
  });
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
    const auto shared_of = [&](uint32_t threads) -> uint64_t {
      return dynamic_of != nullptr ? dynamic_of(static_cast<int>(threads)) : dynamic_bytes;
    };
    const BestBlock best = find_best_block(occupancy.limits, occupancy.needs, shared_of,
                                           limit > 0 ? static_cast<uint32_t>(limit) : UINT32_MAX);
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
                                            const CUlaunchConfig* config) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(size);
    CU_REQUIRE(config);
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    CU_ASSIGN(const uint64_t most, max_cluster_blocks(function->core()));
    *size = static_cast<int>(most);
    return CUDA_SUCCESS;
  });
}

CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction handle,
                                      const CUlaunchConfig* config) {
  return guard(__func__, [&]() -> CUresult {
    CU_REQUIRE(clusters);
    CU_REQUIRE(config);
    LaunchShape shape;
    CU_TRY(read_attributes(*config, &shape));
    Ref<dropin::Function> function;
    CU_TRY(find_function(handle, &function));
    int blocks = 0;
    Occupancy occupancy;
    CU_TRY(occupancy.read(*function));
    const unsigned threads = config->blockDimX * config->blockDimY * config->blockDimZ;
    CU_TRY(occupancy.active_blocks(static_cast<int>(threads), config->sharedMemBytes, &blocks));
    CU_TRY(check_cluster(function->core(), shape));
    uint64_t size = 1;
    for (const uint32_t one : shape.cluster) size *= std::max(one, 1U);
    *clusters = static_cast<int>(static_cast<uint64_t>(blocks) * occupancy.limits.count / size);
    return CUDA_SUCCESS;
  });
}

}  // extern "C"

}  // namespace km::cu
