#include "backends/vulkan/module/launch.h"

#include <algorithm>
#include <atomic>
#include <cinttypes>
#include <cstring>

#include "backend/launch_limits.h"
#include "backends/vulkan/device/device_attributes.h"
#include "backends/vulkan/module/grid_parts.h"
#include "backends/vulkan/module/launch_fault.h"
#include "backends/vulkan/module/print_buffer.h"

namespace km::vulkan {
namespace {

// The places of what a launch reads in its buffer.
constexpr uint64_t kFaultOffset = 128, kParamsOffset = 256;
static_assert(sizeof(spirv::LaunchRecord) <= kFaultOffset);
static_assert(kFaultOffset + sizeof(spirv::FaultRecord) <= kParamsOffset);
// Drivers of desktops end what runs for seconds: one submission has so many threads at most.
constexpr uint64_t kMostThreadsOnce = uint64_t{1} << 26;

/// A launch with what the device reads and writes for it.
struct Launch {
  explicit Launch(Function& kernel) : function(kernel) {}

  Function& function;
  std::array<uint32_t, 3> block{};
  VkPipeline pipeline = VK_NULL_HANDLE;
  std::shared_ptr<Buffer> buffer;        // LaunchRecord, FaultRecord, parameters
  std::shared_ptr<PrintedText> printed;  // null: the kernel prints nothing
  AllocationList allocations;

