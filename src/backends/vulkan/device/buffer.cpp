#include "backends/vulkan/device/buffer.h"

#include <bit>
#include <cinttypes>
#include <optional>

#include "backends/vulkan/driver/result.h"
#include "base/integers.h"

namespace km::vulkan {
namespace {

constexpr VkExternalMemoryHandleTypeFlagBits kPages =
    VK_EXTERNAL_MEMORY_HANDLE_TYPE_HOST_ALLOCATION_BIT_EXT;

double mib(uint64_t bytes) { return static_cast<double>(bytes) / (1 << 20); }

/// The type of memory among `allowed` that has all `needed` properties and the most liked ones.
std::optional<uint32_t> choose_type(const Adapter& adapter, uint32_t allowed,
                                    VkMemoryPropertyFlags needed, VkMemoryPropertyFlags liked) {
  const VkPhysicalDeviceMemoryProperties& memory = adapter.memory();
  std::optional<uint32_t> best;
  int best_count = -1;
  for (uint32_t i = 0; i < memory.memoryTypeCount; ++i) {
    const VkMemoryPropertyFlags flags = memory.memoryTypes[i].propertyFlags;
    if ((allowed >> i & 1) == 0 || (flags & needed) != needed) continue;
    const int count = std::popcount(flags & liked);
    if (count > best_count) {
      best = i;
      best_count = count;
    }
  }
  return best;
}

Error out_of_memory(const Epoch& epoch, uint64_t size_bytes, const std::string& why) {
  const Adapter& adapter = epoch.adapter();
  return make_error(KM_ERROR_OUT_OF_DEVICE_MEMORY,
                    "out of device memory: %" PRIu64
                    " bytes (%.1f MiB) asked for, %.1f MiB of %.1f MiB of %s free (%s)",
                    size_bytes, mib(size_bytes),
                    mib(adapter.memory_bytes() - adapter.taken_bytes()),
                    mib(adapter.memory_bytes()), device_uri(adapter).c_str(), why.c_str());
}

}  // namespace

Result<std::unique_ptr<Buffer>> Buffer::of_device(const std::shared_ptr<Epoch>& epoch,
                                                  uint64_t size_bytes) {
  std::unique_ptr<Buffer> made(new Buffer(epoch, size_bytes));
  constexpr VkMemoryPropertyFlags kMapped =
      VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT;
  if (epoch->adapter().shares_host_memory()) {
    KM_TRY(made->allocate(
        kMapped, VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT | VK_MEMORY_PROPERTY_HOST_CACHED_BIT));
  } else {
    KM_TRY(made->allocate(VK_MEMORY_PROPERTY_DEVICE_LOCAL_BIT, 0));
  }
  return made;
}

Result<std::unique_ptr<Buffer>> Buffer::of_host(const std::shared_ptr<Epoch>& epoch,
                                                uint64_t size_bytes) {
  std::unique_ptr<Buffer> made(new Buffer(epoch, size_bytes));
  KM_TRY(made->allocate(VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT,
                        VK_MEMORY_PROPERTY_HOST_CACHED_BIT));
  return made;
}

Result<std::unique_ptr<Buffer>> Buffer::of_pages(const std::shared_ptr<Epoch>& epoch, void* pointer,
                                                 uint64_t size_bytes) {
  if (!epoch->adapter().can_import_host_memory()) {
    return make_error(KM_ERROR_NOT_SUPPORTED,
                      "%s cannot use memory of the program: its driver lacks "
                      "VK_EXT_external_memory_host; copy it to a slice",
                      device_uri(epoch->adapter()).c_str());
  }
  std::unique_ptr<Buffer> made(new Buffer(epoch, size_bytes));
  KM_TRY(made->import(pointer));
  return made;
}

Buffer::~Buffer() {
  const DeviceFunctions& vk = epoch_->vk();
  if (address_ != 0) {
    epoch_->adapter().give_bytes_back(allocated_bytes_);
  }
  vk.vkDestroyBuffer(epoch_->device(), buffer_, nullptr);
  vk.vkFreeMemory(epoch_->device(), memory_, nullptr);
}

Status Buffer::create_buffer(uint64_t size_bytes, bool is_imported,
                             VkMemoryRequirements* out_needs) {
  const VkExternalMemoryBufferCreateInfo external{
      .sType = VK_STRUCTURE_TYPE_EXTERNAL_MEMORY_BUFFER_CREATE_INFO,
      .pNext = nullptr,
      .handleTypes = kPages};
  const VkBufferCreateInfo info{
      .sType = VK_STRUCTURE_TYPE_BUFFER_CREATE_INFO,
      .pNext = is_imported ? &external : nullptr,
      .flags = 0,
      .size = size_bytes,
      .usage = VK_BUFFER_USAGE_TRANSFER_SRC_BIT | VK_BUFFER_USAGE_TRANSFER_DST_BIT |
               VK_BUFFER_USAGE_STORAGE_BUFFER_BIT | VK_BUFFER_USAGE_SHADER_DEVICE_ADDRESS_BIT,
      .sharingMode = VK_SHARING_MODE_EXCLUSIVE,
      .queueFamilyIndexCount = 0,
      .pQueueFamilyIndices = nullptr};
  const DeviceFunctions& vk = epoch_->vk();
  KM_TRY(epoch_->check(vk.vkCreateBuffer(epoch_->device(), &info, nullptr, &buffer_),
                       "vkCreateBuffer"));
  vk.vkGetBufferMemoryRequirements(epoch_->device(), buffer_, out_needs);
  return {};
}

Status Buffer::bind(const VkMemoryAllocateInfo& info) {
  const DeviceFunctions& vk = epoch_->vk();
  const VkDevice device = epoch_->device();
  KM_TRY(epoch_->check(vk.vkAllocateMemory(device, &info, nullptr, &memory_), "vkAllocateMemory"));
  KM_TRY(epoch_->check(vk.vkBindBufferMemory(device, buffer_, memory_, 0), "vkBindBufferMemory"));
  const VkBufferDeviceAddressInfo asked{
      .sType = VK_STRUCTURE_TYPE_BUFFER_DEVICE_ADDRESS_INFO, .pNext = nullptr, .buffer = buffer_};
  address_ = vk.vkGetBufferDeviceAddress(device, &asked) + skipped_bytes_;
  return {};
}

Status Buffer::allocate(VkMemoryPropertyFlags needed, VkMemoryPropertyFlags liked) {
  const Adapter& adapter = epoch_->adapter();
  // Vulkan forbids to ask for more than a heap has; the driver does not refuse it.
  const uint64_t most = adapter.largest_allocation_bytes();
  if (size_bytes_ > most) {
    return out_of_memory(*epoch_, size_bytes_,
                         "one allocation has " + std::to_string(most >> 20) + " MiB at most");
  }
  VkMemoryRequirements needs{};
  KM_TRY(create_buffer(round_up(size_bytes_, 4), false, &needs));
  const std::optional<uint32_t> type = choose_type(adapter, needs.memoryTypeBits, needed, liked);
  if (!type) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "%s has no memory with the properties %#x",
                      device_uri(adapter).c_str(), needed);
  }
  if (!adapter.take_bytes(needs.size)) return out_of_memory(*epoch_, size_bytes_, "all is taken");
  allocated_bytes_ = needs.size;
  const VkMemoryAllocateFlagsInfo flags{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                        .pNext = nullptr,
                                        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
                                        .deviceMask = 0};
  const Status bound = bind({.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
                             .pNext = &flags,
                             .allocationSize = needs.size,
                             .memoryTypeIndex = *type});
  if (!bound) {
    adapter.give_bytes_back(allocated_bytes_);
    const bool is_short = bound.error().status == KM_ERROR_OUT_OF_DEVICE_MEMORY ||
                          bound.error().status == KM_ERROR_OUT_OF_HOST_MEMORY;
    return is_short ? out_of_memory(*epoch_, size_bytes_, bound.error().message) : bound.error();
  }
  if ((needed & VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT) == 0) return {};
  return epoch_->check(
      epoch_->vk().vkMapMemory(epoch_->device(), memory_, 0, VK_WHOLE_SIZE, 0, &mapped_),
      "vkMapMemory");
}

