#include "backends/cpu/launches/launch.h"

#include <bit>
#include <cinttypes>
#include <cstring>

#include "backend/launch_limits.h"
#include "backends/cpu/config/config.h"
#include "backends/cpu/device/context.h"
#include "backends/cpu/device/device.h"
#include "backends/cpu/device/entries.h"
#include "backends/cpu/module/module.h"
#include "backends/cpu/runtime/runtime_table.h"
#include "backends/cpu/stream/thread_pool.h"
#include "base/assert.h"
#include "base/text.h"
#include "simt/kernel/shared_memory.h"

namespace km::cpu {
namespace {

constexpr char kAxes[] = "xyz";

Status check_block(const simt::KernelInfo& kernel, const uint32_t block[3]) {
  return check_block_limits(
      kernel.name, block,
      {kMaxBlockDim, kMaxThreadsPerBlock, kernel.max_threads, kernel.required_block});
}

/// The error for a block that cannot have `shared_bytes` of dynamic shared memory.
[[gnu::cold, gnu::noinline]] Error too_much_shared(const Function& function,
                                                   uint64_t shared_bytes) {
  const simt::KernelInfo& kernel = function.kernel();
  const uint64_t most = config().limits.block_shared_bytes;
  if (kernel.shared_static_bytes > most) {
    return make_error(KM_ERROR_INVALID_LAUNCH,
                      "kernel '%s' has %" PRIu64
                      " bytes of static shared memory; a block has at most %" PRIu64
                      " (KM_CPU_SHARED_KIB)",
                      source_name(kernel.name).c_str(), kernel.shared_static_bytes, most);
  }
  return make_error(KM_ERROR_INVALID_LAUNCH,
                    "kernel '%s': %s of dynamic shared memory, at most %" PRIu64
                    " allowed beside its static ones, %" PRIu64
                    "; raise KM_FUNCTION_ATTRIBUTE_MAX_DYNAMIC_SHARED_BYTES (up to "
                    "%" PRIu64 " in all)",
                    source_name(kernel.name).c_str(), counted(shared_bytes, "byte").c_str(),
                    function.max_dynamic_shared_bytes(), kernel.shared_static_bytes, most);
}

/// Static shared memory is followed by the dynamic part, which starts at a multiple of 16 bytes and
/// ends where the memory ends that a GPU would allocate for the block: kernels may access the gap.
/// Reserved memory follows if the kernel uses it.
uint64_t shared_bytes_of(const simt::KernelInfo& kernel, uint64_t dynamic_bytes) {
  const bool is_exact = dynamic_bytes == 0 && !kernel.reads_shared_size && !kernel.reserves_shared;
  if (is_exact) return kernel.shared_static_bytes;
  const uint64_t own =
      round_up(round_up(kernel.shared_static_bytes, 16) + dynamic_bytes, simt::kSharedGranuleBytes);
  return own + (kernel.reserves_shared ? simt::kReservedSharedBytes : 0);
}

// A single block has the whole window as its shared memory.
constexpr uint32_t kLoneClusterBits = 31;

bool asks_for_clusters(const simt::KernelInfo& kernel, const kmb_launch& launch) {
  return (launch.cluster[0] | launch.cluster[1] | launch.cluster[2] | kernel.cluster[0]) != 0;
}

Error invalid_cluster(const Function& function, const std::array<uint32_t, 3>& size,
                      const std::string& why) {
  return make_error(KM_ERROR_INVALID_LAUNCH, "kernel '%s': clusters of %u x %u x %u blocks: %s",
                    source_name(function.kernel().name).c_str(), size[0], size[1], size[2],
                    why.c_str());
}

/// The cluster size of the launch, otherwise the kernel's.
Result<std::array<uint32_t, 3>> cluster_size(const Function& function, const kmb_launch& launch) {
  const simt::KernelInfo& kernel = function.kernel();
  std::array<uint32_t, 3> size = kernel.cluster, asked{};
  for (int i = 0; i < 3; ++i) asked[i] = launch.cluster[i];
  const bool has_own = size[0] != 0, asks = asked != std::array<uint32_t, 3>{};
  for (uint32_t& one : size) one = std::max(one, 1U);
  if (asks && has_own && asked != size) {
    return invalid_cluster(function, asked, "the kernel requires others (.reqnctapercluster)");
  }
  if (asks) size = asked;
  uint64_t blocks = 1;
  for (int i = 0; i < 3; ++i) {
    blocks *= size[i];
    if (blocks == 0 || blocks > function.max_cluster_blocks()) {
      return invalid_cluster(function, size,
                             "1 to " + std::to_string(function.max_cluster_blocks()) +
                                 " blocks are possible (up to 16 with "
                                 "KM_FUNCTION_ATTRIBUTE_NON_PORTABLE_CLUSTER)");
    }
    if (launch.grid[i] % size[i] != 0) {
      return invalid_cluster(function, size,
                             std::string("grid.") + kAxes[i] + " is " +
                                 std::to_string(launch.grid[i]) + ", no multiple of that");
    }
  }
  return size;
}

Status set_clusters(LaunchRun* run, const Function& function, const kmb_launch& launch) {
  KM_ASSIGN(const auto size, cluster_size(function, launch));
  simt::LaunchRecord& record = run->record;
  uint32_t blocks = 1;
  for (int i = 0; i < 3; ++i) blocks *= record.cluster[i] = size[i];
  const uint64_t stride = std::bit_ceil(std::max<uint64_t>(run->shared_bytes, kPageBytes));
  record.cluster_bits = static_cast<uint32_t>(std::countr_zero(stride));
  if (blocks == 1) record.cluster_bits = kLoneClusterBits;
  if (blocks == 1 || !function.kernel().meets_cluster) return {};
  KM_ASSERT(run->block_count % blocks == 0, "a grid has a cluster that is not whole");
  run->cluster_blocks = blocks;
  run->block_count /= blocks;
  return {};
}

Status fill_in(Command* command, const Function& function, const kmb_launch& launch,
               Context* context) {
  const simt::KernelInfo& kernel = function.kernel();
  command->kind = CommandKind::kernel;
  uint8_t* params = command->allocate_params(launch.arguments_size_bytes);
  if (params == nullptr) throw std::bad_alloc();
  if (launch.arguments_size_bytes != 0) {
    memcpy(params, launch.arguments, launch.arguments_size_bytes);
  }
  LaunchRun& run = command->run;
  simt::LaunchRecord& record = run.record;
  record.params = params;
  record.variables = function.variable_addresses();
  record.runtime = config().has_orders() ? &trial_table() : &runtime_table();
  for (int i = 0; i < 3; ++i) {
    record.grid[i] = launch.grid[i];
    record.block[i] = launch.block[i];
  }
  record.shared_dynamic_bytes = launch.shared_bytes;
  record.host = &run;
  run.param_bytes = launch.arguments_size_bytes;
  run.shared_bytes = shared_bytes_of(kernel, launch.shared_bytes);
  run.reserved_shared_bytes = kernel.reserves_shared ? simt::kReservedSharedBytes : 0;
  run.block_count = uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  run.cluster_blocks = 1;
  record.is_clustered = asks_for_clusters(kernel, launch) ? 1 : 0;
  if (record.is_clustered != 0) [[unlikely]] {
    KM_TRY(set_clusters(&run, function, launch));
  } else {
    record.cluster[0] = record.cluster[1] = record.cluster[2] = 1;
    record.cluster_bits = kLoneClusterBits;
  }
  record.cached_bytes = config().cache_bytes;
  record.workspace = 0;
  if (launch.is_cooperative != 0) {
    std::fill(std::begin(run.workspace), std::end(run.workspace), 0);
    record.workspace = reinterpret_cast<uint64_t>(&run.workspace[0]);
  }
  KM_ASSIGN(run.unit, function.code_for(record, run.cluster_blocks > 1));
  KM_ASSERT(run.unit != nullptr && run.block_count != 0, "a launch has no code, or no blocks");
  run.stop = context->stop_word();
  run.owner = context;
  run.output = &context->output();
  run.allocations = &context->allocations();
  run.heap = &context->device_heap();
  run.grid = nullptr;
  run.relief = context->pool();
  run.assertions = &context->failed_assertions();
  return {};
}

/// check_launch() inlined into its caller, so that valid launches pay for no call.
[[gnu::always_inline]] inline Status check(const Function& function, const kmb_launch& launch) {
  const simt::KernelInfo& kernel = function.kernel();
  KM_TRY(check_grid_limits(kernel.name, launch.grid, kMaxGridDim));
  KM_TRY(check_block(kernel, launch.block));
  if (!function.may_have_shared(launch.shared_bytes)) [[unlikely]]
    return too_much_shared(function, launch.shared_bytes);
  if (launch.arguments_size_bytes != kernel.param_bytes) [[unlikely]]
    return wrong_arguments_size(kernel.name, kernel.param_bytes, launch.arguments_size_bytes);
  return {};
}

}  // namespace

Status check_launch(const Function& function, const kmb_launch& launch) {
  return check(function, launch);
}

Status prepare_device_launch(Command* command, const Function& function, const kmb_launch& launch,
                             Context* context) {
  KM_TRY(check(function, launch));
  return fill_in(command, function, launch, context);
}

km_status function_prepare(kmb_function* handle, const uint32_t block[3], kmb_error* error) {
  return guarded(error, [&]() -> Status {
    const Function& function = *from(handle);
    KM_TRY(check_block(function.kernel(), block));
    return function.prepare(block);
  });
}

}  // namespace km::cpu
