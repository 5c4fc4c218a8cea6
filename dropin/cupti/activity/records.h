// Records of CUPTI's activity API. Later versions of a record only add members at its end, so
// CUDA 13's are those of CUDA 12 with zeros behind them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "dropin/cupti/generated/api.h"

namespace km::cupti {

/// CUpti_ActivityAPI: a call of the driver or the runtime.
struct ApiRecord {
  int32_t kind;
  uint32_t number;
  uint64_t begin_ns, end_ns;
  uint32_t process, thread;
  uint32_t correlation;
  uint32_t result;
};
static_assert(sizeof(ApiRecord) == 40);

/// CUpti_ActivityExternalCorrelation: a program's id for a call.
struct ExternalRecord {
  int32_t kind;
  int32_t external_kind;
  uint64_t external_id;
  uint32_t correlation;
  uint32_t reserved;
};
static_assert(sizeof(ExternalRecord) == 24);

/// CUpti_ActivityKernel9.
struct KernelRecord {
  int32_t kind;
  uint8_t cache_config, shared_config;
  uint16_t registers;
  int32_t cache_requested, cache_executed;
  uint64_t begin_ns, end_ns, completed_ns;
  uint32_t device, context, stream;
  int32_t grid[3], block[3];
  int32_t static_shared_bytes, dynamic_shared_bytes;
  uint32_t local_bytes_per_thread, local_bytes;
  uint32_t correlation;
  int64_t grid_id;
  const char* name;
  void* reserved;
  uint64_t queued_ns, submitted_ns;
  uint8_t launch_type, is_carveout_requested, carveout_requested, padding;
  uint32_t shared_executed_bytes;
  uint64_t graph_node;
  int32_t shared_limit;
  uint32_t graph;
  void* access_policy;
  uint32_t channel;
  int32_t channel_type;
  uint32_t cluster[3];
  uint32_t cluster_policy;
  uint64_t local_total_bytes;
  uint32_t max_cluster, max_active_clusters;
};
static_assert(offsetof(KernelRecord, correlation) == 92);
static_assert(offsetof(KernelRecord, graph_node) == 144);
static_assert(offsetof(KernelRecord, local_total_bytes) == 192 && sizeof(KernelRecord) == 208);

/// CUpti_ActivityMemcpy6.
struct CopyRecord {
  int32_t kind;
  uint8_t copy_kind, source_kind, destination_kind, flags;
  uint64_t size_bytes;
  uint64_t begin_ns, end_ns;
  uint32_t device, context, stream;
  uint32_t correlation, runtime_correlation;
  uint32_t padding;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t channel;
  int32_t channel_type;
  uint32_t padding2;
  uint64_t copies;
};
static_assert(offsetof(CopyRecord, graph_node) == 64 && sizeof(CopyRecord) == 96);

/// CUpti_ActivityMemset4.
struct FillRecord {
  int32_t kind;
  uint32_t value;
  uint64_t size_bytes;
  uint64_t begin_ns, end_ns;
  uint32_t device, context, stream;
  uint32_t correlation;
  uint16_t flags, memory_kind;
  uint32_t padding;
  void* reserved;
  uint64_t graph_node;
  uint32_t graph;
  uint32_t channel;
  int32_t channel_type;
  uint32_t padding2;
};
static_assert(offsetof(FillRecord, graph_node) == 64 && sizeof(FillRecord) == 88);

/// CUpti_ActivitySynchronization2.
struct WaitRecord {
  int32_t kind;
  int32_t type;
  uint64_t begin_ns, end_ns;
  uint32_t correlation;
  uint32_t context, stream, event;
  uint64_t event_sync;
  uint32_t result;
  uint32_t padding;
};
static_assert(offsetof(WaitRecord, event_sync) == 40 && sizeof(WaitRecord) == 56);

/// The size of a kind's records in the library of CUDA `major`; 0 if it makes none of that kind.
size_t record_bytes(int32_t kind, int major) noexcept;

}  // namespace km::cupti