  spirv::LaunchRecord* record() const {
    return static_cast<spirv::LaunchRecord*>(buffer->mapped());
  }
  spirv::FaultRecord* fault() const {
    return reinterpret_cast<spirv::FaultRecord*>(static_cast<uint8_t*>(buffer->mapped()) +
                                                 kFaultOffset);
  }
};

Status check_shared(const Function& function, uint64_t shared_bytes) {
  const uint64_t most = function.module().epoch()->adapter().limits().maxComputeSharedMemorySize;
  const spirv::Kernel& kernel = function.kernel();
  const uint64_t fixed = kernel.info.shared_static_bytes + kernel.shared_extra_bytes;
  if (fixed > most) {
    return make_error(KM_ERROR_INVALID_LAUNCH,
                      "kernel '%s' has %" PRIu64
                      " bytes of static shared memory; a block has at most %" PRIu64,
                      function.source_name().c_str(), fixed, most);
  }
  if (shared_bytes <= function.max_dynamic_shared_bytes()) return {};
  return make_error(KM_ERROR_INVALID_LAUNCH,
                    "kernel '%s': %" PRIu64 " bytes of dynamic shared memory, at most %" PRIu64
                    " allowed beside its static ones, %" PRIu64 "; the device has %" PRIu64
                    " in all",
                    function.source_name().c_str(), shared_bytes,
                    function.max_dynamic_shared_bytes(), fixed, most);
}

Status check_block(const Function& function, const uint32_t block[3]) {
  const Adapter& adapter = function.module().epoch()->adapter();
  const uint32_t most[3] = {max_block_dim(adapter, 0), max_block_dim(adapter, 1),
                            max_block_dim(adapter, 2)};
  const simt::KernelInfo& info = function.info();
  return check_block_limits(
      info.name, block,
      {most, adapter.max_threads_per_block(), info.max_threads, info.required_block});
}

Result<std::shared_ptr<Launch>> prepare(Stream& stream, Function& function,
                                        const kmb_launch& launch) {
  static std::atomic<uint64_t> grids{0};
  const Workspace& workspace = stream.workspace();
  auto made = std::make_shared<Launch>(function);
  std::copy_n(launch.block, 3, made->block.begin());
  KM_ASSIGN(made->pipeline, function.pipeline(launch.block, launch.shared_bytes));
  KM_ASSIGN(made->buffer, workspace.staging->take(kParamsOffset + launch.arguments_size_bytes));
  const uint64_t address = made->buffer->address();
  spirv::LaunchRecord record;
  record.params = address + kParamsOffset;
  record.variables = function.module().variables_address();
  record.fault = address + kFaultOffset;
  std::copy_n(launch.grid, 3, record.grid.begin());
  record.shared_dynamic_bytes = static_cast<uint32_t>(launch.shared_bytes);
  record.grid_id = ++grids;
  if (function.kernel().uses_printf) {
    KM_ASSIGN(made->printed, PrintedText::make(workspace));
    record.print = made->printed->address();
    record.print_bytes = made->printed->capacity_bytes();
  }
  auto* const bytes = static_cast<uint8_t*>(made->buffer->mapped());
  *made->record() = record;
  *made->fault() = {};
  if (launch.arguments_size_bytes != 0) {
    std::memcpy(bytes + kParamsOffset, launch.arguments, launch.arguments_size_bytes);
  }
  return made;
}

void dispatch(Commands& commands, const Launch& launch, const GridPart& part) {
  spirv::PushConstants constants;
  constants.record = launch.buffer->address();
  constants.base_block = part.base;
  const DeviceFunctions& vk = commands.vk();
  vk.vkCmdPushConstants(commands.handle(), launch.function.layout(), VK_SHADER_STAGE_COMPUTE_BIT, 0,
                        sizeof constants, &constants);
  vk.vkCmdDispatch(commands.handle(), part.count[0], part.count[1], part.count[2]);
}

Status record_parts(Commands& commands, const Workspace& workspace, Launch& launch,
                    std::span<const GridPart> parts) {
  if (launch.function.module().options().checked && !launch.allocations.buffer) {
    KM_ASSIGN(launch.allocations,
              workspace.allocations->current(*workspace.epoch, *workspace.staging));
    launch.record()->allocations = launch.allocations.buffer->address();
    launch.record()->allocation_count = launch.allocations.count;
  }
  commands.vk().vkCmdBindPipeline(commands.handle(), VK_PIPELINE_BIND_POINT_COMPUTE,
                                  launch.pipeline);
  for (const GridPart& part : parts) dispatch(commands, launch, part);
  return {};
}

/// Looks at what the kernel has left: text to print, and its fault.
Status finish(const Workspace& workspace, const Launch& launch) {
  if (launch.printed) launch.printed->hand_out(workspace);
  const spirv::FaultRecord fault = *launch.fault();
  if (fault.kind == 0) return {};
  return describe_fault(launch.function, fault);
}

Step step_of(Stream& stream, const std::shared_ptr<Launch>& launch, std::vector<GridPart> parts) {
  Step step;
  step.is_quick = true;
  const Workspace* const workspace = &stream.workspace();
  step.record = [workspace, launch, parts = std::move(parts)](Commands& commands) {
    return record_parts(commands, *workspace, *launch, parts);
  };
  step.finish = [workspace, launch] { return finish(*workspace, *launch); };
  return step;
}

}  // namespace

Status check_launch(const Function& function, const kmb_launch& launch) {
  const simt::KernelInfo& info = function.info();
  if (!info.refusal.empty()) {
    return make_error(KM_ERROR_UNSUPPORTED_PTX, "%s", info.refusal.c_str());
  }
  KM_TRY(check_grid_limits(info.name, launch.grid, kMaxGridDim));
  KM_TRY(check_block(function, launch.block));
  KM_TRY(check_shared(function, launch.shared_bytes));
  if (launch.arguments_size_bytes != info.param_bytes) {
    return wrong_arguments_size(info.name, info.param_bytes, launch.arguments_size_bytes);
  }
  const bool is_clustered = launch.cluster[0] * launch.cluster[1] * launch.cluster[2] > 1;
  if (!is_clustered && launch.is_cooperative == 0) return {};
  return make_error(KM_ERROR_NOT_SUPPORTED,
                    "kernel '%s': Vulkan devices promise no progress of blocks that wait for each "
                    "other, so they have no %s launches",
                    function.source_name().c_str(), is_clustered ? "cluster" : "cooperative");
}

Result<std::vector<Step>> launch_steps(Stream& stream, Function& function,
                                       const kmb_launch& launch) {
  KM_TRY(check_launch(function, launch));
  KM_ASSIGN(const std::shared_ptr<Launch> prepared, prepare(stream, function, launch));
  const VkPhysicalDeviceLimits& limits = stream.epoch().adapter().limits();
  const uint32_t* const most = limits.maxComputeWorkGroupCount;
  const uint64_t threads = uint64_t{launch.block[0]} * launch.block[1] * launch.block[2];
  const uint64_t most_blocks = std::max<uint64_t>(kMostThreadsOnce / threads, 1);
  const std::vector<GridPart> parts = cut_grid({launch.grid[0], launch.grid[1], launch.grid[2]},
                                               {most[0], most[1], most[2]}, most_blocks);
  std::vector<Step> steps;
  std::vector<GridPart> some;
  uint64_t blocks = 0;
  for (const GridPart& part : parts) {
    if (!some.empty() && blocks + part.blocks() > most_blocks) {
      steps.push_back(step_of(stream, prepared, std::exchange(some, {})));
      blocks = 0;
    }
    some.push_back(part);
    blocks += part.blocks();
  }
  steps.push_back(step_of(stream, prepared, std::move(some)));
  return steps;
}

km_status launch(kmb_stream* stream, kmb_function* function, const kmb_launch* launch,
                 uint64_t* out_ticket, kmb_error* error) {
  return enqueue(stream, out_ticket, error,
                 [&](Stream& target) { return launch_steps(target, *from(function), *launch); });
}

km_status function_prepare(kmb_function* handle, const uint32_t block[3], kmb_error* error) {
  return guarded(error, [&]() -> Status {
    KM_TRY(check_block(*from(handle), block));
    KM_ASSIGN([[maybe_unused]] const VkPipeline made, from(handle)->pipeline(block, 0));
    return {};
  });
}

}  // namespace km::vulkan
