// Memory and buffers: parts of the arena.
#include <cstring>
#include <iterator>

#include "backends/opengl/table/functions.h"

namespace km::opengl {
namespace {

VkResult create_buffer(VkDevice, const VkBufferCreateInfo* info, const VkAllocationCallbacks*,
                       VkBuffer* out) {
  auto buffer = std::make_unique<Buffer>();
  buffer->size_bytes = info->size;
  *out = handle_of<VkBuffer>(std::move(buffer));
  return VK_SUCCESS;
}

void destroy_buffer(VkDevice, VkBuffer buffer, const VkAllocationCallbacks*) {
  destroyed<Buffer>(buffer);
}

void get_buffer_needs(VkDevice, VkBuffer buffer, VkMemoryRequirements* out) {
  *out = {.size = object_of<Buffer>(buffer)->size_bytes, .alignment = 256, .memoryTypeBits = 1};
}

VkDeviceAddress get_address(VkDevice, const VkBufferDeviceAddressInfo* info) {
  return spirv::kArenaBegin + object_of<Buffer>(info->buffer)->offset_bytes;
}

VkResult allocate_memory(VkDevice device, const VkMemoryAllocateInfo* info,
                         const VkAllocationCallbacks*, VkDeviceMemory* out) {
  const std::optional<uint64_t> offset = device_of(device).ranges().take(info->allocationSize);
  if (!offset) return VK_ERROR_OUT_OF_DEVICE_MEMORY;
  auto memory = std::make_unique<Memory>();
  memory->offset_bytes = *offset;
  *out = handle_of<VkDeviceMemory>(std::move(memory));
  return VK_SUCCESS;
}

void free_memory(VkDevice device, VkDeviceMemory handle, const VkAllocationCallbacks*) {
  const std::unique_ptr<Memory> memory(object_of<Memory>(handle));
  if (memory) device_of(device).ranges().give_back(memory->offset_bytes);
}

VkResult map_memory(VkDevice device, VkDeviceMemory memory, VkDeviceSize offset, VkDeviceSize,
                    VkMemoryMapFlags, void** out) {
  *out = device_of(device).mapped() + object_of<Memory>(memory)->offset_bytes + offset;
  return VK_SUCCESS;
}

VkResult bind_memory(VkDevice, VkBuffer buffer, VkDeviceMemory memory, VkDeviceSize offset) {
  object_of<Buffer>(buffer)->offset_bytes = object_of<Memory>(memory)->offset_bytes + offset;
  return VK_SUCCESS;
}

const NamedFunction kMemoryFunctions[] = {
    {"vkCreateBuffer", any_function(create_buffer)},
    {"vkDestroyBuffer", any_function(destroy_buffer)},
    {"vkGetBufferMemoryRequirements", any_function(get_buffer_needs)},
    {"vkGetBufferDeviceAddress", any_function(get_address)},
    {"vkAllocateMemory", any_function(allocate_memory)},
    {"vkFreeMemory", any_function(free_memory)},
    {"vkMapMemory", any_function(map_memory)},
    {"vkBindBufferMemory", any_function(bind_memory)},
};

}  // namespace

PFN_vkVoidFunction find_memory_function(const char* name) {
  for (const NamedFunction& one : kMemoryFunctions) {
    if (std::strcmp(name, one.name) == 0) return one.function;
  }
  return nullptr;
}

}  // namespace km::opengl
