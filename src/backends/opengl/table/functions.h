// The functions of Vulkan that the backend `vulkan` uses, on OpenGL. They are found by their names.
#pragma once

#include <vector>

#include "backends/opengl/device/objects.h"

namespace km::opengl {

/// The renderers of the process, which are found when the interface is opened.
std::vector<Renderer>& renderers();

/// vkGetInstanceProcAddr of this driver.
PFN_vkVoidFunction find_function(VkInstance instance, const char* name);

VkResult enumerate_version(uint32_t* version);
VkResult enumerate_layers(uint32_t* count, VkLayerProperties* layers);
VkResult enumerate_instance_extensions(const char* layer, uint32_t* count,
                                       VkExtensionProperties* extensions);
VkResult create_instance(const VkInstanceCreateInfo* info, const VkAllocationCallbacks* allocator,
                         VkInstance* instance);
VkResult enumerate_devices(VkInstance instance, uint32_t* count, VkPhysicalDevice* devices);
void get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties2* out);
void get_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures2* out);
void get_memory(VkPhysicalDevice device, VkPhysicalDeviceMemoryProperties2* out);
void get_queue_families(VkPhysicalDevice device, uint32_t* count,
                        VkQueueFamilyProperties* families);
VkResult enumerate_device_extensions(VkPhysicalDevice device, const char* layer, uint32_t* count,
                                     VkExtensionProperties* extensions);
VkResult create_device(VkPhysicalDevice device, const VkDeviceCreateInfo* info,
                       const VkAllocationCallbacks* allocator, VkDevice* out);

/// The functions of commands and of pipelines, by name; null for others.
PFN_vkVoidFunction find_command_function(const char* name);
PFN_vkVoidFunction find_pipeline_function(const char* name);
PFN_vkVoidFunction find_memory_function(const char* name);

/// A row of a list of functions.
struct NamedFunction {
  const char* name;
  PFN_vkVoidFunction function;
};
template <class Function>
PFN_vkVoidFunction any_function(Function function) {
  return reinterpret_cast<PFN_vkVoidFunction>(function);
}

inline Device& device_of(VkDevice device) { return *reinterpret_cast<Device*>(device); }
/// Handles of objects are their addresses.
template <class Object, class Handle>
Object* object_of(Handle handle) {
  return reinterpret_cast<Object*>(handle);
}

/// A new object, whose handle owns it until destroyed() ends it.
template <class Handle, class Object>
Handle handle_of(std::unique_ptr<Object> object) {
  return reinterpret_cast<Handle>(object.release());
}
/// Ends an object with its handle, which may be null.
template <class Object, class Handle>
void destroyed(Handle handle) {
  const std::unique_ptr<Object> last(object_of<Object>(handle));
}

}  // namespace km::opengl
