// Command buffers, the queue and its semaphore.
#include <algorithm>
#include <cstring>

#include "backends/opengl/table/functions.h"

namespace km::opengl {
namespace {

using Kind = Command::Kind;

CommandBuffer& recorded(VkCommandBuffer commands) {
  return *reinterpret_cast<CommandBuffer*>(commands);
}

void destroy_device(VkDevice device, const VkAllocationCallbacks*) { destroyed<Device>(device); }
void get_queue(VkDevice device, uint32_t, uint32_t, VkQueue* queue) {
  *queue = reinterpret_cast<VkQueue>(device);
}
VkResult wait_idle(VkDevice device) {
  device_of(device).worker().run([](const GlFunctions& gl) { gl.Finish(); });
  return VK_SUCCESS;
}

VkResult create_semaphore(VkDevice, const VkSemaphoreCreateInfo*, const VkAllocationCallbacks*,
                          VkSemaphore* out) {
  *out = handle_of<VkSemaphore>(std::make_unique<Timeline>());
  return VK_SUCCESS;
}
void destroy_semaphore(VkDevice, VkSemaphore semaphore, const VkAllocationCallbacks*) {
  destroyed<Timeline>(semaphore);
}
VkResult wait_semaphores(VkDevice, const VkSemaphoreWaitInfo* info, uint64_t) {
  return object_of<Timeline>(info->pSemaphores[0])->wait(info->pValues[0]);
}

/// A VkCommandPool owns its buffers.
using CommandPool = std::vector<std::unique_ptr<CommandBuffer>>;

VkResult create_pool(VkDevice, const VkCommandPoolCreateInfo*, const VkAllocationCallbacks*,
                     VkCommandPool* out) {
  *out = handle_of<VkCommandPool>(std::make_unique<CommandPool>());
  return VK_SUCCESS;
}
void destroy_pool(VkDevice, VkCommandPool pool, const VkAllocationCallbacks*) {
  destroyed<CommandPool>(pool);
}
VkResult allocate_commands(VkDevice, const VkCommandBufferAllocateInfo* info,
                           VkCommandBuffer* out) {
  auto* const pool = object_of<CommandPool>(info->commandPool);
  for (uint32_t i = 0; i < info->commandBufferCount; ++i) {
    pool->push_back(std::make_unique<CommandBuffer>());
    out[i] = reinterpret_cast<VkCommandBuffer>(pool->back().get());
  }
  return VK_SUCCESS;
}
VkResult begin_commands(VkCommandBuffer commands, const VkCommandBufferBeginInfo*) {
  recorded(commands).commands.clear();
  return VK_SUCCESS;
}
VkResult end_commands(VkCommandBuffer) { return VK_SUCCESS; }

/// The queue is the device. The commands run on its thread, which signals when they are over.
VkResult submit(VkQueue queue, uint32_t, const VkSubmitInfo* info, VkFence) {
  Device& device = *reinterpret_cast<Device*>(queue);
  const auto* const timeline = static_cast<const VkTimelineSemaphoreSubmitInfo*>(info->pNext);
  const uint64_t value = timeline->pSignalSemaphoreValues[0];
  auto* const semaphore = object_of<Timeline>(info->pSignalSemaphores[0]);
  const CommandBuffer* const commands = &recorded(info->pCommandBuffers[0]);
  device.worker().post([&device, commands, semaphore, value](const GlFunctions& gl) {
    semaphore->signal(value, device.execute(gl, *commands));
  });
  return VK_SUCCESS;
}

VkResult create_queries(VkDevice, const VkQueryPoolCreateInfo* info, const VkAllocationCallbacks*,
                        VkQueryPool* out) {
  auto queries = std::make_unique<Queries>();
  queries->times_ns.resize(info->queryCount);
  *out = handle_of<VkQueryPool>(std::move(queries));
  return VK_SUCCESS;
}
void destroy_queries(VkDevice, VkQueryPool queries, const VkAllocationCallbacks*) {
  destroyed<Queries>(queries);
}
VkResult get_results(VkDevice, VkQueryPool queries, uint32_t first, uint32_t count, size_t,
                     void* out, VkDeviceSize, VkQueryResultFlags) {
  std::copy_n(object_of<Queries>(queries)->times_ns.begin() + first, count,
              static_cast<uint64_t*>(out));
  return VK_SUCCESS;
}

void record(VkCommandBuffer commands, const Command& command) {
  recorded(commands).commands.push_back(command);
}

void add_barrier(VkCommandBuffer commands, VkPipelineStageFlags, VkPipelineStageFlags,
                 VkDependencyFlags, uint32_t, const VkMemoryBarrier*, uint32_t,
                 const VkBufferMemoryBarrier*, uint32_t, const VkImageMemoryBarrier*) {
  record(commands, {.kind = Kind::barrier});
}
void add_copy(VkCommandBuffer commands, VkBuffer source, VkBuffer destination, uint32_t count,
              const VkBufferCopy* regions) {
  const uint64_t from_bytes = object_of<Buffer>(source)->offset_bytes;
  const uint64_t to_bytes = object_of<Buffer>(destination)->offset_bytes;
  for (uint32_t i = 0; i < count; ++i) {
    record(commands, {.kind = Kind::copy,
                      .to = to_bytes + regions[i].dstOffset,
                      .from = from_bytes + regions[i].srcOffset,
                      .size_bytes = regions[i].size});
  }
}
void add_fill(VkCommandBuffer commands, VkBuffer buffer, VkDeviceSize offset, VkDeviceSize size,
              uint32_t word) {
  record(commands, {.kind = Kind::fill,
                    .to = object_of<Buffer>(buffer)->offset_bytes + offset,
                    .size_bytes = size,
                    .word = word});
}
void bind_pipeline(VkCommandBuffer commands, VkPipelineBindPoint, VkPipeline pipeline) {
  recorded(commands).bound = object_of<Pipeline>(pipeline);
}
void add_constants(VkCommandBuffer commands, VkPipelineLayout, VkShaderStageFlags, uint32_t,
                   uint32_t size, const void* values) {
  Command command{.kind = Kind::push};
  std::memcpy(&command.constants, values, std::min<size_t>(size, sizeof command.constants));
  record(commands, command);
}
void add_dispatch(VkCommandBuffer commands, uint32_t x, uint32_t y, uint32_t z) {
  record(commands,
         {.kind = Kind::dispatch, .count = {x, y, z}, .pipeline = recorded(commands).bound});
}
void reset_queries(VkCommandBuffer, VkQueryPool, uint32_t, uint32_t) {}
void add_time(VkCommandBuffer commands, VkPipelineStageFlagBits, VkQueryPool queries,
              uint32_t query) {
  record(commands, {.kind = Kind::time, .word = query, .queries = object_of<Queries>(queries)});
}

const NamedFunction kCommandFunctions[] = {
    {"vkDestroyDevice", any_function(destroy_device)},
    {"vkGetDeviceQueue", any_function(get_queue)},
    {"vkDeviceWaitIdle", any_function(wait_idle)},
    {"vkCreateSemaphore", any_function(create_semaphore)},
    {"vkDestroySemaphore", any_function(destroy_semaphore)},
    {"vkWaitSemaphores", any_function(wait_semaphores)},
    {"vkCreateCommandPool", any_function(create_pool)},
    {"vkDestroyCommandPool", any_function(destroy_pool)},
    {"vkAllocateCommandBuffers", any_function(allocate_commands)},
    {"vkBeginCommandBuffer", any_function(begin_commands)},
    {"vkEndCommandBuffer", any_function(end_commands)},
    {"vkQueueSubmit", any_function(submit)},
    {"vkCreateQueryPool", any_function(create_queries)},
    {"vkDestroyQueryPool", any_function(destroy_queries)},
    {"vkGetQueryPoolResults", any_function(get_results)},
    {"vkCmdPipelineBarrier", any_function(add_barrier)},
    {"vkCmdCopyBuffer", any_function(add_copy)},
    {"vkCmdFillBuffer", any_function(add_fill)},
    {"vkCmdBindPipeline", any_function(bind_pipeline)},
    {"vkCmdPushConstants", any_function(add_constants)},
    {"vkCmdDispatch", any_function(add_dispatch)},
    {"vkCmdResetQueryPool", any_function(reset_queries)},
    {"vkCmdWriteTimestamp", any_function(add_time)},
};

}  // namespace

PFN_vkVoidFunction find_command_function(const char* name) {
  for (const NamedFunction& one : kCommandFunctions) {
    if (std::strcmp(name, one.name) == 0) return one.function;
  }
  return nullptr;
}

}  // namespace km::opengl