Status Buffer::import(void* pointer) {
  const uint64_t unit = epoch_->adapter().host_memory_alignment();
  const uint64_t begin = reinterpret_cast<uint64_t>(pointer) / unit * unit;
  skipped_bytes_ = reinterpret_cast<uint64_t>(pointer) - begin;
  const uint64_t size = round_up(skipped_bytes_ + size_bytes_, unit);
  mapped_ = pointer;
  const DeviceFunctions& vk = epoch_->vk();
  VkMemoryHostPointerPropertiesEXT about{VK_STRUCTURE_TYPE_MEMORY_HOST_POINTER_PROPERTIES_EXT,
                                         nullptr, 0};
  void* const first = reinterpret_cast<void*>(begin);
  KM_TRY(
      epoch_->check(vk.vkGetMemoryHostPointerPropertiesEXT(epoch_->device(), kPages, first, &about),
                    "vkGetMemoryHostPointerPropertiesEXT"));
  VkMemoryRequirements needs{};
  KM_TRY(create_buffer(size, true, &needs));
  const std::optional<uint32_t> type =
      choose_type(epoch_->adapter(), needs.memoryTypeBits & about.memoryTypeBits,
                  VK_MEMORY_PROPERTY_HOST_VISIBLE_BIT | VK_MEMORY_PROPERTY_HOST_COHERENT_BIT, 0);
  if (!type || needs.size > size) {
    return make_error(KM_ERROR_NOT_SUPPORTED, "%s cannot use the memory at %p; copy it to a slice",
                      device_uri(epoch_->adapter()).c_str(), pointer);
  }
  const VkImportMemoryHostPointerInfoEXT imported{
      .sType = VK_STRUCTURE_TYPE_IMPORT_MEMORY_HOST_POINTER_INFO_EXT,
      .pNext = nullptr,
      .handleType = kPages,
      .pHostPointer = first};
  const VkMemoryAllocateFlagsInfo flags{.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_FLAGS_INFO,
                                        .pNext = &imported,
                                        .flags = VK_MEMORY_ALLOCATE_DEVICE_ADDRESS_BIT,
                                        .deviceMask = 0};
  return bind({.sType = VK_STRUCTURE_TYPE_MEMORY_ALLOCATE_INFO,
               .pNext = &flags,
               .allocationSize = size,
               .memoryTypeIndex = *type});
}

}  // namespace km::vulkan
